"""Puts a plan right with what this installation and this base have.

In: a `QueryPlan` as the model meant it, and the request. Out: a plan that can be run: intents, arguments, ids of
entities and documents, dependencies of steps; and problems, in words that the model can act on, only where code cannot
tell what was meant (seed 4, section 6.4).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import structlog
from pydantic import JsonValue

from domain.ids import BaseId
from prompts.wordings import GENERAL, Intent, language_of
from rag.entities import RegistryResolver
from rag.planning.plan import (
    ALL_PREVIOUS,
    ANALYZE,
    ANYTHING,
    GRAPH,
    MAX_STEPS,
    SEARCH,
    AnswerStyle,
    Clarification,
    FollowUp,
    Limits,
    PlannedEntity,
    QueryPlan,
    RenderStyle,
    Step,
    ToolCall,
    in_order,
    needs,
)
from rag.planning.tool import AnyTool, ToolMisused
from rag.ports import Dialogue
from rag.records import ChatMessage, DocumentMatch, KnownEntity
from rag.retrieval.alike import choices
from rag.words import folded

ENTITY, INTENT = "entity_id", "intent"
OF_DOCUMENTS = ("document", "documents")  # arguments that name documents
CONVERSATION = "CONVERSATION"  # the one intent that needs nothing of the base

Arguments = Mapping[str, JsonValue]

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known before planning."""

    dialogue: Dialogue = field(default_factory=Dialogue)
    entities: tuple[KnownEntity, ...] = ()  # those that the question was resolved to
    documents: tuple[DocumentMatch, ...] = ()  # those that its words choose; the prompt calls them d1, d2 …
    total: int = 0  # documents of the base


@dataclass(frozen=True, kw_only=True)
class PlanningRequest:
    """The planner's input."""

    question: str  # as it was asked, normalised
    messages: tuple[ChatMessage, ...]  # the planner's prompt, with dialogue, entities and documents
    known: Known = field(default_factory=Known)
    base_id: BaseId | None = None  # where other ids that the plan names are looked up

    @property
    def aliases(self) -> Mapping[str, str]:
        """Short name in the prompt -> the document's id."""
        return {alias_of(place): match.id for place, match in enumerate(self.known.documents)}


def alias_of(place: int) -> str:
    """What the prompt calls the document at this place of the list: a model copies «d3» without a slip, a UUID not."""
    return f"d{place + 1}"


@dataclass(frozen=True, kw_only=True)
class Mended:
    """A plan; it can be run when there are no problems."""

    plan: QueryPlan
    problems: tuple[str, ...] = ()


@dataclass(kw_only=True)
class _Mending:
    """One plan on its way."""

    request: PlanningRequest
    found: dict[str, KnownEntity] = field(default_factory=dict)  # ids that the model did not copy exactly
    strange: dict[str, tuple[KnownEntity, ...]] = field(default_factory=dict)  # ids with no match, or several
    problems: list[str] = field(default_factory=list)


