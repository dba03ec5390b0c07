"""Runs a plan of several steps: independent ones concurrently, each with the context that it asks for.

In: steps, the turn's context, a listener. Out: the result of each step, and how the plan went. `course` decides which
step comes next and when the plan ends; this module has the tasks, the time limits, and the stop signal. It asks no
model itself and writes nothing.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from domain.ending import end
from rag.execution.course import Course, Finished, TokenBudget, context_for, signature_of, summary
from rag.execution.facts import FactsPayload
from rag.execution.tools import Run, Spent, StepFailed, StepProgress, StepStopped, ToolContext
from rag.metering import Usage, metering_step
from rag.planning.plan import ANALYZE, Step, ToolCall
from rag.planning.tool import ToolMisused
from rag.progress import StepShown
from rag.words import estimate_tokens

AT_ONCE = 4  # steps and prefetched searches that run concurrently
GRACE_S = 1.0  # for steps that are nearly done when the work ends early
RULES_TOKENS = 1_000  # of a step's own prompt, besides its context

Call = Callable[[ToolCall, ToolContext], Coroutine[Any, Any, FactsPayload]]
Watch = Callable[[tuple[StepShown, ...]], None]

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class StepsDone:
    """How a plan of several steps went."""

    ended: tuple[Finished, ...]
    shown: tuple[StepShown, ...]
    adapted: int
    spent: Spent | None


@dataclass(kw_only=True)
class _Begun:
    """A running step and its meter. Its prefetched search is metered there, too."""

    step: Step
    number: int = 0
    usage: Usage = field(default_factory=Usage)
    started: float = field(default_factory=time.monotonic)
    fetched: asyncio.Task[FactsPayload] | None = None

    def end(self, payload: FactsPayload, problem: str, *, stopped: bool) -> Finished:
        seconds = time.monotonic() - self.started
        return Finished(
            step=self.step, payload=payload, problem=problem, stopped=stopped, seconds=seconds, usage=self.usage
        )


@dataclass(kw_only=True)
class _Work:
    """The tasks of one plan."""

    course: Course
    context: ToolContext
    watch: Watch
    running: dict[asyncio.Task[Finished], _Begun] = field(default_factory=dict)
    prefetched: dict[str, _Begun] = field(default_factory=dict)  # by signature
    progress: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def run(self) -> Run:
        return self.context.run

    @property
    def room(self) -> int:
        """How many more tasks may run."""
        return AT_ONCE - len(self.running) - sum(not task.done() for task in self.fetching)

    @property
    def fetching(self) -> list[asyncio.Task[FactsPayload]]:
        """The prefetched searches."""
        return [begun.fetched for begun in self.prefetched.values() if begun.fetched]

    def show(self) -> None:
        self.watch(self.course.shown(self.progress))


class StepEngine:
    """Runs plans; one object serves any number of them concurrently."""

    def __init__(self, call: Call, *, budget: TokenBudget) -> None:
        """`call` runs one tool; `budget` limits a step's prompt."""
        self._call = call
        self._budget = budget

    async def run(self, steps: Sequence[Step], question: str, context: ToolContext, watch: Watch) -> StepsDone:
        """Run until every step has ended, or a limit of `context.run` is reached. Raises DatabaseAway."""
        course = Course.of(steps, question=question, limit=context.run.limits.steps)
        work = _Work(course=course, context=context, watch=watch)
        context.run.report = lambda progress: _hear(work, progress)
        try:
            await self._go_on(work)
            spent = _ended_by(work)
            await self._hand_over(work)
            spent = spent or context.run.refused
        finally:
            await end(*work.running, *work.fetching)
        course.close()
        work.show()
        return StepsDone(
            ended=tuple(course.finished), shown=course.shown(work.progress), adapted=course.adapted, spent=spent
        )

    async def _go_on(self, work: _Work) -> None:
        while not work.run.spent:
            self._begin(work)
            if not work.running:
                return
            await _wait(work)
            self._settle(work)

    def _begin(self, work: _Work) -> None:
        """Begin every step that is ready, then prefetch later searches, as long as there is room."""
        for step in work.course.ready()[: max(work.room, 0)]:
            work.course.begin(step)
            begun = work.prefetched.get(signature_of(step)) or _Begun(step=step)
            begun = replace(begun, step=step, number=work.course.begun, started=time.monotonic())
            work.running[asyncio.create_task(self._run_step(begun, work))] = begun
        for step in work.course.upcoming()[: max(work.room, 0)]:
            if signature_of(step) not in work.prefetched:
                work.prefetched[signature_of(step)] = self._fetched_ahead(step, work)
        work.show()

    def _settle(self, work: _Work) -> None:
        for task in [task for task in work.running if task.done()]:
            work.running.pop(task)
            work.course.settle(task.result())
        work.show()

    def _fetched_ahead(self, step: Step, work: _Work) -> _Begun:
        begun = _Begun(step=step)
        call = ToolCall(tool=step.action, args=step.params)
        begun.fetched = asyncio.create_task(_metered(lambda: self._call(call, work.context), begun.usage))
        return begun

    async def _run_step(self, begun: _Begun, work: _Work) -> Finished:
        problem, payload, stopped = "", FactsPayload(), False
        try:
            payload = await (begun.fetched or _metered(lambda: self._payload(begun, work), begun.usage))
            stopped = work.run.stop.is_set() and _is_partial(payload)
        except (ToolMisused, StepFailed) as error:
            problem, stopped = str(error), isinstance(error, StepStopped)
        ended = begun.end(payload, problem, stopped=stopped)
        log.info(  # named as in seed 3, "Логирование"
            "complex_query.step_completed",
            step_id=begun.step.id,
            action=begun.step.action,
            step_number=begun.number,
            total_steps=len(work.course.steps),
            tokens_used=ended.usage.tokens,
            model_calls=ended.usage.calls,
            rag_items_retrieved=len(payload.facts),
            execution_time_ms=round(ended.seconds * 1000),
            searching_ms=round(ended.usage.searching.seconds * 1000),
            models_ms=round(ended.usage.models.seconds * 1000),
            failed=bool(problem) and not stopped,
        )
        return ended

    async def _payload(self, begun: _Begun, work: _Work) -> FactsPayload:
        step = begun.step
        budget = self._budget.allocate(
            step_number=begun.number,
            total_steps=max(len(work.course.steps), begun.number),
            context_size=RULES_TOKENS + estimate_tokens(work.course.question),
        )
        seen = context_for(step, work.course.finished, budget)
        background = summary(seen.others, tokens=budget.history) if step.action == ANALYZE else ""
        context = replace(work.context, step_id=step.id, materials=seen.materials, background=background)
        return await self._call(ToolCall(tool=step.action, args=step.params), context)

    async def _hand_over(self, work: _Work) -> None:
        """Settle the running steps when the work ends early: wait GRACE_S for those that are nearly done, and take the
        partial results that the others have kept."""
        if work.running:
            await asyncio.wait(work.running, timeout=GRACE_S)
        for task, begun in list(work.running.items()):
            if task.done():
                continue
            work.running.pop(task)
            await end(task)
            kept = work.run.kept.get(begun.step.id, FactsPayload())
            problem = "" if kept.found else "not ended in time"
            work.course.settle(begun.end(kept, problem, stopped=work.run.stop.is_set()))
        self._settle(work)


