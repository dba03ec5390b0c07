"""What the models of a turn cost.

In: a note from the adapter for each call. Out: `Usage` of the turn that the call was made for. The meter travels with
the task (a context variable): stages and ports need not pass it on.
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
