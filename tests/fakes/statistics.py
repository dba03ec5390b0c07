"""Figures that a test writes. In and out: what `StatisticsStore` says."""

from dataclasses import dataclass, field
from datetime import date, timedelta

from adapters.database.stores.library import StatisticsStore
from domain.ids import BaseId
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


def asked_today(kind: str, turns: int, *, days_ago: int = 0) -> TurnsOfDay:
    """So many questions of a kind."""
    return TurnsOfDay(day=date.today() - timedelta(days=days_ago), kind=kind, turns=turns)  # noqa: DTZ011 - as people see it


STEPS = StepFigures(turns=12, planned=45, run=53, adapted=9, median_s=38.2)
FIGURES = TurnFigures(median_s=2.14, p95_s=6.4, thumbs_up=5, thumbs_down=1, tokens=120_000, cost=0.1234, steps=STEPS)
EVERYBODY = OverallStatistics(
    people=12,
    active=7,
    bases=14,
    turns=340,
    general=20,
    quoted=3,
    unanswered=9,
    model_calls=412,
    slowest_s=34.2,
    slowest_document_s=724.0,
    figures=FIGURES,
    total_s=900.0,
    searching_s=99.0,
    models_s=702.0,
    facts=1_900,
    facts_used=646,
    actions=(
        ActionFigures(action="rag_db_query", steps=30, median_s=1.21),
        ActionFigures(action="read_documents", steps=8, failed=1, median_s=12.3, tokens=90_000),
    ),
    days=(DayFigures(day=date.today(), turns=9, people=3, median_s=2.0, p95_s=5.0),),  # noqa: DTZ011 - as people see it
    documents={"ready": 120, "failed": 4},
    failures={"file-damaged": 3},
    queue=QueueState(waiting=3, working=2, oldest_s=42.0),
)


@dataclass
class ScriptedStatistics(StatisticsStore):
    """Says what it is given."""

    held: BaseStatistics = field(default_factory=BaseStatistics)
    everybody: OverallStatistics = EVERYBODY
    asked_for: list[BaseId] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)  # minutes, of the clocks that everybody's days were asked for

    async def of_base(self, base: BaseId, *, days: int, offset_minutes: int = 0) -> BaseStatistics:
        self.asked_for.append(base)
        return self.held

    async def of_all(self, *, days: int, offset_minutes: int = 0) -> OverallStatistics:
        self.offsets.append(offset_minutes)
        return self.everybody
