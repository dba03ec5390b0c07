"""Runs a plan: its calls concurrently, or its steps as their dependencies allow, then the fallback.

In: a `QueryPlan`, the turn's context, and perhaps an early search that began before the plan was made. Out:
`Execution`: the facts and the result of each call. `course` decides which step comes next and when a plan ends; here
are the tasks, the time limits, and the stop signal. It asks no model itself and writes nothing.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import structlog

from domain.ending import end, together
from rag.execution.course import Course, StepRun, context_for, gaps_of, step_budget, summary
from rag.execution.facts import ROWS, Fact, FactKind, FactsPayload, fuse, limit, merge, shortlist, weighed
from rag.execution.search_tool import SearchArguments, coverage_by_document, half_found, second_hop
from rag.execution.tools import AnyTool, Spent, StepFailed, StepStopped, ToolContext
from rag.metering import StepMetrics, metering_step
from rag.planning.plan import (
    ANALYZE,
    LIST,
    MAX_ITEMS,
    SEARCH,
    FallbackReason,
    QueryKind,
    QueryPlan,
    RenderStyle,
    ToolCall,
)
from rag.planning.tool import ToolMisused
from rag.progress import StepShown
from rag.words import estimate_tokens, stems

LOW_COVERAGE = 0.5  # of the question's words in the results. Seed 4 names the case but no number; this is the middle
LIMITS = frozenset(SearchArguments.model_fields) - {"query"}  # what narrows a search; the fallback has none of it
STEP_TOKENS = 12_000  # PROMPT_TOKENS is the same by default
SEARCHES = 2  # of a simple question, which has one part or two (DESIGN, section 6)
INSIDE = 4  # passages that a second search inside a found document adds
AT_ONCE = 4  # steps that run concurrently
GRACE_S = 1.0  # for steps that are nearly done when the work ends early
RULES_TOKENS = 1_000  # of a step's own prompt, besides its context

Call = Callable[[ToolCall, ToolContext], Coroutine[Any, Any, FactsPayload]]

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class CallResult:
    """The result of one call."""

    call: ToolCall
    payload: FactsPayload
    seconds: float
    problem: str = ""  # why it could not be run
    is_fallback: bool = False
    was_early: bool = False  # taken from the early search
    is_added: bool = False  # by code: the person's own words, or what the first results lead to
    is_second_hop: bool = False  # a search for what a found sentence names

    @property
    def query(self) -> str:
        """What was searched for."""
        return str(self.call.args.get("query", ""))


@dataclass(frozen=True, kw_only=True)
class Execution:
    """The result of a plan."""

    payload: FactsPayload
    calls: tuple[CallResult, ...]
    steps: tuple[StepShown, ...] = ()  # of a plan that has steps
    each_step: tuple[StepMetrics, ...] = ()  # of those that were begun
    adapted: int = 0  # steps added, changed or skipped on the way
    spent: Spent | None = None  # the limit that ended the work
    gaps: str = ""  # what was not found or not done, for the model that answers


@dataclass(frozen=True)
class Executor:
    """Runs plans; one object serves any number of them concurrently."""

    tools: Sequence[AnyTool]
    max_calls: int = field(kw_only=True)  # MAX_TOOL_CALLS (seed 4, section 12: 3 to 5); the fallback is one of them
    step_tokens: int = field(default=STEP_TOKENS, kw_only=True)  # limit for the prompt of one step
    is_shortened: bool = field(default=False, kw_only=True)  # what searches find is for a prompt (`facts.shortlist`)

    async def execute(self, plan: QueryPlan, context: ToolContext) -> Execution:
        """Raises DatabaseAway. An early search that the plan cannot use is cancelled."""
        if plan.steps:
            return await self._execute_steps(plan, context)
        # Each call once; SEARCHES for a simple question, `max_calls` in all and for an analytical one.
        distinct = list({call.model_dump_json(): call for call in plan.tool_calls}.values())
        searches = [call for call in distinct if call.tool == SEARCH]
        beyond = searches[SEARCHES if plan.kind is QueryKind.SIMPLE else self.max_calls :]
        calls = [call for call in distinct if call not in beyond][: self.max_calls]
        dropped = [f"«{call.args.get('query') or call.tool}»" for call in distinct if call not in calls]
        groups = _grouped(calls, context.own_words)
        fallback = ToolCall(tool=plan.fallback.tool, args={"query": plan.question})
        searched = [*chain(*groups), *([fallback] if plan.fallback.enabled else [])]
        is_wanted = any(_is_early(call, context) for call in searched) or all(call.tool != SEARCH for call in calls)
        if context.early and not is_wanted:
            await end(context.early)  # two searches at once would wait for each other
        results = await together(
            *(together(*(self._run(call, context, is_added=call not in calls) for call in group)) for group in groups)
        )
        await self._go_on(results, context)
        payload = self._together(results, plan)
        if self._needs_fallback(plan, payload, calls):
            made = [each.call for each in chain(*results) if not each.problem]
            remark = () if payload.found else _remark_on_limits(made)
            results.append([await self._run(fallback, context, is_fallback=True)])
            telling = [
                [each for each in group if each.payload.found or each.payload.remarks or each.payload.unread]
                for group in results
            ]
            payload = self._together(list(filter(None, telling)), plan)
            if payload.found:
                payload = replace(payload, facts=(*remark, *payload.facts))
        said = f"Not looked for, because one question allows no more calls: {', '.join(dropped)}."
        # The plan's limit is one for lists. An explanation or a single value is written from all that was found.
        items = MAX_ITEMS if plan.render_style is RenderStyle.SHORT else plan.limits.max_items
        return Execution(
            payload=limit(payload, items=items, skip=plan.limits.skip),
            calls=tuple(chain(*results)),
            gaps="\n".join((*([said] if dropped else []), *payload.remarks)),
        )

    async def _execute_steps(self, plan: QueryPlan, context: ToolContext) -> Execution:
        """Conclusions of steps come first, then the passages that they were drawn from."""

        async def call(wanted: ToolCall, seen: ToolContext) -> FactsPayload:
            return self._short([wanted], await self._call(wanted, seen), is_short=False)

        course = Course.of(plan.steps, question=plan.question, limit=context.run.limits.steps)
        engine = StepEngine(call=call, budget=self.step_tokens, course=course, context=context)
        await engine.run()
        results = [
            CallResult(call=each.step.call, payload=each.payload, seconds=each.seconds, problem=each.problem)
            for each in course.finished
        ]
        tools = {each.call.tool for each in results if each.payload.found}
        # Only the list of documents is nothing, where other steps were to find something else.
        found_nothing = not tools or (tools == {LIST} and any(each.call.tool != LIST for each in results))
        if found_nothing and not engine.spent:
            fallback = ToolCall(tool=plan.fallback.tool, args={"query": plan.question})
            results.append(await self._run(fallback, context, is_fallback=True))
        found = [each.payload for each in reversed(results) if each.payload.found]
        payload = merge(found)
        told = sorted(weighed(payload.facts, found), key=lambda fact: fact.kind is FactKind.PASSAGE)
        read = merge([each.payload for each in results]).documents  # also where reading all of them found nothing
        payload = replace(payload, facts=tuple(told), documents=read)
        advice = next((each.payload.advice for each in reversed(course.finished) if each.payload.advice), None)
        missing = advice.missing if advice and not advice.enough else ()
        return Execution(
            payload=limit(payload, items=plan.limits.max_items, skip=plan.limits.skip, counted=ROWS),
            calls=tuple(results),
            steps=course.shown(),
            each_step=tuple(
                StepMetrics(
                    action=each.step.action,
                    state=course.states[each.step.id].value,
                    seconds=each.seconds,
                    facts=len(each.payload.facts),
                    calls=each.usage.calls,
                    tokens=each.usage.tokens,
                    cost=each.usage.cost,
                    searching_s=each.usage.searching.seconds,
                    models_s=each.usage.models.seconds,
                )
                for each in course.finished
            ),
            adapted=course.adapted,
            spent=engine.spent,
            gaps="\n".join(filter(None, (gaps_of(course.shown(), engine.spent, missing), *payload.remarks))),
        )

    async def search(self, context: ToolContext) -> FactsPayload:
        """The default plan's one search. Raises DatabaseAway, ToolMisused."""
        return await self._call(ToolCall(tool=SEARCH, args={"query": context.question}), context)

    async def _run(self, call: ToolCall, context: ToolContext, **marks: bool) -> CallResult:
        started, was_early = time.monotonic(), _is_early(call, context)
        problem, payload = "", FactsPayload()
        try:
            payload = await self._call(call, context)
        except (ToolMisused, StepFailed) as error:
            problem = str(error)
            log.info("executor.tool_failed", tool=call.tool, reason=type(error).__name__)
        seconds = time.monotonic() - started
        return CallResult(call=call, payload=payload, seconds=seconds, problem=problem, was_early=was_early, **marks)

    async def _go_on(self, results: Sequence[list[CallResult]], context: ToolContext) -> None:
        """Adds to the first group of searches: a second search inside documents that name what others do not, but of
        which only a part was found: the head names the party, and the clauses found are those of other contracts
        (without a model the first passage answers, and scores of two searches do not compare). Then the second hop,
        where the best sentence names something that the question asks about."""
        first = next((group for group in results if group[0].call.tool == SEARCH), None)
        if first is None or first[0].call.args.get("documents") or first[0].call.args.get("document"):
            return
        planned = first[0]

        async def search(**changed: object) -> CallResult:
            call = planned.call.model_copy(update={"args": {**planned.call.args, **changed}})
            return await self._run(call, context, is_added=True)

        facts = merge([_fused(group) for group in results]).facts
        documents = half_found(facts, planned.query) if self.is_shortened else ()
        inside = [await search(documents=[document]) for document in documents]
        if hop := second_hop(facts, planned.query, in_alike=not self.is_shortened):
            further = await search(query=hop.query)
            reached = tuple(fact for fact in further.payload.facts if hop.reaches(fact))
            inside.append(replace(further, payload=replace(further.payload, facts=reached), is_second_hop=True))
        first[:0] = [replace(each, payload=replace(each.payload, facts=each.payload.facts[:INSIDE])) for each in inside]

    def _together(self, results: Sequence[Sequence[CallResult]], plan: QueryPlan) -> FactsPayload:

        is_short = plan.render_style is RenderStyle.SHORT
        planned = [([each.call for each in group if not each.is_added], group) for group in results]
        return merge([self._short(calls, _fused(group), is_short=is_short) for calls, group in planned])

    def _short(self, calls: Sequence[ToolCall], payload: FactsPayload, *, is_short: bool) -> FactsPayload:
        """Scores of different searches do not compare. `calls`: of the plan, one for each part of the question."""
        if not self.is_shortened or any(call.tool != SEARCH for call in calls):
            return payload
        return shortlist(payload, is_short=is_short, sought=[str(call.args.get("query", "")) for call in calls])

    async def _call(self, call: ToolCall, context: ToolContext) -> FactsPayload:
        """What is of the documents that the person has limited the question to, or of none (a sum)."""
        if context.early and _is_early(call, context):
            return await context.early
        tool, only = next((tool for tool in self.tools if tool.name == call.tool), None), context.only
        if tool is None:
            raise ToolMisused(f"unknown tool {call.tool}")
        payload = await tool.run(tool.read(tool.within(call.args, only)), context)
        if not only:
            return payload
        return replace(payload, facts=tuple(fact for fact in payload.facts if fact.document in (None, *only)))

    def _needs_fallback(self, plan: QueryPlan, payload: FactsPayload, calls: Sequence[ToolCall]) -> bool:
        """False also when the plan calls nothing, or the same search was made already."""
        if not plan.fallback.enabled or not calls or len(calls) >= self.max_calls:
            return False
        if any(_is_search_for(call, plan.question) for call in calls):
            return False
        if not payload.found:
            return FallbackReason.NO_RESULTS in plan.fallback.when
        return payload.coverage < LOW_COVERAGE and FallbackReason.LOW_COVERAGE in plan.fallback.when


