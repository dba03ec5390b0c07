"""Runs a plan of several steps: independent ones concurrently, each with the context that it asks for.

In: steps, the turn's context, a listener. Out: the result of each step, and how the plan went. `course` decides which
step comes next and when the plan ends; this module has the tasks, the time limits, and the stop signal. It asks no
model itself and writes nothing.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from domain.ending import end
from rag.execution.course import Course, Finished, context_for, step_budget, summary
from rag.execution.facts import FactsPayload
from rag.execution.tools import Spent, StepFailed, StepStopped, ToolContext
from rag.metering import Usage, metering_step
from rag.planning.plan import ANALYZE, Step, ToolCall
from rag.planning.tool import ToolMisused
from rag.words import estimate_tokens

AT_ONCE = 4  # steps that run concurrently
GRACE_S = 1.0  # for steps that are nearly done when the work ends early
RULES_TOKENS = 1_000  # of a step's own prompt, besides its context

Call = Callable[[ToolCall, ToolContext], Coroutine[Any, Any, FactsPayload]]

log = structlog.get_logger()


@dataclass(kw_only=True)
class _Begun:
    """A running step and its meter."""

    step: Step
    number: int
    usage: Usage = field(default_factory=Usage)
    started: float = field(default_factory=time.monotonic)

    def end(self, payload: FactsPayload, problem: str, *, stopped: bool) -> Finished:
        seconds = time.monotonic() - self.started
        return Finished(
            step=self.step, payload=payload, problem=problem, stopped=stopped, seconds=seconds, usage=self.usage
        )


@dataclass(kw_only=True)
class StepEngine:
    """Runs one plan: its tasks. `call` runs one tool, `budget` limits a step's prompt, in tokens."""

    call: Call
    budget: int
    course: Course
    context: ToolContext
    spent: Spent | None = None  # the limit that ended the work, or kept a step from a call that it wanted
    _running: dict[asyncio.Task[Finished], _Begun] = field(default_factory=dict)

    async def run(self) -> None:
        """Run until every step has ended, or a limit of the turn is reached. Raises DatabaseAway."""
        run, course = self.context.run, self.course
        run.report = self._hear
        try:
            while not run.spent:
                for step in course.ready()[: AT_ONCE - len(self._running)]:
                    course.begin(step)
                    begun = _Begun(step=step, number=course.begun)
                    self._running[asyncio.create_task(self._run_step(begun))] = begun
                self._show()
                if not self._running:
                    break
                await self._wait()
                self._settle()
            # A limit reached when no step was left to run does not count, except the person's stop.
            is_done = not self._running and not course.ready()
            self.spent = None if is_done and run.spent is not Spent.STOPPED else run.spent
            self.spent = self.spent or (Spent.STEPS if course.is_cut_short else None)
            await self._hand_over()
            self.spent = self.spent or run.refused
        finally:
            await end(*self._running)
        course.close()
        self._show()

    def _show(self) -> None:
        self.context.run.watch(self.course.shown())

    def _hear(self, step_id: str, done: int, total: int) -> None:
        self.course.progress[step_id] = (done, total)
        self._show()

    async def _wait(self) -> None:
        """Wait until a step has ended, the person has pressed stop, or the time is up."""
        run = self.context.run
        left = run.started + run.limits.seconds - time.monotonic()
        stop = asyncio.create_task(run.stop.wait())
        try:
            await asyncio.wait({*self._running, stop}, timeout=max(left, 0), return_when=asyncio.FIRST_COMPLETED)
        finally:
            await end(stop)

    def _settle(self) -> None:
        for task in [task for task in self._running if task.done()]:
            self._running.pop(task)
            self.course.settle(task.result())
        self._show()

    async def _run_step(self, begun: _Begun) -> Finished:
        problem, payload, stopped, step = "", FactsPayload(), False, begun.step
        history, room = step_budget(
            self.budget,
            step_number=begun.number,
            total_steps=max(len(self.course.steps), begun.number),
            context_size=RULES_TOKENS + estimate_tokens(self.course.question),
        )
        materials, others = context_for(step, self.course.finished, tokens=room)
        background = summary(others, tokens=history) if step.action == ANALYZE else ""
        seen = replace(self.context, step_id=step.id, materials=tuple(materials), background=background)
        try:
            with metering_step(begun.usage):
                payload = await self.call(step.call, seen)
            read = payload.documents  # where some are left, the step itself has heard the stop signal
            is_partial = read is not None and read.read + read.problems < read.total
            stopped = self.context.run.stop.is_set() and is_partial
        except (ToolMisused, StepFailed) as error:
            problem, stopped = str(error), isinstance(error, StepStopped)
        ended = begun.end(payload, problem, stopped=stopped)
        log.info(  # named as in seed 3, "Логирование"
            "complex_query.step_completed",
            step_id=step.id,
            action=step.action,
            step_number=begun.number,
            total_steps=len(self.course.steps),
            tokens_used=ended.usage.tokens,
            model_calls=ended.usage.calls,
            rag_items_retrieved=len(payload.facts),
            execution_time_ms=round(ended.seconds * 1000),
            searching_ms=round(ended.usage.searching.seconds * 1000),
            models_ms=round(ended.usage.models.seconds * 1000),
            failed=bool(problem) and not stopped,
        )
        return ended

    async def _hand_over(self) -> None:
        """When the work ends early: wait GRACE_S for what is nearly done; take what the other steps have kept."""
        if self._running:
            await asyncio.wait(self._running, timeout=GRACE_S)
        run = self.context.run
        for task, begun in [each for each in self._running.items() if not each[0].done()]:
            self._running.pop(task)
            await end(task)
            kept = run.kept.get(begun.step.id, FactsPayload())
            problem = "" if kept.found else "not ended in time"
            self.course.settle(begun.end(kept, problem, stopped=run.stop.is_set()))
        self._settle()
