"""Runs a plan of several steps: those that may begin side by side, each with what it asked to see.

In: steps, the turn's context, a listener. Out: what each step brought, and how the plan went. Which step comes next and
when it ends is `course`'s; here are the tasks, the limits of time, and the person's wish to stop. It asks no model
itself and writes nothing.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from rag.execution.course import Course, signature_of
from rag.execution.facts import FactsPayload
from rag.execution.run import Progress, Run, Spent
from rag.execution.step_context import context_for
from rag.execution.token_budget import TokenBudget
from rag.execution.tools import StepFailed, ToolContext, ToolMisused
from rag.planning.plan import Step, ToolCall
from rag.records import StepShown
from rag.tokens import estimate_tokens

AT_ONCE = 4  # steps and prefetched searches that run side by side
GRACE_S = 1.0  # for steps to hand over what they have when the work ends early
RULES_TOKENS = 1_000  # of a step's own prompt, besides what it is given

Call = Callable[[ToolCall, ToolContext], Coroutine[Any, Any, FactsPayload]]
Watch = Callable[[tuple[StepShown, ...]], None]

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A step that was run, and how long it took."""

    step: Step
    payload: FactsPayload
    problem: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class StepsDone:
    """How a plan of several steps went."""

    ended: tuple[Ended, ...]
    shown: tuple[StepShown, ...]
    adapted: int
    spent: Spent | None


@dataclass(kw_only=True)
class _Work:
    """The tasks of one plan."""

    course: Course
    context: ToolContext
    watch: Watch
    running: dict[asyncio.Task[Ended], Step] = field(default_factory=dict)
    prefetched: dict[str, asyncio.Task[FactsPayload]] = field(default_factory=dict)  # by signature
    progress: dict[str, tuple[int, int]] = field(default_factory=dict)
    ended: list[Ended] = field(default_factory=list)

    @property
    def run(self) -> Run:
        return self.context.run

    @property
    def room(self) -> int:
        """How many more may run."""
        busy = sum(not task.done() for task in self.prefetched.values())
        return AT_ONCE - len(self.running) - busy

    def show(self) -> None:
        self.watch(self.course.shown(self.progress))


class StepEngine:
    """Runs one plan at a time, any number side by side."""

    def __init__(self, call: Call, *, budget: TokenBudget) -> None:
        """`call` runs one tool; `budget` is what a step's prompt may hold."""
        self._call = call
        self._budget = budget

    async def run(self, steps: Sequence[Step], question: str, context: ToolContext, watch: Watch) -> StepsDone:
        """Until every step has ended, or a limit of `context.run` has. Raises DatabaseAway."""
        course = Course.of(steps, question=question, limit=context.run.limits.steps)
        work = _Work(course=course, context=context, watch=watch)
        context.run.report = lambda progress: _hear(work, progress)
        try:
            await self._go_on(work)
            spent = context.run.spent
            await self._hand_over(work)
        finally:
            await _end((*work.running, *work.prefetched.values()))
        course.close()
        work.show()
        return StepsDone(
            ended=tuple(work.ended), shown=course.shown(work.progress), adapted=course.adapted, spent=spent
        )

    async def _go_on(self, work: _Work) -> None:
        while not work.run.spent:
            self._begin(work)
            if not work.running:
                return
            await _wait(work)
            self._settle(work)

    def _begin(self, work: _Work) -> None:
        """Every step that may, then searches that will be wanted later, as long as there is room."""
        for step in work.course.ready()[: max(work.room, 0)]:
            work.course.begin(step)
            task = asyncio.create_task(self._run_step(step, work))
            work.running[task] = step
        for step in work.course.upcoming()[: max(work.room, 0)]:
            if signature_of(step) not in work.prefetched:
                search = self._call(ToolCall(tool=step.action, args=step.params), work.context)
                work.prefetched[signature_of(step)] = asyncio.create_task(search)
        work.show()

    def _settle(self, work: _Work) -> None:
        for task in [task for task in work.running if task.done()]:
            step, ended = work.running.pop(task), task.result()
            work.ended.append(ended)
            work.course.settle(step, ended.payload, ended.problem)
        work.show()

    async def _run_step(self, step: Step, work: _Work) -> Ended:
        started, problem, payload = time.monotonic(), "", FactsPayload()
        number, tokens = work.course.begun, work.run.usage.prompt_tokens + work.run.usage.answer_tokens
        try:
            payload = await self._payload(step, number, work)
        except (ToolMisused, StepFailed) as error:
            problem = str(error)
        used = work.run.usage.prompt_tokens + work.run.usage.answer_tokens - tokens
        ended = Ended(step=step, payload=payload, problem=problem, seconds=time.monotonic() - started)
        log.info(  # named as in seed 3, "Логирование"
            "complex_query.step_completed",
            step_id=step.id,
            action=step.action,
            step_number=number,
            total_steps=len(work.course.steps),
            tokens_used=used,  # steps that run side by side count each other's
            rag_items_retrieved=len(payload.facts),
            execution_time_ms=round(ended.seconds * 1000),
            failed=bool(problem),
        )
        return ended

    async def _payload(self, step: Step, number: int, work: _Work) -> FactsPayload:
        if prefetched := work.prefetched.get(signature_of(step)):
            return await prefetched
        budget = self._budget.allocate(
            step_number=number,
            total_steps=max(len(work.course.steps), number),
            context_size=RULES_TOKENS + estimate_tokens(work.course.question),
        )
        seen = context_for(step, work.course.finished, budget)
        context = replace(work.context, step_id=step.id, materials=seen.materials, background=seen.background)
        return await self._call(ToolCall(tool=step.action, args=step.params), context)

    async def _hand_over(self, work: _Work) -> None:
        """What steps have when the work ends early: those that are nearly done, and what others have kept so far."""
        if work.running:
            await asyncio.wait(work.running, timeout=GRACE_S)
        for task, step in list(work.running.items()):
            if task.done():
                continue
            work.running.pop(task)
            await _end((task,))
            kept = work.run.kept.get(step.id, FactsPayload())
            ended = Ended(step=step, payload=kept, problem="" if kept.found else "not ended in time", seconds=0.0)
            work.ended.append(ended)
            work.course.settle(step, kept, ended.problem)
        self._settle(work)


def _hear(work: _Work, progress: Progress) -> None:
    work.progress[progress.step_id] = (progress.done, progress.total)
    work.show()


async def _wait(work: _Work) -> None:
    """Until a step has ended, the person has had enough, or the time is over."""
    left = work.run.started + work.run.limits.seconds - time.monotonic()
    stop = asyncio.create_task(work.run.stop.wait())
    try:
        await asyncio.wait({*work.running, stop}, timeout=max(left, 0), return_when=asyncio.FIRST_COMPLETED)
    finally:
        await _end((stop,))


async def _end(tasks: Iterable["asyncio.Task[Any]"]) -> None:
    pending = list(tasks)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
