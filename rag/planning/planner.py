"""Question, dialogue and entities -> a checked plan, in one call of a model as a rule.

In: a `PlanningRequest`. Out: `Planned`: the plan, who made it, and what was wrong on the way. An invalid or doubtful
plan is asked for once more with the problems shown; after that, and wherever no model answers, the default plan stands
(seed 4, section 6.4). No word of the question decides anything here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import structlog

from prompts.intents import GENERAL, Intent
from rag.errors import ModelError
from rag.planning.plan import Fallback, Limits, QueryPlan, RenderStyle, Step, ToolCall
from rag.planning.steps import template
from rag.planning.validation import plan_problems
from rag.planning.wire import AnyTool, from_wire, wire_schema
from rag.ports import ChatModel
from rag.records import ChatMessage

SEARCH_TOOL = "rag_db_query"
_REPAIR = (
    "This plan cannot be run:\n{problems}\nCorrect the JSON so that it fits the schema and these remarks. If you are "
    "unsure, plan a search of the base (intent {general}, tool {tool}). Answer with the JSON object alone."
)

log = structlog.get_logger()


class PlanOrigin(StrEnum):
    """Where a plan came from."""

    MODEL = "model"
    REPAIRED = "repaired"  # the model's second try
    DEFAULT = "default"  # no model, or two bad plans


@dataclass(frozen=True, kw_only=True)
class PlanningRequest:
    """What the planner is asked."""

    question: str  # as it was asked, normalised
    messages: tuple[ChatMessage, ...]  # the planner's prompt, with dialogue and entities
    entity_ids: tuple[str, ...]  # that the question was resolved to


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A plan that can be run."""

    plan: QueryPlan
    origin: PlanOrigin
    problems: tuple[str, ...] = ()  # of the plans that were thrown away


class Planner:
    """Plans one turn at a time, any number side by side."""

    def __init__(
        self,
        model: ChatModel | None,
        *,
        tools: Sequence[AnyTool],
        intents: Mapping[str, Intent],
        threshold: float,
    ) -> None:
        """`threshold`: plans of lower confidence are asked for again (PLAN_CONFIDENCE_THRESHOLD)."""
        self._model = model
        self._tools = {tool.name: tool for tool in tools}
        self._intents = intents
        self._threshold = threshold
        self._schema = wire_schema(tools, intents)

    async def plan(self, request: PlanningRequest) -> Planned:
        """Always a plan that can be run; a model's trouble is never the person's."""
        if self._model is None:
            return Planned(plan=default_plan(request.question), origin=PlanOrigin.DEFAULT)
        try:
            return await self._ask(self._model, request)
        except ModelError as error:
            log.warning("planner.failed", model=self._model.name, reason=type(error).__name__)
            problem = f"no plan: {type(error).__name__}"
            return Planned(plan=default_plan(request.question), origin=PlanOrigin.DEFAULT, problems=(problem,))

    async def _ask(self, model: ChatModel, request: PlanningRequest) -> Planned:
        first = from_wire(await model.structured(request.messages, self._schema))
        problems = self._problems(first, request)
        if not problems:
            return Planned(plan=self._complete(first), origin=PlanOrigin.MODEL)
        second = from_wire(await model.structured(_repair(request, first, problems), self._schema))
        remaining = self._problems(second, request)
        if not remaining:
            return Planned(plan=self._complete(second), origin=PlanOrigin.REPAIRED, problems=problems)
        log.info("planner.default_plan", model=model.name, problems=len(remaining))
        plan = default_plan(request.question, style=second.render_style).model_copy(update={"kind": second.kind})
        return Planned(plan=self._complete(plan), origin=PlanOrigin.DEFAULT, problems=(*problems, *remaining))

    def _complete(self, plan: QueryPlan) -> QueryPlan:
        """A plan of several steps has no calls beside them; where the model named a kind alone, its template serves.
        A call that takes long becomes a step, so that it can be watched and stopped."""
        steps = plan.steps or (() if plan.clarification else template(plan.kind, plan.question, self._tools))
        if not steps and any(self._tools[call.tool].is_slow for call in plan.tool_calls):
            steps = tuple(
                Step(id=str(place), action=call.tool, params=call.args)
                for place, call in enumerate(plan.tool_calls, start=1)
            )
        return plan.model_copy(update={"steps": steps, "tool_calls": ()}) if steps else plan

    def _problems(self, plan: QueryPlan, request: PlanningRequest) -> tuple[str, ...]:
        return plan_problems(
            plan,
            intents=self._intents,
            tools=self._tools,
            entity_ids=request.entity_ids,
            threshold=self._threshold,
        )


def default_plan(question: str, *, style: RenderStyle = RenderStyle.SHORT) -> QueryPlan:
    """The emergency plan of seed 4, section 6.4: one search with the question as it stands."""
    return QueryPlan(
        question=question[:1000] or "?",
        intents=(GENERAL,),
        tool_calls=(ToolCall(tool=SEARCH_TOOL, args={"query": question}),),
        fallback=Fallback(enabled=False),
        limits=Limits(),
        render_style=style,
        confidence=0.0,
    )


def _repair(request: PlanningRequest, plan: QueryPlan, problems: Sequence[str]) -> tuple[ChatMessage, ...]:
    remarks = _REPAIR.format(problems="\n".join(f"- {line}" for line in problems), general=GENERAL, tool=SEARCH_TOOL)
    return (
        *request.messages,
        ChatMessage(role="assistant", content=plan.model_dump_json()),
        ChatMessage(role="user", content=remarks),
    )
