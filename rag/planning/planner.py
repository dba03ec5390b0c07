"""Question, dialogue and entities -> a checked plan, usually in one call of a model.

In: a `PlanningRequest`. Out: `Planned`: the plan, its origin, and the problems on the way. When the answer is no plan,
or an invalid or doubtful one, the model is asked exactly once more and shown the problems. After that, and wherever no
model answers, there is an emergency plan (seed 4, section 6.4): one search, or a reading of all documents where the
question is about all of them. No word of the question decides an intent; `breadth` decides how far a reading goes, and
`small_talk` which part of a message is no question.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import structlog

from domain.ids import BaseId
from prompts.intents import GENERAL, Intent
from prompts.wordings import language_of
from rag.errors import ModelError, ModelMisfit, ModelNonsense
from rag.planning.breadth import Breadth, Reach
from rag.planning.entity_ids import EntityIds, Mended
from rag.planning.plan import (
    MAX_ITEMS,
    AnswerStyle,
    Fallback,
    FollowUp,
    Limits,
    QueryKind,
    QueryPlan,
    RenderStyle,
    Step,
    ToolCall,
)
from rag.planning.rest import Rest, rest_of
from rag.planning.steps import LIST, READ, SURVEY, template, to_the_end
from rag.planning.validation import plan_problems
from rag.planning.wire import AnyTool, from_wire, wire_schema
from rag.ports import ChatModel, EntityResolver
from rag.records import ChatMessage, Exchange, SmallTalk
from rag.small_talk import SmallTalkRule

SEARCH_TOOL = "rag_db_query"
_REPAIR = (
    "This plan cannot be run:\n{problems}\nCorrect the JSON so that it fits the schema and these remarks. If you are "
    "unsure, plan a search of the base (intent {general}, tool {tool}). Answer with the JSON object alone."
)

_KIND = re.compile(rf'"kind"\s*:\s*"({"|".join(QueryKind)})"')

log = structlog.get_logger()


class PlanOrigin(StrEnum):
    """Where a plan came from."""

    MODEL = "model"
    REPAIRED = "repaired"  # the model's second try
    DEFAULT = "default"  # no model, or two bad plans


@dataclass(frozen=True, kw_only=True)
class PlanningRequest:
    """The planner's input."""

    question: str  # as it was asked, normalised
    messages: tuple[ChatMessage, ...]  # the planner's prompt, with dialogue and entities
    entity_ids: tuple[str, ...]  # those that the question was resolved to
    base_id: BaseId | None = None  # where other ids that the plan names are looked up
    has_dialogue: bool = False  # whether there is a dialogue that the question may depend on
    window: tuple[Exchange, ...] = ()  # the last exchanges of the dialogue