class PlanMender:
    """Mends the plans of one installation."""

    def __init__(
        self,
        tools: Mapping[str, AnyTool],
        intents: Mapping[str, Intent],
        *,
        threshold: float,
        resolver: RegistryResolver | None = None,
        needs_sign: bool = False,
    ) -> None:
        """`threshold` is PLAN_CONFIDENCE_THRESHOLD; `resolver` looks up ids that the prompt did not list; `needs_sign`:
        SEARCH_POLICY=explicit."""
        self._tools = tools
        self._intents = intents
        self._threshold = threshold
        self._resolver = resolver
        self._needs_sign = needs_sign

    async def mend(self, plan: QueryPlan, request: PlanningRequest) -> Mended:
        """At most one call of the database for each id that was not listed; usually none. Raises DatabaseAway."""
        work = _Mending(request=request)
        await self._look_up(plan, work)
        plan = self._named(plan, work)
        called = [self._arguments(call.tool, call.args, plan, work) for call in plan.tool_calls]
        calls = tuple(ToolCall(tool=tool, args=args) for tool, args in called)
        stepped = [(step, *self._arguments(step.action, step.params, plan, work)) for step in plan.steps]
        steps = ordered([step.model_copy(update={"action": tool, "params": args}) for step, tool, args in stepped])
        if ANALYZE in self._tools:
            steps = looked_at(steps, plan.question)
        plan = plan.model_copy(update={"tool_calls": calls, "steps": steps})
        if plan.confidence < self._threshold:
            work.problems.append(f"confidence {plan.confidence:g} is below {self._threshold:g}")
        return Mended(
            plan=self._as_allowed(_asked_back(plan, work), request), problems=tuple(dict.fromkeys(work.problems))
        )

    async def _look_up(self, plan: QueryPlan, work: _Mending) -> None:
        """Finds the entities behind ids that the prompt did not list: models make some up."""
        request = work.request
        listed = {each.id for each in request.known.entities}
        named = [*(entity.id for entity in plan.entities), *_ids_called(plan)]
        for strange in dict.fromkeys(id_ for id_ in named if id_ not in listed):
            likely: tuple[KnownEntity, ...] = ()
            if self._resolver is not None and request.base_id is not None:
                likely = await self._resolver.resolve(request.base_id, _as_question(strange))
            if meant := _meant(strange, likely):
                work.found[strange] = meant
            else:
                work.strange[strange] = likely
        if work.found:
            log.info("planner.ids_mended", ids=len(work.found))

    def _named(self, plan: QueryPlan, work: _Mending) -> QueryPlan:
        """Question, intents, entities and language; what is unknown becomes the general case or is left out."""
        known = {each.id: each for each in work.request.known.entities} | work.found
        intents = dict.fromkeys(name if name in self._intents else GENERAL for name in plan.intents) or (GENERAL,)
        named = {known[each.id].id: known[each.id] for each in plan.entities if each.id in known}
        changes: dict[str, object] = {
            "question": plan.question.strip() or work.request.question[:1000] or "?",
            "intents": tuple(intents),
            "entities": tuple(PlannedEntity(type=each.type, id=each.id, name=each.name) for each in named.values()),
        }
        usual = self._intents[next(iter(intents))]
        if "render_style" not in plan.model_fields_set:
            changes["render_style"] = RenderStyle(usual.style)
        if not plan.limits.model_fields_set:
            changes["limits"] = Limits(max_items=usual.items)
        if "answer_style" not in plan.model_fields_set:
            is_english = language_of(work.request.question) == "en"
            changes["answer_style"] = AnswerStyle.NATURAL_EN if is_english else AnswerStyle.NATURAL_RU
        if plan.fallback.tool not in self._tools:
            changes["fallback"] = plan.fallback.model_copy(update={"tool": SEARCH})
        return plan.model_copy(update=changes)

    def _arguments(
        self, name: str, given: Arguments, plan: QueryPlan, work: _Mending
    ) -> tuple[str, dict[str, JsonValue]]:
        """The tool and its arguments, put right; what still does not fit is a problem."""
        tool = self._tools.get(name) or self._tools.get(name.strip().lower())
        if tool is None:
            work.problems.append(f"unknown tool {name}")
            return name, dict(given)
        args: dict[str, JsonValue] = {key: value for key, value in given.items() if value is not None}
        if tool.name == GRAPH:
            args = self._about_entity(args, plan, work)
            strange = work.strange.get(str(args.get(ENTITY)))
            if strange == () and SEARCH in self._tools:  # nothing like it is known: the text may tell
                return SEARCH, {"query": plan.question}
            if strange:
                work.problems.append(_near(str(args[ENTITY]), strange))
        args = _with_questions(_with_documents(args, work.request.aliases), tool, plan.question)
        try:
            tool.read(args)
        except ToolMisused as error:
            work.problems.append(str(error))
        return tool.name, args

    def _about_entity(self, args: Arguments, plan: QueryPlan, work: _Mending) -> dict[str, JsonValue]:
        """Id and intent that stand elsewhere in the plan; an id that the model spelled otherwise."""
        named = args.get(ENTITY)
        meant = work.found.get(named) if isinstance(named, str) else None
        id_ = meant.id if meant else named or next((each.id for each in plan.entities), None)
        return {INTENT: plan.intents[0], **args, **({ENTITY: id_} if id_ else {})}

    def _as_allowed(self, plan: QueryPlan, request: PlanningRequest) -> QueryPlan:
        """A plan that asks of the base and calls nothing gets a search. Under SEARCH_POLICY=explicit the base is
        searched only where the plan quotes the question's own words that ask for it, and once."""
        if plan.clarification:
            return plan
        if self._needs_sign:
            if not is_quoted(plan.sign, request.question):
                return plan.model_copy(update={"tool_calls": (), "steps": ()})
            return plan.model_copy(update={"tool_calls": plan.tool_calls[:1] or (_search(plan),), "steps": ()})
        is_talk = plan.intents == (CONVERSATION,) or (
            plan.follow_up is FollowUp.EXPLICIT and CONVERSATION in plan.intents
        )
        if plan.tool_calls or plan.steps or is_talk or SEARCH not in self._tools:
            return plan
        return plan.model_copy(update={"tool_calls": (_search(plan),)})


def _search(plan: QueryPlan) -> ToolCall:
    return ToolCall(tool=SEARCH, args={"query": plan.question})


def _ids_called(plan: QueryPlan) -> list[str]:
    arguments = [*(call.args for call in plan.tool_calls), *(step.params for step in plan.steps)]
    return [value for each in arguments if isinstance(value := each.get(ENTITY), str) and value]


