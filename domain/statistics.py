"""Statistics for people and for the operator of the bot.

In: nothing. Out: counts, seconds, tokens and US dollars, as frozen records. Nothing in them says what was asked, or by
whom.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True, kw_only=True)
class StepFigures:
    """Of the turns that were planned in several steps."""

    turns: int = 0
    planned: int = 0
    run: int = 0
    adapted: int = 0  # steps added, changed or skipped on the way
    median_s: float | None = None  # until the last word; None without such turns


@dataclass(frozen=True, kw_only=True)
class TurnFigures:
    """How the turns of some days went."""

    median_s: float | None = None  # until the last word of an answer; None without turns
    p95_s: float | None = None
    thumbs_up: int = 0
    thumbs_down: int = 0
    tokens: int = 0  # of prompts and answers, as far as servers tell
    cost: float = 0.0  # US dollars, as far as servers tell
    steps: StepFigures = StepFigures()


@dataclass(frozen=True, kw_only=True)
class TurnsOfDay:
    """How many turns of a kind a day had; a kind is an `AnswerKind`'s value."""

    day: date
    kind: str
    turns: int


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What somebody has asked of models in the last 24 hours."""

    questions: int = 0
    cost: float = 0.0  # US dollars, as far as servers tell
    until: datetime | None = None  # when a bound that is reached is kept again; None: no bound is reached


@dataclass(frozen=True, kw_only=True)
class BaseStatistics:
    """What a base holds, and how its turns of some days went. Of documents, those that are ready."""

    documents: int = 0
    passages: int = 0
    pages: int = 0
    recorded_s: float = 0.0
    figures: TurnFigures = TurnFigures()
    days: tuple[TurnsOfDay, ...] = ()  # oldest first, without those that had no turn


@dataclass(frozen=True, kw_only=True)
class DayFigures(TurnFigures):
    """What everybody did on a day."""

    day: date
    turns: int = 0
    people: int = 0  # who asked; a group is one
    read: int = 0  # documents that came to be in a base
    failed: int = 0  # documents that could not be read


@dataclass(frozen=True, kw_only=True)
class ActionFigures:
    """Steps of one action, over everybody's plans."""

    action: str
    steps: int
    failed: int = 0
    median_s: float = 0.0
    tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class QueueState:
    """Documents in the queue."""

    waiting: int = 0
    working: int = 0
    oldest_s: float = 0.0  # the first of those that wait


@dataclass(frozen=True, kw_only=True)
class OverallStatistics:
    """Everybody and everything."""

    people: int = 0
    active: int = 0  # who asked in these days; a group is one
    bases: int = 0
    turns: int = 0
    general: int = 0  # of them from general knowledge
    quoted: int = 0  # of them by quotes, without a model
    unanswered: int = 0
    model_calls: int = 0
    slowest_s: float | None = None
    slowest_document_s: float | None = None  # to be read
    figures: TurnFigures = TurnFigures()
    total_s: float = 0.0  # of all turns
    searching_s: float = 0.0  # of these, waited for searches
    models_s: float = 0.0  # and for models, at times for both
    facts: int = 0  # found
    facts_used: int = 0  # of them, by answers
    actions: tuple[ActionFigures, ...] = ()  # the most frequent first
    days: tuple[DayFigures, ...] = ()  # oldest first, without those on which nothing was done
    documents: Mapping[str, int]  # status -> how many
    failures: Mapping[str, int]  # code -> how many of these days, the most frequent first
    queue: QueueState = QueueState()
