"""Statistics of a base, and of all bases.

In: a base, or nothing. Out: records of `domain.statistics`. The bot decides who may see those of all bases.
"""

from collections.abc import Collection
from datetime import datetime

from adapters.database import rows
from domain.ids import BaseId, DocumentId
from domain.statistics import BaseStatistics, OverallStatistics, QueueState


class StatisticsStore(rows.Store):
    """Figures for people, and what reading costs."""

    async def save_reading_cost(self, base: BaseId, document: DocumentId, cost: float) -> None:
        """What models have cost for reading the document, in US dollars."""
        await self._call("save_reading_cost", base=base, document=document, cost=cost)

    async def sender_spent_until(
        self,
        base: BaseId,
        document: DocumentId,
        *,
        cost: float | None,
        token_cost: float | None = None,
        exempt: Collection[int],
    ) -> datetime | None:
        """Until when reading the document may cost nothing more, as its sender, or the token that sent it, has spent so
        much (None: no bound); None: it may."""
        return await self._first(
            datetime,
            "sender_spent_until",
            "until",
            base=base,
            document=document,
            cost=cost,
            token_cost=token_cost,
            exempt=exempt,
        )

    async def of_base(self, base: BaseId, *, days: int, offset_minutes: int = 0) -> BaseStatistics:
        """The last `days` days, today included, by a clock that is so many minutes ahead of UTC."""
        return await self._one(BaseStatistics, "base_statistics", base=base, days=days, offset_minutes=offset_minutes)

    async def queue(self) -> QueueState:
        """Of all bases."""
        return await self._one(QueueState, "queue_state")

    async def of_all(self, *, days: int, offset_minutes: int = 0) -> OverallStatistics:
        """The same of everybody."""
        return await self._one(OverallStatistics, "overall_statistics", days=days, offset_minutes=offset_minutes)