def _is_partial(payload: FactsPayload) -> bool:
    """Whether documents are left that were to be read."""
    read = payload.documents
    return read is not None and read.read + read.problems < read.total


def _ended_by(work: _Work) -> Spent | None:
    """The limit that ended the work, if any. A limit reached when no step was left to run does not count, except the
    person's stop."""
    spent, is_done = work.run.spent, not work.running and not work.course.ready()
    if spent and (spent is Spent.STOPPED or not is_done):
        return spent
    return Spent.STEPS if work.course.is_cut_short else None


def _hear(work: _Work, progress: StepProgress) -> None:
    work.progress[progress.step_id] = (progress.done, progress.total)
    work.show()


async def _metered(call: Callable[[], Awaitable[FactsPayload]], usage: Usage) -> FactsPayload:
    """`call` creates its coroutine here: created earlier, it would never be awaited if the task is cancelled before it
    begins."""
    with metering_step(usage):
        return await call()


async def _wait(work: _Work) -> None:
    """Wait until a step has ended, the person has pressed stop, or the time is up."""
    left = work.run.started + work.run.limits.seconds - time.monotonic()
    stop = asyncio.create_task(work.run.stop.wait())
    try:
        await asyncio.wait({*work.running, stop}, timeout=max(left, 0), return_when=asyncio.FIRST_COMPLETED)
    finally:
        await end(stop)
