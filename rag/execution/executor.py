"""Runs a plan: its calls concurrently, or its steps as their dependencies allow, then the fallback.

In: a `QueryPlan`, the turn's context, and perhaps an early search that began before the plan was made. Out:
`Execution`: the facts and the result of each call. It asks no model itself and writes nothing.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import structlog

from domain.ending import end, together
from rag.execution.course import Course, gaps_of
from rag.execution.engine import StepEngine
from rag.execution.facts import ROWS, Fact, FactKind, FactsPayload, fuse, limit, merge, shortlist, weighed
from rag.execution.search_tool import SearchArguments, coverage_by_document, half_found, second_hop
from rag.execution.tools import AnyTool, Spent, StepFailed, ToolContext
from rag.metering import StepMetrics
from rag.planning.plan import LIST, MAX_ITEMS, SEARCH, FallbackReason, QueryKind, QueryPlan, RenderStyle, ToolCall
from rag.planning.tool import ToolMisused
from rag.progress import StepShown
from rag.words import stems

LOW_COVERAGE = 0.5
"""Less than half of the question's words in the results. Seed 4 names the case but no number; this is the middle."""

LIMITS = frozenset(SearchArguments.model_fields) - {"query"}
"""Arguments that narrow a search; the fallback has none of them."""

STEP_TOKENS = 12_000  # PROMPT_TOKENS is the same by default
SEARCHES = 2  # of a simple question, which has one part or two (DESIGN, section 6)
INSIDE = 4  # passages that a second search inside a found document adds

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

    @property
    def is_telling(self) -> bool:
        """Whether it brought anything, be it a remark."""
        return bool(self.payload.found or self.payload.remarks or self.payload.unread)


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


