"""What a turn takes and costs.

In: a note from the adapter for each call of a model, and the stages' times. Out: `Usage` of the turn that the calls
were made for, and `TurnMetrics`, the row that is kept of it. The meter travels with the task (a context variable):
stages and ports need not pass it on. No texts.
"""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(kw_only=True)
class Usage:
    """Adds up; what a server does not tell stays 0."""

    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    cost: float = 0.0  # in the server's money, as OpenRouter tells it (US dollars)


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Where the seconds of a turn went."""

    planned_s: float = 0.0  # until the plan was there
    found_s: float = 0.0  # from the plan until the facts were
    first_s: float | None = None  # until the first words could be shown


@dataclass(frozen=True, kw_only=True)
class TurnMetrics:
    """A row of `turn_metrics`."""

    kind: str
    model: str | None
    plan: str | None  # where the plan came from
    seconds: float
    pace: Pace
    facts: int  # found
    passages: int  # cited
    usage: Usage


_current: ContextVar[Usage | None] = ContextVar("usage", default=None)


def begin_metering() -> Usage:
    """A fresh meter for this task and all that it starts from now on."""
    usage = Usage()
    _current.set(usage)
    return usage


def note_usage(*, prompt_tokens: int, answer_tokens: int, cost: float = 0.0) -> None:
    """A call has ended; outside a turn nobody counts."""
    usage = _current.get()
    if usage is None:
        return
    usage.calls += 1
    usage.prompt_tokens += prompt_tokens
    usage.answer_tokens += answer_tokens
    usage.cost += cost
