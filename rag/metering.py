"""Time, tokens and cost of a turn and of each of its steps.

In: a note from the adapter for each call of a model, and the time spent waiting. Out: `Usage` of the turn and of its
steps, and `TurnMetrics`, the row that is stored. The meter travels with the task (a context variable).
"""

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter


@dataclass(kw_only=True)
class Waiting:
    """The time in which at least one of several calls was under way: concurrent calls count once."""

    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)
    seconds: float = 0.0  # of calls that have ended
    _running: int = 0
    _since: float = 0.0

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """One call, also when it fails."""
        if not self._running:
            self._since = self.clock()
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                self.seconds += self.clock() - self._since


@dataclass(kw_only=True)
class Usage:
    """A running total; what a server does not report stays 0."""

    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    cost: float = 0.0  # in the server's currency, as OpenRouter reports it (US dollars)
    searching: Waiting = field(default_factory=Waiting)  # a search with its embedding and reranking
    models: Waiting = field(default_factory=Waiting)
    within: "Usage | None" = field(default=None, repr=False, compare=False)  # of a step's meter: the turn's

    @property
    def tokens(self) -> int:
        """Of prompts and answers."""
        return self.prompt_tokens + self.answer_tokens


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """One call of a chat model, for monitoring."""

    model: str
    seconds: float = 0.0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    cost: float = 0.0  # US dollars, where the server reports it
    problem: str = ""  # the class name of the error that ended the call


def unheard(call: ModelCall) -> None:
    """The default listener: does nothing."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Where the seconds of a turn went."""

    planned_s: float = 0.0  # from the start to the plan
    found_s: float = 0.0  # from the plan to the facts
    first_s: float | None = None  # from the start to the first words that could be shown


@dataclass(frozen=True, kw_only=True)
class StepCounts:
    """How a plan of several steps went (seed 3, "Plan Efficiency"); all 0 where one search was enough."""

    planned: int = 0
    run: int = 0
    adapted: int = 0  # added, changed or skipped on the way


@dataclass(frozen=True, kw_only=True)
class CheckCounts:
    """How the check of an answer's statements went; without a check all is empty."""

    outcome: str = ""  # rag.answering.grounding.Outcome
    statements: int = 0  # that were judged
    failed: int = 0  # of those, at first
    withdrawn: int = 0  # that were taken out of the answer in the end
    tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class StepMetrics:
    """One step of a plan, in the order in which steps ended (seed 3, "Ключевые метрики")."""

    action: str
    state: str
    seconds: float
    facts: int
    calls: int
    tokens: int
    cost: float
    searching_s: float
    models_s: float


@dataclass(frozen=True, kw_only=True)
class TurnMetrics:
    """A row of `turn_metrics`."""

    kind: str
    model: str | None
    plan: str | None  # where the plan came from: PlanOrigin
    seconds: float
    pace: Pace
    facts: int  # found
    passages: int  # cited
    usage: Usage
    facts_used: int = 0  # of those found, the ones that the answer used; several may share one citation
    used_rank: float | None = None  # their mean rank among the facts, from 1
    check: CheckCounts = field(default_factory=CheckCounts)
    steps: StepCounts = field(default_factory=StepCounts)
    each_step: tuple[StepMetrics, ...] = ()


Leave = Callable[[], Awaitable[None]]  # raises the reason why nothing more may be spent
_current: ContextVar[Usage | None] = ContextVar("usage", default=None)
_leave: ContextVar[Leave | None] = ContextVar("leave", default=None)


def begin_metering(usage: Usage | None = None) -> Usage:
    """A fresh meter, or this one, for this task and all tasks that it starts from now on."""
    usage = usage or Usage()
    _current.set(usage)
    return usage


@contextmanager
def metering_step(usage: Usage) -> Iterator[None]:
    """While this is open, calls of this task, and of tasks that it starts, are added to `usage`, too."""
    usage.within = _current.get()
    token = _current.set(usage)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def needing(leave: Leave | None) -> Iterator[None]:
    """While this is open, whatever costs in this task, and in tasks that it starts, asks for leave first."""
    token = _leave.set(leave)
    try:
        yield
    finally:
        _leave.reset(token)


async def ask_leave() -> None:
    """Called by adapters before what costs. Raises what the `Leave` raises."""
    if (leave := _leave.get()) is not None:
        await leave()


def note_usage(*, prompt_tokens: int, answer_tokens: int, cost: float = 0.0) -> None:
    """Count a call that has ended; outside a turn it is not counted."""
    for usage in _meters():
        usage.calls += 1
        usage.prompt_tokens += prompt_tokens
        usage.answer_tokens += answer_tokens
        usage.cost += cost


def note_cost(cost: float) -> None:
    """Count what a call of another model than a chat model has cost, in US dollars."""
    for usage in _meters():
        usage.cost += cost


@contextmanager
def _waiting(of: Callable[[Usage], Waiting]) -> Iterator[None]:
    with ExitStack() as stack:
        for usage in _meters():
            stack.enter_context(of(usage).under_way())
        yield


searching = partial(_waiting, attrgetter("searching"))  # the turn waits for a search while the context is open
asking = partial(_waiting, attrgetter("models"))  # it waits for a model


def _meters() -> Iterator[Usage]:
    usage = _current.get()
    while usage is not None:
        yield usage
        usage = usage.within
