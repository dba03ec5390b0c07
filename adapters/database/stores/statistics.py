"""Statistics of a base, and of all bases.

In: a base, or nothing. Out: records of `domain.statistics`. The bot decides who may see those of all bases.
"""

from collections.abc import Collection
from datetime import datetime

from adapters.database import rows
from adapters.database.transport import Row
from domain.ids import BaseId, DocumentId
from domain.statistics import (
    ActionFigures,
    BaseStatistics,
    DayFigures,
    OverallStatistics,
    QueueState,
    StepFigures,
    TurnFigures,
    TurnsOfDay,
)

FAILURES_SHOWN = 10


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
        return await self._value(
            datetime,
            "sender_spent_until",
            "until",
            base=base,
            document=document,
            cost=cost,
            token_cost=token_cost,
            exempt=sorted(exempt),
        )

    async def of_base(self, base: BaseId, *, days: int, offset_minutes: int = 0) -> BaseStatistics:
        """The last `days` days, today included, by a clock that is so many minutes ahead of UTC; at most 190 days."""
        (held,) = await self._call("base_statistics", base=base, days=days)
        # Five kinds a day: below PostgREST's 1000 rows.
        by_day = await self._records(TurnsOfDay, "turns_by_day", base=base, days=days, offset_minutes=offset_minutes)
        return rows.record(BaseStatistics, held, figures=_figures(held), days=by_day)

    async def queue(self) -> QueueState:
        """Of all bases."""
        return (await self._records(QueueState, "queue_state"))[0]

    async def of_all(self, *, days: int, offset_minutes: int = 0) -> OverallStatistics:
        """Everybody, the last `days` days, by a clock that is so many minutes ahead of UTC; at most 900 days."""
        (held,) = await self._call("overall_statistics", days=days)
        statuses = await self._call("documents_by_status")
        failures = await self._call("failures_by_code", days=days, limit=FAILURES_SHOWN)
        return rows.record(
            OverallStatistics,
            held,
            figures=_figures(held),
            actions=await self._records(ActionFigures, "steps_by_action", days=days),
            days=await self._records(DayFigures, "overall_by_day", days=days, offset_minutes=offset_minutes),
            documents={str(row["status"]): row["documents"] for row in statuses},
            failures={str(row["code"]): row["documents"] for row in failures},
            queue=await self.queue(),
        )


def _figures(row: Row) -> TurnFigures:
    return rows.record(TurnFigures, row, steps=rows.record(StepFigures, row))