def _grouped(calls: Sequence[ToolCall], own_words: str) -> list[list[ToolCall]]:
    """Searches within the same limits together, with one more in the person's own words; other calls by themselves."""
    groups: dict[str, list[ToolCall]] = {}
    for place, call in enumerate(calls):
        limits = repr(sorted((name, value) for name, value in call.args.items() if name != "query" and value))
        groups.setdefault(limits if call.tool == SEARCH else str(place), []).append(call)
    for group in groups.values():
        asked = [stems(str(each.args.get("query", ""))) for each in group]
        if own_words and group[0].tool == SEARCH and stems(own_words) not in asked:
            group.append(group[0].model_copy(update={"args": {**group[0].args, "query": own_words}}))
    return list(groups.values())


def _fused(results: Sequence[CallResult]) -> FactsPayload:
    payload = fuse([each.payload for each in results])
    if len(results) == 1:
        return payload
    shares = coverage_by_document(payload.facts, results[0].query)
    return replace(payload, coverage=max(payload.coverage, *shares.values(), 0.0))


def _remark_on_limits(calls: Sequence[ToolCall]) -> tuple[Fact, ...]:
    """The fallback ignores the plan's dates and names: these may be the planner's mistake, or what the person meant."""
    limits = [f"{name}: {value}" for call in calls for name, value in call.args.items() if name in LIMITS and value]
    told = ", ".join(dict.fromkeys(limits))
    text = f"Within the limits ({told}) this search found nothing. What follows was found without them."
    return (Fact(kind=FactKind.VALUE, text=text),) if limits else ()


