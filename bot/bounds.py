"""What somebody may ask of models in a day, where whoever hosts the bot bounds it.

In: the settings' bounds, a person, and what the library knows of their questions. Out: their spending; its `until` says
whether a question is answered without a model. How full a base may be is decided in SQL (`000307_room`).
"""

from collections.abc import Set
from dataclasses import dataclass

from bot.ports import Library
from domain.ids import UserId
from domain.statistics import Spending


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Of one person, and of one base; 0 bounds nothing."""

    questions: int = 0  # in 24 hours, of those that a model is called for
    cost: float = 0.0  # US dollars in 24 hours
    passages: int = 0  # of a base
    exempt: Set[int] = frozenset()  # ADMIN_USERS: these are not bounded

    @property
    def of_people(self) -> bool:
        """Whether anybody's questions are bounded."""
        return bool(self.questions or self.cost)

    async def spending(self, person: UserId, library: Library) -> Spending | None:
        """None, and no call, for whom nothing bounds. Raises DatabaseAway."""
        if not self.of_people or person in self.exempt:
            return None
        return await library.spent_in_a_day(person, questions=self.questions or None, cost=self.cost or None)