class Executor:
    """Runs plans; one object serves any number of them concurrently."""

    def __init__(
        self, tools: Sequence[AnyTool], *, max_calls: int, step_tokens: int = STEP_TOKENS, is_shortened: bool = False
    ) -> None:
        """`max_calls` is MAX_TOOL_CALLS (seed 4, section 12: 3 to 5); the fallback is one of them. `step_tokens` limits
        the prompt of one step. `is_shortened`: what searches find is for a prompt (`facts.shortlist`)."""
        self._tools: Mapping[str, AnyTool] = {tool.name: tool for tool in tools}
        self._max_calls = max_calls
        self._step_tokens = step_tokens
        self._is_shortened = is_shortened

    async def execute(self, plan: QueryPlan, context: ToolContext) -> Execution:
        """Raises DatabaseAway. An early search that the plan cannot use is cancelled."""
        if plan.steps:
            return await self._execute_steps(plan, context)
        # Each call once; SEARCHES for a simple question, `max_calls` in all and for an analytical one.
        distinct = list({call.model_dump_json(): call for call in plan.tool_calls}.values())
        searches = [call for call in distinct if call.tool == SEARCH]
        beyond = searches[SEARCHES if plan.kind is QueryKind.SIMPLE else self._max_calls :]
        calls = [call for call in distinct if call not in beyond][: self._max_calls]
        dropped = [f"«{call.args.get('query') or call.tool}»" for call in distinct if call not in calls]
        groups = _grouped(calls, context.own_words)
        searched = [*chain(*groups), *([_fallback_call(plan)] if plan.fallback.enabled else [])]
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
            results.append([await self._run(_fallback_call(plan), context, is_fallback=True)])
            telling = ([each for each in group if each.is_telling] for group in results)
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
        engine = StepEngine(call=call, budget=self._step_tokens, course=course, context=context)
        await engine.run()
        results = [
            CallResult(call=each.step.call, payload=each.payload, seconds=each.seconds, problem=each.problem)
            for each in course.finished
        ]
        tools = {each.call.tool for each in results if each.payload.found}
        # Only the list of documents is nothing, where other steps were to find something else.
        found_nothing = not tools or (tools == {LIST} and any(each.call.tool != LIST for each in results))
        if found_nothing and not engine.spent:
            results.append(await self._run(_fallback_call(plan), context, is_fallback=True))
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
        documents = half_found(facts, planned.query) if self._is_shortened else ()
        inside = [await search(documents=[document]) for document in documents]
        if hop := second_hop(facts, planned.query, in_alike=not self._is_shortened):
            further = await search(query=hop.query)
            reached = tuple(fact for fact in further.payload.facts if hop.reaches(fact))
            inside.append(replace(further, payload=replace(further.payload, facts=reached), is_second_hop=True))
        first[:0] = [replace(each, payload=replace(each.payload, facts=each.payload.facts[:INSIDE])) for each in inside]

    def _together(self, results: Sequence[Sequence[CallResult]], plan: QueryPlan) -> FactsPayload:
        """Each group is fused and shortened by itself; then all are merged."""
        is_short = plan.render_style is RenderStyle.SHORT
        planned = [([each.call for each in group if not each.is_added], group) for group in results]
        return merge([self._short(calls, _fused(group), is_short=is_short) for calls, group in planned])

    def _short(self, calls: Sequence[ToolCall], payload: FactsPayload, *, is_short: bool) -> FactsPayload:
        """Each search by itself: scores of different searches do not compare. `calls`: of the plan, one for each part
        of the question."""
        if not self._is_shortened or any(call.tool != SEARCH for call in calls):
            return payload
        return shortlist(payload, is_short=is_short, sought=[str(call.args.get("query", "")) for call in calls])

    async def _call(self, call: ToolCall, context: ToolContext) -> FactsPayload:
        """What is of the documents that the person has limited the question to, or of none (a sum)."""
        if context.early and _is_early(call, context):
            return await context.early
        tool, only = self._tools.get(call.tool), context.only
        if tool is None:
            raise ToolMisused(f"unknown tool {call.tool}")
        payload = await tool.run(tool.read(tool.within(call.args, only)), context)
        if not only:
            return payload
        return replace(payload, facts=tuple(fact for fact in payload.facts if fact.document in (None, *only)))

    def _needs_fallback(self, plan: QueryPlan, payload: FactsPayload, calls: Sequence[ToolCall]) -> bool:
        """False also when the plan calls nothing, or the same search was made already."""
        if not plan.fallback.enabled or not calls or len(calls) >= self._max_calls:
            return False
        if any(_is_search_for(call, plan.question) for call in calls):
            return False
        if not payload.found:
            return FallbackReason.NO_RESULTS in plan.fallback.when
        return payload.coverage < LOW_COVERAGE and FallbackReason.LOW_COVERAGE in plan.fallback.when


def _grouped(calls: Sequence[ToolCall], own_words: str) -> list[list[ToolCall]]:
    """Searches within the same limits together, and with them one more in the person's own words where none has these;
    other calls by themselves."""
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
    """A remark for the model when only the fallback found something: the fallback ignores the plan's dates and names,
    which may be the planner's mistake, or may be what the person meant."""
    limits = [f"{name}: {value}" for call in calls for name, value in call.args.items() if name in LIMITS and value]
    told = ", ".join(dict.fromkeys(limits))
    text = f"Within the limits ({told}) this search found nothing. What follows was found without them."
    return (Fact(kind=FactKind.VALUE, text=text),) if limits else ()


def _fallback_call(plan: QueryPlan) -> ToolCall:
    return ToolCall(tool=plan.fallback.tool, args={"query": plan.question})


def _is_search_for(call: ToolCall, question: str) -> bool:
    """A search without filters for exactly the words of a question, regardless of order and endings."""
    query = call.args.get("query")
    is_plain = call.tool == SEARCH and not any(value for name, value in call.args.items() if name != "query")
    return is_plain and isinstance(query, str) and stems(query) == stems(question)


def _is_early(call: ToolCall, context: ToolContext) -> bool:
    """Whether the early search serves it: the planner often only drops a word of politeness, which does not change the
    results."""
    return context.early is not None and not context.early.cancelling() and _is_search_for(call, context.question)
