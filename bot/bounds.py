"""How much a person may use models within 24 hours, where the host sets bounds.

In: the bounds of the settings, a person, and the library's record of their questions. Out: their spending; while its
`until` is set, questions are answered without a model. SQL (`quota.sql`) enforces how large a base may grow.
"""

from collections.abc import Set
from dataclasses import dataclass

from bot.ports import Library
from bot.settings import Settings
from domain.ids import UserId
from domain.statistics import Spending


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The bounds of one person and of one base; 0: no bound."""

    questions: int = 0  # in 24 hours; only questions that called a model count
    cost: float = 0.0  # US dollars in 24 hours
    passages: int = 0  # of a base
    exempt: Set[int] = frozenset()  # ADMIN_USERS

    @property
    def of_people(self) -> bool:
        """Whether anybody's questions are bounded."""
        return bool(self.questions or self.cost)

    async def spending(self, person: UserId, library: Library) -> Spending | None:
        """The person's spending; None, without a database call, for a person without bounds. Raises DatabaseAway."""
        if not self.of_people or person in self.exempt:
            return None
        return await library.spent_in_a_day(person, questions=self.questions or None, cost=self.cost or None)


def bounds_of(settings: Settings) -> Bounds:
    """The bounds that the host has set."""
    bounds = settings.bounds
    return Bounds(
        questions=bounds.person_questions,
        cost=bounds.person_cost,
        passages=bounds.base_passages,
        exempt=settings.telegram.admin_users,
    )