@dataclass(frozen=True, kw_only=True)
class _Proposal:
    """The model's answer; the plan can be run when there are no problems."""

    plan: QueryPlan | None = None
    answer: str = ""  # as the model wrote it; empty when it wrote nothing
    problems: tuple[str, ...] = ()

    @property
    def sound(self) -> QueryPlan | None:
        """The plan if it can be run, else None."""
        return None if self.problems else self.plan

    @property
    def kind(self) -> QueryKind | None:
        """Also found in an answer that is no valid plan: the strategy of that kind is still useful."""
        if self.plan:
            return self.plan.kind
        said = _KIND.search(self.answer)
        return QueryKind(said[1]) if said else None


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A plan that can be run."""

    plan: QueryPlan
    origin: PlanOrigin
    problems: tuple[str, ...] = ()  # of the rejected plans
    small_talk: SmallTalk | None = None  # set where the message is nothing else, and the plan does not say otherwise
    subject: str = ""  # the plan's question without interrogatives


class Planner:
    """Plans turns; one object serves any number of them concurrently."""

    def __init__(
        self,
        model: ChatModel | None,
        *,
        tools: Sequence[AnyTool],
        intents: Mapping[str, Intent],
        threshold: float,
        breadth: Breadth,
        small_talk: SmallTalkRule,
        entities: EntityResolver | None = None,
    ) -> None:
        """`threshold`: a plan of lower confidence is asked for again (PLAN_CONFIDENCE_THRESHOLD). `entities` looks up
        ids that the model did not take from its list."""
        self._model = model
        self._ids = EntityIds(entities) if entities else None
        self._tools = {tool.name: tool for tool in tools}
        self._intents = intents
        self._threshold = threshold
        self._breadth = breadth
        self._small_talk = small_talk
        self._schema = wire_schema([tool for tool in tools if tool.is_offered], intents)

    async def plan(self, request: PlanningRequest) -> Planned:
        """Always a plan that can be run; failures of the model are never raised."""
        planned = self._from_where_it_stopped(await self._planned(request), request)
        plan = planned.plan
        talk, subject = self._talk(plan, request), self._small_talk.subject(plan.question)
        planned = replace(planned, small_talk=talk, subject=subject)
        if plan.steps and self._breadth.reach(request.question, plan.question) is not Reach.ENOUGH:
            return replace(planned, plan=to_the_end(plan, self._tools))
        return planned

    def _talk(self, plan: QueryPlan, request: PlanningRequest) -> SmallTalk | None:
        """The kind of small talk; None where the plan says what the message wants. A plan that only searches the raw
        message does not say it. A plan without calls answers «а когда?» from the dialogue, so None then."""
        kind = self._small_talk.kind(request.question)
        if plan.steps or plan.clarification or plan.limits.skip or kind is None:
            return None
        if kind is SmallTalk.MORE and plan.question == self._asked_before(request):
            return kind
        if plan.tool_calls == default_plan(request.question).tool_calls:
            return SmallTalk.LEANING if kind is SmallTalk.MORE else kind
        return kind if not plan.tool_calls and kind not in (SmallTalk.MORE, SmallTalk.LEANING) else None

    def _asked_before(self, request: PlanningRequest) -> str:
        """The last message of the window that was no small talk; empty when there is none."""
        asked = (each.question for each in reversed(request.window))
        return next((question for question in asked if not self._small_talk.kind(question)), "")

    def _from_where_it_stopped(self, planned: Planned, request: PlanningRequest) -> Planned:
        """When the person asks for the rest of a list, takes `skip` from the answer that offered it: a model may forget
        or miscount."""
        rest = rest_of(request.question, request.window, self._breadth)
        if rest is None or planned.origin is PlanOrigin.DEFAULT:
            return planned
        limits = planned.plan.limits.model_copy(update={"skip": rest.shown})
        return replace(planned, plan=planned.plan.model_copy(update={"limits": limits}))

    async def _planned(self, request: PlanningRequest) -> Planned:
        if self._model is None:
            return Planned(plan=self._emergency_plan(request), origin=PlanOrigin.DEFAULT)
        try:
            return await self._ask(self._model, request)
        except ModelError as error:
            log.warning("planner.failed", model=self._model.name, reason=type(error).__name__)
            problem = f"no plan: {type(error).__name__}"
            return Planned(plan=self._emergency_plan(request), origin=PlanOrigin.DEFAULT, problems=(problem,))

    async def _ask(self, model: ChatModel, request: PlanningRequest) -> Planned:
        first = await self._propose(model, request.messages, request)
        if plan := first.sound:
            return Planned(plan=self._complete(plan), origin=PlanOrigin.MODEL)
        second = await self._propose_again(model, _repair(request, first), request)
        if plan := second.sound:
            return Planned(plan=self._complete(plan), origin=PlanOrigin.REPAIRED, problems=first.problems)
        log.info("planner.default_plan", model=model.name, problems=len(second.problems))
        plan = self._emergency_plan(request, made=second.plan or first.plan, kind=second.kind or first.kind)
        return Planned(plan=plan, origin=PlanOrigin.DEFAULT, problems=(*first.problems, *second.problems))

    def _emergency_plan(
        self, request: PlanningRequest, *, made: QueryPlan | None = None, kind: QueryKind | None = None
    ) -> QueryPlan:
        """Made from what the rejected plans said (`made`, `kind`) and from the reach of the question. A question that
        depends on the dialogue is searched as it stands: only a model could tell its subject."""
        rest = None if made else rest_of(request.question, request.window, self._breadth)
        if rest and (listing := self._listing(rest.question)):
            return self._from(listing, rest)
        if talk := self._small_talk.kind(request.question):
            before = self._asked_before(request) if talk is SmallTalk.MORE else ""
            return self._plan_for_more(before) if before else default_plan(request.question)
        if not made and (listing := self._documents(request.question)):
            return listing
        sought = self._small_talk.sought(request.question)
        plan = default_plan(request.question, sought)
        if made:
            plan = plan.model_copy(update={"render_style": made.render_style})
        if kind not in (None, QueryKind.SIMPLE):
            return self._complete(plan.model_copy(update={"kind": kind}))
        leans = made.follow_up is FollowUp.EXPLICIT if made else self._breadth.leans(sought)
        if self._breadth.reach(request.question) is not Reach.ALL or (request.has_dialogue and leans):
            return plan
        return self._complete(self._plan_for_all(plan))

    def _plan_for_more(self, before: str) -> QueryPlan:
        """Lists the documents again, or searches `before` again. Where that answer showed one place in each document,
        the search is for the subject alone, which finds other places."""
        sought = self._small_talk.sought(before)
        if self._breadth.reach(before) is Reach.ALL:
            sought = self._breadth.subject(sought)
        return self._documents(before) or default_plan(before, sought)

    def _listing(self, question: str) -> QueryPlan | None:
        """The emergency plan for `question` if its answer may have been a list, else None."""
        if self._breadth.reach(question) is Reach.ALL and not self._small_talk.asks_for_documents(question):
            return self._complete(self._plan_for_all(default_plan(question, self._small_talk.sought(question))))
        return self._documents(question)

    def _documents(self, question: str) -> QueryPlan | None:
        """A plan that lists the documents, when the question asks for that and nothing else (a search with its words
        would find no document); else None."""
        if LIST not in self._tools or not self._small_talk.asks_for_documents(question):
            return None
        changes = {
            "tool_calls": (ToolCall(tool=LIST),),
            "render_style": RenderStyle.BULLETS,
            "limits": Limits(max_items=MAX_ITEMS),
        }
        return default_plan(question).model_copy(update=changes)

    def _from(self, plan: QueryPlan, rest: Rest) -> QueryPlan:
        """The same list, continued from where it stopped."""
        return plan.model_copy(update={"limits": plan.limits.model_copy(update={"skip": rest.shown})})

    def _plan_for_all(self, plan: QueryPlan) -> QueryPlan:
        """Reads the documents one by one where there is a tool for it; otherwise searches each of them."""
        style = RenderStyle.BULLETS if plan.render_style is RenderStyle.SHORT else plan.render_style
        changes: dict[str, object] = {"render_style": style, "limits": Limits(max_items=MAX_ITEMS)}
        if SURVEY in self._tools:
            changes["fallback"] = Fallback(tool=SURVEY)
        if READ in self._tools:
            changes["kind"] = QueryKind.ANALYTICAL
        elif SURVEY in self._tools:
            changes["tool_calls"] = tuple(ToolCall(tool=SURVEY, args=call.args) for call in plan.tool_calls)
        return plan.model_copy(update=changes)

    async def _propose(self, model: ChatModel, messages: Sequence[ChatMessage], request: PlanningRequest) -> _Proposal:
        """One call. Raises ModelError when the model does not answer."""
        try:
            answer = await model.structured(messages, self._schema, corrected=False)
        except ModelMisfit as misfit:
            return _Proposal(answer=misfit.answer, problems=tuple(misfit.problems.splitlines()))
        except ModelNonsense as nonsense:
            return _Proposal(problems=(str(nonsense),))
        plan = from_wire(answer)
        mended = await self._mended(plan, request)
        return _Proposal(
            plan=mended.plan, answer=plan.model_dump_json(), problems=self._problems(mended, request.entity_ids)
        )

    async def _propose_again(
        self, model: ChatModel, messages: Sequence[ChatMessage], request: PlanningRequest
    ) -> _Proposal:
        """The second call. ModelError becomes a problem: the first answer may still tell the kind of the question."""
        try:
            return await self._propose(model, messages, request)
        except ModelError as error:
            return _Proposal(problems=(f"no plan: {type(error).__name__}",))

    async def _mended(self, plan: QueryPlan, request: PlanningRequest) -> Mended:
        if self._ids is None or request.base_id is None:
            return Mended(plan=plan)
        return await self._ids.mend(plan, request.base_id, listed=request.entity_ids)

    def _complete(self, plan: QueryPlan) -> QueryPlan:
        """Adds steps from the kind's template where the model named only a kind. Turns the calls into steps when one is
        slow, so that the person can watch and stop it. A plan with steps has no calls."""
        steps = plan.steps or (() if plan.clarification else template(plan.kind, plan.question, self._tools))
        if not steps and any(self._tools[call.tool].is_slow for call in plan.tool_calls):
            steps = tuple(
                Step(id=str(place), action=call.tool, params=call.args)
                for place, call in enumerate(plan.tool_calls, start=1)
            )
        return plan.model_copy(update={"steps": steps, "tool_calls": ()}) if steps else plan

    def _problems(self, mended: Mended, entity_ids: Sequence[str]) -> tuple[str, ...]:
        problems = plan_problems(
            mended.plan,
            intents=self._intents,
            tools=self._tools,
            entity_ids=(*entity_ids, *mended.ids),
            threshold=self._threshold,
        )
        return (*problems, *mended.problems)


def default_plan(question: str, sought: str = "") -> QueryPlan:
    """The emergency plan of seed 4, section 6.4: one search for `sought`, or for the question as it stands."""
    return QueryPlan(
        question=question[:1000] or "?",
        intents=(GENERAL,),
        tool_calls=(ToolCall(tool=SEARCH_TOOL, args={"query": sought or question}),),
        fallback=Fallback(enabled=False),
        limits=Limits(),
        render_style=RenderStyle.SHORT,
        answer_style=AnswerStyle.NATURAL_EN if language_of(question) == "en" else AnswerStyle.NATURAL_RU,
        confidence=0.0,
    )


def _repair(request: PlanningRequest, made: _Proposal) -> tuple[ChatMessage, ...]:
    problems = "\n".join(f"- {line.removeprefix('- ')}" for line in made.problems)
    remarks = _REPAIR.format(problems=problems, general=GENERAL, tool=SEARCH_TOOL)
    shown = (ChatMessage(role="assistant", content=made.answer),) if made.answer else ()
    return (*request.messages, *shown, ChatMessage(role="user", content=remarks))
