"""Question, dialogue, entities and documents -> a plan that can be run, usually in one call of a model.

In: a `PlanningRequest`. Out: `Planned`. Only what code cannot put right is asked for again, exactly once; after that
there is one search (seed 4, section 6.4). In the messages the constant rules come first, for caches, and what people
and documents have said stands between tags.
"""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import date
from enum import StrEnum
from functools import cached_property
from itertools import count

import structlog

from prompts.loader import Prompts
from prompts.wordings import GENERAL, Intent
from rag.dialogue import likest
from rag.entities import RegistryResolver
from rag.planning.mending import CONVERSATION, Known, PlanMender, PlanningRequest, alias_of
from rag.planning.plain_planner import PlainPlanner, asked_before, default_plan, rest_of
from rag.planning.plain_requests import Breadth
from rag.planning.plan import SEARCH, QueryKind, QueryPlan, RenderStyle, Step, plan_schema, template
from rag.planning.tool import AnyTool
from rag.ports import ChatModel, Dialogue, ModelError, ModelMisfit, ModelNonsense
from rag.records import ChatMessage, DocumentMatch, Exchange, SmallTalk
from rag.retrieval.alike import told_apart
from rag.small_talk import SmallTalkRule
from rag.words import estimate_tokens, fence, without_headings

_REPAIR = (
    "This plan cannot be run:\n{problems}\nCorrect the JSON so that it fits the schema and these remarks. If you are "
    "unsure, plan a search of the base (intent {general}, tool {tool}). Answer with the JSON object alone."
)

ANSWER_CHARS = 600  # of an earlier answer: its subject matters here, not every detail
ANSWER_END_CHARS = 120  # of its end: the last line may say how much was left out
RECALLED = 2  # exchanges of long ago; the writer sees more of them
NAME_CHARS = 90  # of a document's name

log = structlog.get_logger()


class PlanOrigin(StrEnum):
    """Where a plan came from."""

    MODEL = "model"
    REPAIRED = "repaired"  # the model's second try
    DEFAULT = "default"  # no model, or two bad plans
    COURTESY = "courtesy"  # a greeting, thanks: nothing was planned


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A plan that can be run."""

    plan: QueryPlan
    origin: PlanOrigin
    problems: tuple[str, ...] = ()  # of the rejected plans
    small_talk: SmallTalk | None = None  # set where the message is nothing else, and the plan does not say otherwise


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
        entities: RegistryResolver | None = None,
        needs_sign: bool = False,
    ) -> None:
        """`threshold`: a plan of lower confidence is asked for again (PLAN_CONFIDENCE_THRESHOLD). `entities` looks up
        ids that the model did not take from its list. `needs_sign`: SEARCH_POLICY=explicit."""
        self._model = model
        self._tools = {tool.name: tool for tool in tools}
        self._mender = PlanMender(
            tools=self._tools, intents=intents, threshold=threshold, resolver=entities, needs_sign=needs_sign
        )
        self._plain = PlainPlanner(self._tools, breadth, small_talk)
        self._breadth = breadth
        self._small_talk = small_talk
        self._schema = plan_schema([tool.name for tool in tools if tool.is_offered], intents, with_sign=needs_sign)

    def courtesy(self, question: str) -> Planned | None:
        """The plan for a message that is a greeting, thanks or a farewell and nothing else; None for any other."""
        kind = self._small_talk.kind(question)
        if kind not in (SmallTalk.GREETING, SmallTalk.THANKS, SmallTalk.FAREWELL):
            return None
        plan = QueryPlan(question=question, intents=(CONVERSATION,), render_style=RenderStyle.SHORT, confidence=1.0)
        return Planned(plan=plan, origin=PlanOrigin.COURTESY, small_talk=kind)

    async def plan(self, request: PlanningRequest) -> Planned:
        """Always a plan that can be run; failures of the model are never raised."""
        if self._model is None:
            planned = Planned(plan=self._plain.plan(request), origin=PlanOrigin.DEFAULT)
        else:
            planned = await self._ask(self._model, request)
        plan, rest = planned.plan, rest_of(request.question, request.known.dialogue.window, self._breadth)
        if rest and planned.origin is not PlanOrigin.DEFAULT:  # a model may forget or miscount where the list stopped
            plan = plan.model_copy(update={"limits": plan.limits.model_copy(update={"skip": rest[1]})})
        return replace(planned, plan=plan, small_talk=self._talk(plan, request))

    def _talk(self, plan: QueryPlan, request: PlanningRequest) -> SmallTalk | None:
        """The kind of small talk; None where the plan says what the message wants. A plan that only searches the raw
        message does not say it. A plan without calls answers «а когда?» from the dialogue, so None then."""
        kind = self._small_talk.kind(request.question)
        if plan.steps or plan.clarification or plan.limits.skip or kind is None:
            return None
        if kind is SmallTalk.MORE and plan.question == asked_before(request.known.dialogue.window, self._small_talk):
            return kind
        if plan.tool_calls == default_plan(request.question).tool_calls:
            return SmallTalk.LEANING if kind is SmallTalk.MORE else kind
        return kind if not plan.tool_calls and kind not in (SmallTalk.MORE, SmallTalk.LEANING) else None

    async def _ask(self, model: ChatModel, request: PlanningRequest) -> Planned:
        """The model's plan, or its second one; after that one search, by the kind that a rejected plan named."""
        messages, problems, made = request.messages, list[str](), None
        for origin in (PlanOrigin.MODEL, PlanOrigin.REPAIRED):
            answer, found = "", tuple[str, ...]()
            try:
                said = await model.structured(messages, self._schema, corrected=False)
                made, found = await self._mender.mend(said, request)
                if not found:
                    return Planned(plan=self._complete(made), origin=origin, problems=tuple(problems))
                answer = said.model_dump_json(exclude_unset=True)
            except ModelMisfit as misfit:
                answer, found = misfit.answer, tuple(misfit.problems.splitlines())
            except ModelNonsense as nonsense:
                found = (str(nonsense),)
            except ModelError as error:
                log.warning("planner.failed", model=model.name, reason=type(error).__name__)
                problems.append(f"no plan: {type(error).__name__}")
                break
            problems += found
            listed = "\n".join(f"- {line.removeprefix('- ')}" for line in found)
            remarks = _REPAIR.format(problems=listed, general=GENERAL, tool=SEARCH)
            shown = (ChatMessage(role="assistant", content=answer),) if answer else ()
            messages = (*request.messages, *shown, ChatMessage(role="user", content=remarks))
        log.info("planner.default_plan", model=model.name, problems=len(problems))
        plan = default_plan(request.question, self._small_talk.sought(request.question))
        if made:
            plan = plan.model_copy(update={"render_style": made.render_style, "kind": made.kind})
        told = tuple(dict.fromkeys(problems))
        return Planned(plan=self._complete(plan), origin=PlanOrigin.DEFAULT, problems=told)

    def _complete(self, plan: QueryPlan) -> QueryPlan:
        """Steps from the kind's template where the model named only a kind (several calls of an analytical plan, or a
        slow one, are its own way), and for calls of which one is slow, so that the person can watch and stop it."""
        is_slow = any(self._tools[call.tool].is_slow for call in plan.tool_calls)
        is_told = plan.kind is QueryKind.ANALYTICAL and (is_slow or len(plan.tool_calls) > 1)
        steps = plan.steps or (() if plan.clarification or is_told else template(plan.kind, plan.question, self._tools))
        if not steps and is_slow:
            calls = enumerate(plan.tool_calls, start=1)
            steps = tuple(Step(id=str(place), action=call.tool, params=call.args) for place, call in calls)
        return plan.model_copy(update={"steps": steps, "tool_calls": ()}) if steps else plan


