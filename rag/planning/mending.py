"""Puts a plan right with what this installation and this base have.

In: a `QueryPlan` as the model meant it, and the request. Out: a plan that can be run, and problems, in words that the
model can act on, only where code cannot tell what was meant (seed 4, section 6.4).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

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
OF_DOCUMENTS = frozenset({"document", "documents"})  # arguments that name documents
CONVERSATION = "CONVERSATION"  # the one intent that needs nothing of the base

Args = dict[str, JsonValue]
Entities = Mapping[str, tuple[KnownEntity, ...]]  # by ids of a plan; none or several where nobody can tell


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
class PlanMender:
    """Mends the plans of one installation."""

    tools: Mapping[str, AnyTool]
    intents: Mapping[str, Intent]
    threshold: float  # PLAN_CONFIDENCE_THRESHOLD
    resolver: RegistryResolver | None = None  # looks up ids that the prompt did not list
    needs_sign: bool = False  # SEARCH_POLICY=explicit

    async def mend(self, plan: QueryPlan, request: PlanningRequest) -> tuple[QueryPlan, tuple[str, ...]]:
        """The plan, which can be run when there are no problems, and these. At most one call of the database for each
        id that was not listed; usually none. Raises DatabaseAway."""
        entities, problems = await self._entities(plan, request), list[str]()
        plan = self._named(plan, request, entities)
        read = partial(self._arguments, plan, request.aliases, entities, problems)
        called = [read(call.tool, call.args) for call in plan.tool_calls]
        stepped = [(step, *read(step.action, step.params)) for step in plan.steps]
        steps = ordered([step.model_copy(update={"action": tool, "params": args}) for step, tool, args in stepped])
        if ANALYZE in self.tools:
            steps = looked_at(steps, plan.question)
        calls = tuple(ToolCall(tool=tool, args=args) for tool, args in called)
        plan = _asked_back(plan.model_copy(update={"tool_calls": calls, "steps": steps}), request.known)
        if plan.confidence < self.threshold:
            problems.append(f"confidence {plan.confidence:g} is below {self.threshold:g}")
        return self._as_allowed(plan, request.question), tuple(dict.fromkeys(problems))

    def _arguments(
        self, plan: QueryPlan, aliases: Mapping[str, str], entities: Entities, problems: list[str], name: str, raw: Args
    ) -> tuple[str, Args]:
        tool = self.tools.get(name) or self.tools.get(name.strip().lower())
        if tool is None:
            problems.append(f"unknown tool {name}")
            return name, raw
        args: Args = {key: value for key, value in raw.items() if value is not None}
        if tool.name == GRAPH:  # id and intent may stand elsewhere in the plan; the id may be spelled otherwise
            named = args.get(ENTITY) or next((each.id for each in plan.entities), None)
            meant = entities.get(named, ()) if isinstance(named, str) else ()
            id_ = meant[0].id if len(meant) == 1 else named
            args = {INTENT: plan.intents[0], **args, **({ENTITY: id_} if id_ else {})}
            likely = entities.get(str(args.get(ENTITY)))
            if likely == () and SEARCH in self.tools:  # nothing like it is known: the text may tell
                return SEARCH, {"query": plan.question}
            if likely and len(likely) > 1:
                near = ", ".join(f"{each.id} ({each.name})" for each in likely)
                problems.append(f"unknown {ENTITY} {args[ENTITY]}: near ones are {near}; take one or ask back")
        fields = tool.arguments.model_fields.items()
        needed = {name for name, field_ in fields if field_.is_required() and field_.annotation is str}
        args = {**dict.fromkeys(needed.difference(OF_DOCUMENTS), plan.question), **args}
        for key in args.keys() & OF_DOCUMENTS:  # short names become ids; others are looked for by the tool
            several = [str(each) for each in value] if isinstance(value := args[key], list) else [str(value)]
            ids: list[JsonValue] = [aliases.get(each.strip().lower(), each) for each in several]
            args[key] = ids if isinstance(value, list) else ids[0]
        try:
            tool.read(args)
        except ToolMisused as error:
            problems.append(str(error))
        return tool.name, args

    async def _entities(self, plan: QueryPlan, request: PlanningRequest) -> Entities:
        """Models make ids up that the prompt did not list: these are looked up."""
        found: dict[str, tuple[KnownEntity, ...]] = {each.id: (each,) for each in request.known.entities}
        arguments = [*(call.args for call in plan.tool_calls), *(step.params for step in plan.steps)]
        called = [value for each in arguments if isinstance(value := each.get(ENTITY), str) and value]
        for id_ in dict.fromkeys([*(entity.id for entity in plan.entities), *called]):
            if id_ in found:
                continue
            type_, _, name = id_.partition(":")
            likely: tuple[KnownEntity, ...] = ()
            if self.resolver and request.base_id:
                # quotation marks make an ordinary word count as a name: "project:alor-broker" -> «alor-broker»
                likely = await self.resolver.resolve(request.base_id, f"«{name or id_}»")
            exact = tuple(each for each in likely if each.id == id_)
            near = exact or tuple(each for each in likely if each.type == type_)
            found[id_] = near if len(near) == 1 else likely
        return found

    def _named(self, plan: QueryPlan, request: PlanningRequest, entities: Entities) -> QueryPlan:
        """Question, intents, entities and language; what is unknown becomes the general case or is left out."""
        intents = tuple(dict.fromkeys(name if name in self.intents else GENERAL for name in plan.intents or (GENERAL,)))
        meant = (entities[each.id] for each in plan.entities)
        named = {only.id: only for only, *others in filter(None, meant) if not others}
        usual, is_english = self.intents[intents[0]], language_of(request.question) == "en"
        defaults = {
            "render_style": RenderStyle(usual.style),
            "answer_style": AnswerStyle.NATURAL_EN if is_english else AnswerStyle.NATURAL_RU,
        }
        is_known = plan.fallback.tool in self.tools
        changes = {
            **{name: default for name, default in defaults.items() if name not in plan.model_fields_set},
            "question": plan.question.strip() or request.question[:1000] or "?",
            "intents": intents,
            "entities": tuple(PlannedEntity(type=each.type, id=each.id, name=each.name) for each in named.values()),
            "limits": plan.limits if plan.limits.model_fields_set else Limits(max_items=usual.items),
            "fallback": plan.fallback if is_known else plan.fallback.model_copy(update={"tool": SEARCH}),
        }
        return plan.model_copy(update=changes)

    def _as_allowed(self, plan: QueryPlan, question: str) -> QueryPlan:
        """A plan that asks of the base and calls nothing gets a search. Under SEARCH_POLICY=explicit the base is
        searched only where the plan quotes the question's own words that ask for it, and once."""
        if plan.clarification:
            return plan
        search = (ToolCall(tool=SEARCH, args={"query": plan.question}),)
        if self.needs_sign:
            sign, said = (" ".join(folded(text).split()) for text in (plan.sign, question))
            calls = (plan.tool_calls[:1] or search) if sign and sign in said else ()
            return plan.model_copy(update={"tool_calls": calls, "steps": ()})
        is_explicit = plan.follow_up is FollowUp.EXPLICIT
        is_talk = plan.intents == (CONVERSATION,) or (is_explicit and CONVERSATION in plan.intents)
        if plan.tool_calls or plan.steps or is_talk or SEARCH not in self.tools:
            return plan
        return plan.model_copy(update={"tool_calls": search})