def _is_search_for(call: ToolCall, question: str) -> bool:
    """A search without filters for exactly the words of a question, regardless of order and endings."""
    query = call.args.get("query")
    is_plain = call.tool == SEARCH and not any(value for name, value in call.args.items() if name != "query")
    return is_plain and isinstance(query, str) and stems(query) == stems(question)


def _is_early(call: ToolCall, context: ToolContext) -> bool:
    """The planner often only drops a word of politeness, which does not change the results."""
    return context.early is not None and not context.early.cancelling() and _is_search_for(call, context.question)


@dataclass(kw_only=True)
class StepEngine:
    """Runs one plan: its tasks. `call` runs one tool, `budget` limits a step's prompt, in tokens."""

    call: Call
    budget: int
    course: Course
    context: ToolContext
    spent: Spent | None = None  # the limit that ended the work, or kept a step from a call that it wanted
    _running: dict[asyncio.Task[StepRun], StepRun] = field(default_factory=dict)

    async def run(self) -> None:
        """Run until every step has ended, or a limit of the turn is reached. Raises DatabaseAway."""
        run, course = self.context.run, self.course
        run.report, stop = self._hear, asyncio.create_task(run.stop.wait())
        try:
            while not run.spent:
                for step in course.ready()[: AT_ONCE - len(self._running)]:
                    begun = course.begin(step)
                    self._running[asyncio.create_task(self._run_step(begun, course.begun))] = begun
                run.watch(course.shown())
                if not self._running:
                    break
                left = max(run.started + run.limits.seconds - time.monotonic(), 0)
                await asyncio.wait({*self._running, stop}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                self._settle()
            # A limit reached when no step was left to run does not count, except the person's stop.
            is_done = not self._running and not course.ready()
            self.spent = None if is_done and run.spent is not Spent.STOPPED else run.spent
            self.spent = self.spent or (Spent.STEPS if course.is_cut_short else None)
            await self._hand_over()
            self.spent = self.spent or run.refused
        finally:
            await end(stop, *self._running)
        course.close()
        run.watch(course.shown())

    def _hear(self, step_id: str, done: int, total: int) -> None:
        self.course.progress[step_id] = (done, total)
        self.context.run.watch(self.course.shown())

    def _settle(self) -> None:
        for task in [task for task in self._running if task.done()]:
            self._running.pop(task)
            self.course.settle(task.result())
        self.context.run.watch(self.course.shown())

    async def _run_step(self, begun: StepRun, number: int) -> StepRun:
        problem, payload, stopped, step = "", FactsPayload(), False, begun.step
        history, room = step_budget(
            self.budget,
            step_number=number,
            total_steps=max(len(self.course.steps), number),
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
        ended = begun.ended(payload, problem, stopped=stopped)
        log.info(  # named as in seed 3, "Логирование"
            "complex_query.step_completed",
            step_id=step.id,
            action=step.action,
            step_number=number,
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
            self.course.settle(begun.ended(kept, problem, stopped=run.stop.is_set()))
        self._settle()
