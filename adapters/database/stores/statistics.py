"""Statistics of a base, and of all bases.

In: a base, or nothing. Out: records of `domain.statistics`. The bot decides who may see those of all bases.
"""

from collections.abc import Collection
from datetime import date, datetime

from adapters.database import rows
from adapters.database.transport import Row, Transport
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


class StatisticsStore:
    """Meets `bot.ports.Statistics`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def save_reading_cost(self, base: BaseId, document: DocumentId, cost: float) -> None:
        """What models have cost for reading the document, in US dollars."""
        await self._transport.call("save_reading_cost", p_base=base, p_document=document, p_cost=cost)

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
        found = await self._transport.call(
            "sender_spent_until",
            p_base=base,
            p_document=document,
            p_cost=cost,
            p_token_cost=token_cost,
            p_exempt=sorted(exempt),
        )
        return rows.moment_or_none(found[0], "until") if found else None

    async def of_base(self, base: BaseId, *, days: int, offset_minutes: int = 0) -> BaseStatistics:
        """The last `days` days, today included, by a clock that is so many minutes ahead of UTC; at most 190 days."""
        (held,) = await self._transport.call("base_statistics", p_base=base, p_days=days)
        turns = await self._transport.call(
            "turns_by_day", p_base=base, p_days=days, p_offset_minutes=offset_minutes
        )  # five kinds a day: below PostgREST's 1000 rows
        return BaseStatistics(
            documents=rows.integer(held, "documents"),
            passages=rows.integer(held, "passages"),
            pages=rows.integer(held, "pages"),
            recorded_s=_number(held, "recorded_s"),
            figures=_figures(held),
            days=tuple(map(_turns_of_day, turns)),
        )

    async def queue(self) -> QueueState:
        """Of all bases."""
        (state,) = await self._transport.call("queue_state")
        return QueueState(
            waiting=rows.integer(state, "waiting"),
            working=rows.integer(state, "working"),
            oldest_s=_number(state, "oldest_s"),
        )

    async def of_all(self, *, days: int, offset_minutes: int = 0) -> OverallStatistics:
        """Everybody, the last `days` days, by a clock that is so many minutes ahead of UTC; at most 900 days."""
        (held,) = await self._transport.call("overall_statistics", p_days=days)
        statuses = await self._transport.call("documents_by_status")
        failures = await self._transport.call("failures_by_code", p_days=days, p_limit=FAILURES_SHOWN)
        actions = await self._transport.call("steps_by_action", p_days=days)
        by_day = await self._transport.call("overall_by_day", p_days=days, p_offset_minutes=offset_minutes)
        return OverallStatistics(
            people=rows.integer(held, "people"),
            active=rows.integer(held, "active"),
            bases=rows.integer(held, "bases"),
            turns=rows.integer(held, "turns"),
            general=rows.integer(held, "general"),
            quoted=rows.integer(held, "quoted"),
            unanswered=rows.integer(held, "unanswered"),
            model_calls=rows.integer(held, "model_calls"),
            slowest_s=rows.number_or_none(held, "slowest_s"),
            slowest_document_s=rows.number_or_none(held, "slowest_document_s"),
            figures=_figures(held),
            total_s=_number(held, "total_s"),
            searching_s=_number(held, "searching_s"),
            models_s=_number(held, "models_s"),
            facts=rows.integer(held, "facts"),
            facts_used=rows.integer(held, "facts_used"),
            actions=tuple(map(_action, actions)),
            days=tuple(map(_day, by_day)),
            documents={rows.text(row, "status"): rows.integer(row, "documents") for row in statuses},
            failures={rows.text(row, "code"): rows.integer(row, "documents") for row in failures},
            queue=await self.queue(),
        )


def _figures(row: Row) -> TurnFigures:
    return TurnFigures(
        median_s=rows.number_or_none(row, "median_s"),
        p95_s=rows.number_or_none(row, "p95_s"),
        thumbs_up=rows.integer(row, "thumbs_up"),
        thumbs_down=rows.integer(row, "thumbs_down"),
        tokens=rows.integer(row, "tokens"),
        cost=_number(row, "cost"),
        steps=StepFigures(
            turns=rows.integer(row, "planned_turns"),
            planned=rows.integer(row, "steps_planned"),
            run=rows.integer(row, "steps_run"),
            adapted=rows.integer(row, "adapted"),
            median_s=rows.number_or_none(row, "planned_median_s"),
        ),
    )


def _action(row: Row) -> ActionFigures:
    return ActionFigures(
        action=rows.text(row, "action"),
        steps=rows.integer(row, "steps"),
        failed=rows.integer(row, "failed"),
        median_s=_number(row, "median_s"),
        tokens=rows.integer(row, "tokens"),
    )


def _day(row: Row) -> DayFigures:
    return DayFigures(
        day=date.fromisoformat(rows.text(row, "day")),
        turns=rows.integer(row, "turns"),
        people=rows.integer(row, "people"),
        tokens=rows.integer(row, "tokens"),
        cost=_number(row, "cost"),
        median_s=rows.number_or_none(row, "median_s"),
        p95_s=rows.number_or_none(row, "p95_s"),
        thumbs_up=rows.integer(row, "thumbs_up"),
        thumbs_down=rows.integer(row, "thumbs_down"),
        read=rows.integer(row, "read"),
        failed=rows.integer(row, "failed"),
    )


def _turns_of_day(row: Row) -> TurnsOfDay:
    return TurnsOfDay(
        day=date.fromisoformat(rows.text(row, "day")), kind=rows.text(row, "kind"), turns=rows.integer(row, "turns")
    )


def _number(row: Row, name: str) -> float:
    return rows.number_or_none(row, name) or 0.0