def _as_question(id_: str) -> str:
    """ "project:alor-broker" -> «alor-broker»: quotation marks make an ordinary word count as a name."""
    return f"«{id_.partition(':')[2] or id_}»"


def _meant(id_: str, likely: Sequence[KnownEntity]) -> KnownEntity | None:
    """The entity with exactly this id, else the only one of its type, else the only one; None when ambiguous."""
    of_type = [each for each in likely if each.type == id_.partition(":")[0]]
    exact = [each for each in likely if each.id == id_]
    only = exact or of_type or likely
    return only[0] if len(only) == 1 else None


def _near(id_: str, likely: Sequence[KnownEntity]) -> str:
    near = ", ".join(f"{each.id} ({each.name})" for each in likely)
    return f"unknown {ENTITY} {id_}: near ones are {near}; take one or ask back"


def _with_documents(args: Arguments, aliases: Mapping[str, str]) -> dict[str, JsonValue]:
    """Short names of the prompt become ids; other names stay, and are looked for by the tool."""
    mended = dict(args)
    for name in OF_DOCUMENTS:
        value = mended.get(name)
        if isinstance(value, str):
            mended[name] = aliases.get(value.strip().lower(), value)
        elif isinstance(value, list | tuple):
            mended[name] = [aliases.get(str(each).strip().lower(), str(each)) for each in value]
    return mended


def _with_questions(args: dict[str, JsonValue], tool: AnyTool, question: str) -> dict[str, JsonValue]:
    """A text that the tool needs and the plan left out is the question itself."""
    fields = tool.arguments.model_fields.items()
    needed = [name for name, field_ in fields if field_.is_required() and field_.annotation is str]
    return {**{name: question for name in needed if name not in OF_DOCUMENTS}, **args}


def ordered(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Steps with ids of their own, needing only steps that exist; in a circle each needs only those listed before."""
    ids = [step.id for step in steps]
    if len(set(ids)) < len(ids):
        ids = [id_ if ids.index(id_) == place else f"{id_}.{place}" for place, id_ in enumerate(ids)]
    named = [step.model_copy(update={"id": id_}) for step, id_ in zip(steps, ids, strict=True)]
    sound = tuple(_needing(step, frozenset(ids) - {step.id}) for step in named)
    if in_order(sound) is not None:
        return sound
    return tuple(_needing(step, frozenset(ids[:place])) for place, step in enumerate(sound))


def looked_at(steps: tuple[Step, ...], question: str) -> tuple[Step, ...]:
    """A search that needs what another one finds was worded before anybody knew it («неустойка поставщика, из-за
    которого перенесли запуск» has no name in it): an analysis of both is added, which words the next one, where the
    plan has none."""
    searches = frozenset(step.id for step in steps if step.action == SEARCH)
    is_needing = any(
        needs(step) & searches or (ALL_PREVIOUS in step.context_requirements and len(searches) > 1)
        for step in steps
        if step.action == SEARCH
    )
    if not is_needing or any(step.action == ANALYZE for step in steps):
        return steps
    seen = tuple(step.id for step in steps)[-MAX_STEPS:]
    look = Step(id="look", action=ANALYZE, params={"task": question}, depends_on=seen, success=ANYTHING)
    return ordered((*steps, look))


def _needing(step: Step, known: frozenset[str]) -> Step:
    kept = tuple(each for each in step.context_requirements if each == ALL_PREVIOUS or each in known)
    before = tuple(each for each in step.depends_on if each in known)
    return step.model_copy(update={"depends_on": before, "context_requirements": kept})


def _asked_back(plan: QueryPlan, work: _Mending) -> QueryPlan:
    """A plan that asks back calls nothing; one that does both is run. The person is shown names, never ids."""
    asked = plan.clarification
    if asked is None:
        return plan
    if plan.tool_calls or plan.steps:
        return plan.model_copy(update={"clarification": None})
    names = {each.id: each.name for each in work.request.known.entities}
    documents = work.request.known.documents
    for alias, match, choice in zip(work.request.aliases, documents, choices(documents), strict=True):
        names |= {alias: choice.label, match.name: choice.label}
    named = tuple(dict.fromkeys(names.get(each.strip(), each) for each in asked.choices))
    question = asked.question
    for id_, name in names.items():
        if ":" in id_:  # «d1» may be a word of the question; an entity's id is none
            question = question.replace(id_, name)
    return plan.model_copy(update={"clarification": Clarification(question=question, choices=named)})


def is_quoted(sign: str, question: str) -> bool:
    """Whether the words stand in the question."""
    said = " ".join(folded(sign).split())
    return bool(said) and said in " ".join(folded(question).split())