def ordered(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Steps with ids of their own, needing only steps that exist; in a circle each needs only those listed before."""
    ids = [step.id for step in steps]
    if len(set(ids)) < len(ids):
        ids = [id_ if ids.index(id_) == place else f"{id_}.{place}" for place, id_ in enumerate(ids)]
    named = [step.model_copy(update={"id": id_}) for step, id_ in zip(steps, ids, strict=True)]

    def needing(step: Step, known: Collection[str]) -> Step:
        kept = tuple(each for each in step.context_requirements if each == ALL_PREVIOUS or each in known)
        before = tuple(each for each in step.depends_on if each in known)
        return step.model_copy(update={"depends_on": before, "context_requirements": kept})

    sound = tuple(needing(step, set(ids) - {step.id}) for step in named)
    if in_order(sound) is not None:
        return sound
    return tuple(needing(step, ids[:place]) for place, step in enumerate(sound))


def looked_at(steps: tuple[Step, ...], question: str) -> tuple[Step, ...]:
    """A search that needs what another one finds was worded before anybody knew it («неустойка поставщика, из-за
    которого перенесли запуск» has no name in it): an analysis of both is added, which words the next one, where the
    plan has none."""
    searches = {step.id: step for step in steps if step.action == SEARCH}
    is_needing = any(
        needs(step) & searches.keys() or (ALL_PREVIOUS in step.context_requirements and len(searches) > 1)
        for step in searches.values()
    )
    if not is_needing or any(step.action == ANALYZE for step in steps):
        return steps
    seen = tuple(step.id for step in steps)[-MAX_STEPS:]
    look = Step(id="look", action=ANALYZE, params={"task": question}, depends_on=seen, success=ANYTHING)
    return ordered((*steps, look))


def _asked_back(plan: QueryPlan, known: Known) -> QueryPlan:
    """A plan that asks back calls nothing; one that does both is run. The person is shown names, never ids."""
    asked = plan.clarification
    if asked is None:
        return plan
    if plan.tool_calls or plan.steps:
        return plan.model_copy(update={"clarification": None})
    question, names = asked.question, {each.id: each.name for each in known.entities}
    for id_, name in names.items():
        question = question.replace(id_, name)
    for place, (match, choice) in enumerate(zip(known.documents, choices(known.documents), strict=True)):
        names |= {alias_of(place): choice.label, match.name: choice.label}
    named = tuple(dict.fromkeys(names.get(each.strip(), each) for each in asked.choices))
    return plan.model_copy(update={"clarification": Clarification(question=question, choices=named)})