@dataclass(frozen=True)
class PlannerPrompt:
    """The planner's messages for one installation; its rules are filled once."""

    prompts: Prompts
    _: KW_ONLY
    tools: Sequence[AnyTool]
    policy: str  # a value of SEARCH_POLICY
    max_calls: int
    threshold: float
    dialogue_tokens: int  # that the dialogue takes at most

    @cached_property
    def _rules(self) -> ChatMessage:
        tools = "\n\n".join(f"{tool.name}: {tool.about}" for tool in self.tools if tool.is_offered)
        policy, bounds = self.prompts.policies[self.policy], {"max_calls": self.max_calls, "threshold": self.threshold}
        return ChatMessage(role="system", content=self.prompts.planner.fill(policy=policy, tools=tools, **bounds))

    def messages(self, question: str, known: Known, *, today: date) -> tuple[ChatMessage, ...]:
        """Rules, then one message with the dialogue, the entities and documents that may be meant, and the question."""
        labels = told_apart([each.opening for each in known.documents], characters=60)
        parts = {
            "dialogue so far": _dialogue_text(known.dialogue, question, self.dialogue_tokens),
            "known entities": "\n".join(f"{each.id} ({each.name})" for each in known.entities),
            f"documents ({len(known.documents)} of {known.total})": "\n".join(
                map(_document_line, count(), known.documents, labels)
            ),
        }
        tag = fence("said", question, *parts.values())
        told = "".join(
            f"<{tag} {name}>\n{without_headings(text)}\n</{tag}>\n\n" for name, text in parts.items() if text
        )
        filled = self.prompts.planner_question.fill(known=told, today=today.isoformat(), fence=tag, question=question)
        return (self._rules, ChatMessage(role="user", content=filled))


def _document_line(place: int, match: DocumentMatch, label: str) -> str:
    """«d1: 117.docx; Договор поставки, 2025-03-01, 4 p.; 117 · Лазурит» Names are people's text: one line each."""
    title, name = (" ".join(each.split())[:NAME_CHARS] for each in (match.title, match.name))
    told = (
        title if title and title != name else match.source_type.value,
        match.published_at.date().isoformat() if match.published_at else "",
        f"{match.pages} p." if match.pages else "",
    )
    about = "; ".join(filter(None, (", ".join(filter(None, told)), label)))
    return f"{alias_of(place)}: {name or title}; {about}"


def _dialogue_text(dialogue: Dialogue, question: str, tokens: int) -> str:
    """Summary, recalled exchanges, then the newest exchanges that fit, oldest first; empty for a new dialogue."""
    left = tokens - estimate_tokens(dialogue.summary)
    kept: list[str] = []
    for exchange in reversed(dialogue.window):
        left -= estimate_tokens(text := _exchange_text(exchange))
        if left < 0:
            break
        kept.append(text)
    summary = f"Summary of what was said before: {dialogue.summary}" if dialogue.summary else ""
    recalled = likest(dialogue.recalled, question)[:RECALLED]
    long_ago = (f"Said long ago:\n{_exchange_text(exchange)}" for exchange in recalled)
    return "\n\n".join(filter(None, (summary, *long_ago, *reversed(kept))))


def _exchange_text(exchange: Exchange) -> str:
    said = []
    for text in (exchange.question, exchange.answer):
        shorter = f"{text[: ANSWER_CHARS - ANSWER_END_CHARS].rstrip()} … {text[-ANSWER_END_CHARS:].lstrip()}"
        said.append(text if len(text) <= ANSWER_CHARS else shorter)
    return "Person: {}\nBaza: {}".format(*said)
