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
        found = await self._call(
            "sender_spent_until", base=base, document=document, cost=cost, token_cost=token_cost, exempt=sorted(exempt)
        )
        until = found[0]["until"] if found else None
        return rows.value(datetime, until) if until else None

    async def of_base(self, base: BaseId, *, days: int, offset_minutes: int = 0) -> BaseStatistics:
        """The last `days` days, today included, by a clock that is so many minutes ahead of UTC; at most 190 days."""
        (held,) = await self._call("base_statistics", base=base, days=days)
        turns = await self._call(
            "turns_by_day", base=base, days=days, offset_minutes=offset_minutes
        )  # five kinds a day: below PostgREST's 1000 rows
        by_day = rows.records(TurnsOfDay, turns)
        return rows.record(BaseStatistics, _summed(held), figures=_figures(held), days=by_day)

    async def queue(self) -> QueueState:
        """Of all bases."""
        (state,) = await self._call("queue_state")
        return rows.record(QueueState, _summed(state))

    async def of_all(self, *, days: int, offset_minutes: int = 0) -> OverallStatistics:
        """Everybody, the last `days` days, by a clock that is so many minutes ahead of UTC; at most 900 days."""
        (held,) = await self._call("overall_statistics", days=days)
        statuses = await self._call("documents_by_status")
        failures = await self._call("failures_by_code", days=days, limit=FAILURES_SHOWN)
        actions = await self._call("steps_by_action", days=days)
        by_day = await self._call("overall_by_day", days=days, offset_minutes=offset_minutes)
        return rows.record(
            OverallStatistics,
            _summed(held),
            figures=_figures(held),
            actions=rows.records(ActionFigures, [*map(_summed, actions)]),
            days=rows.records(DayFigures, [*map(_summed, by_day)]),
            documents={rows.value(str, row["status"]): rows.value(int, row["documents"]) for row in statuses},
            failures={rows.value(str, row["code"]): rows.value(int, row["documents"]) for row in failures},
            queue=await self.queue(),
        )


def _figures(row: Row) -> TurnFigures:
    steps = rows.record(
        StepFigures,
        row,
        turns=row["planned_turns"],
        planned=row["steps_planned"],
        run=row["steps_run"],
        median_s=row["planned_median_s"],
    )
    return rows.record(TurnFigures, _summed(row), steps=steps)


def _summed(row: Row) -> Row:
    """Without the sums of nothing: they are 0, or None where a figure has no value without turns."""
    return {name: value for name, value in row.items() if value is not None}
