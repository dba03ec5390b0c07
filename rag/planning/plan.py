"""The plan of a turn: seed 4, section 6, and the fields that the other seeds add to it; the order of its steps.

In: the planner model's JSON. Out: `QueryPlan`. What is out of bounds or in another place is put right, and only an
answer that names nothing of a plan is refused; what depends on the installation is the matter of `mending`. Pure.
"""

import json
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, JsonValue, ValidationError, WrapValidator, model_validator
from pydantic_core import PydanticUseDefault

from rag.planning.tool import Tolerant

MAX_ITEMS = 12  # seed 4, section 6.3: technologies at most 10-12, achievements and bullets 8-10
MAX_STEPS = 8  # whose results one step may ask for
MAX_LISTED = 40  # calls, steps or names that are read; the executor limits what is run, and says so

ALL_PREVIOUS = "all_previous"

_OF_CALL = ("tool", "action", "name", "function")
_OF_ARGUMENTS = ("args", "params", "arguments", "parameters")
_OF_STEP = ("id", "depends_on", "after", "context_requirements", "success")
_TELLING = ("question", "intents", "tool_calls", "steps", "clarification")

SEARCH, LIST, READ, ANALYZE = "rag_db_query", "list_documents", "read_documents", "analyze"
READ_ONE, GRAPH = "read_document", "graph_query_tool"
SURVEY = "search_each_document"  # for emergency plans only; the planner model is not offered it


def _or_default(value: object, read: Callable[[object], object]) -> object:
    try:
        return read(value)
    except ValidationError:
        raise PydanticUseDefault from None


def _cut(length: int) -> BeforeValidator:
    return BeforeValidator(lambda value: value[:length] if isinstance(value, str) else value)


def _spelled(spelling: Callable[[str], str]) -> BeforeValidator:
    return BeforeValidator(lambda value: spelling(value.strip()) if isinstance(value, str) else value)


Lenient = WrapValidator(_or_default)
Name = Annotated[str, Field(min_length=1), _cut(200)]


class RenderStyle(StrEnum):
    """Seed 4, section 8.1."""

    BULLETS = "BULLETS"
    GROUPED_BULLETS = "GROUPED_BULLETS"
    SHORT = "SHORT"
    TABLE = "TABLE"


class AnswerStyle(StrEnum):
    """How the answer reads; the language itself is ANSWER_LANGUAGE's."""

    NATURAL_RU = "NATURAL_RU"
    NATURAL_EN = "NATURAL_EN"


class FallbackReason(StrEnum):
    """When the fallback tool is called (seed 4, section 6.1)."""

    NO_RESULTS = "NO_RESULTS"
    LOW_COVERAGE = "LOW_COVERAGE"


class FollowUp(StrEnum):
    """How the question hangs on the dialogue (seed 4, section 5.1: the memory gate)."""

    NONE = "none"
    EXPLICIT = "explicit"  # «а что насчёт X?»: its standalone form was made from the dialogue
    DOUBTFUL = "doubtful"  # searched as it stands, without the dialogue; the writer sees the dialogue


class PlannedEntity(Tolerant):
    """An entity of the registry that the question is about."""

    type: Name
    id: Name
    name: Name

    @model_validator(mode="before")
    @classmethod
    def _put_right(cls, raw: object) -> object:
        """An id alone is enough: its type is its beginning."""
        raw = {"id": raw} if isinstance(raw, str) else raw
        if isinstance(raw, Mapping) and isinstance(raw.get("id"), str):
            return {"type": raw["id"].partition(":")[0], "name": raw["id"], **raw}
        return raw


class ToolCall(Tolerant):
    """One call; its arguments are checked against the tool's own model."""

    tool: Name
    args: dict[str, JsonValue] = Field(default_factory=dict)


class Fallback(Tolerant):
    """What is called when the plan's own tools bring nothing, or too little."""

    enabled: Annotated[bool, Lenient] = True
    tool: Name = "rag_db_query"
    when: Annotated[tuple[FallbackReason, ...], Lenient] = (FallbackReason.NO_RESULTS, FallbackReason.LOW_COVERAGE)


class Limits(Tolerant):
    """Seed 4, section 6.3."""

    max_items: Annotated[int, Lenient, Field(ge=1, le=MAX_ITEMS)] = 10
    max_groups: Annotated[int, Lenient, Field(ge=1, le=12)] = 4
    max_paragraphs: Annotated[int, Lenient, Field(ge=1, le=4)] = 3
    skip: Annotated[int, Lenient, Field(ge=0, le=10_000)] = 0


class Clarification(Tolerant):
    """One short question back, and the answers that are known (they become buttons)."""

    question: Annotated[str, Field(min_length=1), _cut(1000)]
    choices: Annotated[tuple[Name, ...], Field(max_length=6)] = ()


class QueryKind(StrEnum):
    """How much a question takes (seed 3, "Query Analyzer"); decided in the planner's own call."""

    SIMPLE = "simple"  # one round of calls
    ANALYTICAL = "analytical"  # overview, then details, then a whole
    ITERATIVE = "iterative"  # search, look, search again
    DIAGNOSTIC = "diagnostic"  # guesses and their proofs


class Success(Tolerant):
    """When a step has done what it is for; judged by code."""

    min_facts: Annotated[int, Lenient, Field(ge=0, le=100)] = 1
    min_coverage: Annotated[float, Lenient, Field(ge=0.0, le=1.0)] = 0.0


class Step(Tolerant):
    """A step of a plan of several (seed 3, "Plan Generator"). Its action is a tool."""

    id: Annotated[str, Field(min_length=1), _cut(40)]
    action: Name
    params: dict[str, JsonValue] = Field(default_factory=dict)
    depends_on: Annotated[tuple[Name, ...], Field(max_length=MAX_STEPS)] = ()
    context_requirements: Annotated[tuple[Name, ...], Field(max_length=MAX_STEPS)] = ()  # ids, or "all_previous"
    success: Annotated[Success, Lenient] = Success()

    @property
    def call(self) -> ToolCall:
        """What it runs."""
        return ToolCall(tool=self.action, args=self.params)


class QueryPlan(Tolerant):
    """What a turn will do. Neither calls nor steps: it is answered from the dialogue alone, or asks back."""

    question: Annotated[str, _cut(1000)] = ""  # in full, understandable without the dialogue; empty: as it was asked
    follow_up: Annotated[FollowUp, Lenient, _spelled(str.lower)] = FollowUp.NONE
    intents: Annotated[tuple[Name, ...], Field(max_length=MAX_LISTED)] = ()
    entities: Annotated[tuple[PlannedEntity, ...], Lenient, Field(max_length=MAX_LISTED)] = ()
    kind: Annotated[QueryKind, Lenient, _spelled(str.lower)] = QueryKind.SIMPLE
    tool_calls: Annotated[tuple[ToolCall, ...], Field(max_length=MAX_LISTED)] = ()
    steps: Annotated[tuple[Step, ...], Field(max_length=MAX_LISTED)] = ()
    sign: Annotated[str, Lenient, _cut(200)] = ""  # SEARCH_POLICY=explicit: the words that ask for a search
    fallback: Annotated[Fallback, Lenient] = Fallback()
    limits: Annotated[Limits, Lenient] = Limits()
    render_style: Annotated[RenderStyle, Lenient, _spelled(str.upper)] = RenderStyle.BULLETS
    answer_style: Annotated[AnswerStyle, Lenient, _spelled(str.upper)] = AnswerStyle.NATURAL_RU
    clarification: Annotated[
        Clarification | None, Lenient, BeforeValidator(lambda raw: {"question": raw} if isinstance(raw, str) else raw)
    ] = None
    confidence: Annotated[float, Lenient, Field(ge=0.0, le=1.0)] = 0.75

    @model_validator(mode="before")
    @classmethod
    def _put_right(cls, raw: object) -> object:
        """Everything in its place. Raises ValueError for an object that names nothing of a plan."""
        if not isinstance(raw, Mapping):
            return raw
        inner = next((each for each in raw.values() if isinstance(each, Mapping) and "tool_calls" in each), None)
        said = dict(raw if inner is None or "tool_calls" in raw else inner)
        if not any(said.get(field) for field in _TELLING):
            raise ValueError(f"none of {', '.join(_TELLING)} is there")
        calls = [_call(each) for each in _items(said.get("tool_calls"))]
        steps = [_step(each, place) for place, each in enumerate(_items(said.get("steps")), start=1)]
        if any(isinstance(each, Mapping) and (each.get("depends_on") or each.get("after")) for each in calls):
            steps += [_step(each, place) for place, each in enumerate(calls, start=len(steps) + 1)]
            calls = []
        if own := {name: said[name] for name in Limits.model_fields if name in said}:
            said["limits"] = {**(said["limits"] if isinstance(said.get("limits"), Mapping) else {}), **own}
        given = {name: value for name, value in said.items() if value is not None}
        return {**given, "tool_calls": calls, "steps": steps}


def _items(value: object) -> list[object]:
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [value]


def _call(raw: object) -> object:
    """Tool and arguments, under whatever names; arguments beside the tool's name belong to it, or are a string."""
    if isinstance(raw, str):
        return {"tool": raw}
    if not isinstance(raw, Mapping):
        return raw
    tool = next((raw[name] for name in _OF_CALL if isinstance(raw.get(name), str)), None)
    given: object = next((raw[name] for name in _OF_ARGUMENTS if raw.get(name) is not None), {})
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            given = {"query": given}
    beside = {name: value for name, value in raw.items() if name not in (*_OF_CALL, *_OF_ARGUMENTS, *_OF_STEP)}
    of_step = {name: raw[name] for name in _OF_STEP if name in raw}
    return {"tool": tool, "args": {**beside, **(given if isinstance(given, Mapping) else {})}, **of_step}


def _step(raw: object, place: int) -> object:
    called = _call(raw)
    if not isinstance(called, Mapping) or isinstance(raw, Step):
        return raw
    before = [str(each) for each in _items(called.get("depends_on", called.get("after")))]
    wanted = [str(each) for each in _items(called.get("context_requirements"))]
    return {
        "id": str(called.get("id") or place),
        "action": called["tool"],
        "params": called["args"],
        "depends_on": [each for each in before if each != ALL_PREVIOUS],
        "context_requirements": wanted or ([ALL_PREVIOUS] if ALL_PREVIOUS in before else []),
        **({"success": called["success"]} if called.get("success") is not None else {}),
    }


def plan_schema(tools: Iterable[str], intents: Iterable[str], *, with_sign: bool = False) -> type[QueryPlan]:
    """`QueryPlan` with a JSON schema for the model: short, with the names of this installation's tools and intents,
    open arguments (each tool's text tells them), and without what code fills in by itself."""

    def array(items: dict[str, Any]) -> dict[str, Any]:
        return {"type": "array", "items": items}

    def choice(values: Iterable[str]) -> dict[str, Any]:
        return {"type": "string", "enum": [str(value) for value in values]}

    def of(**fields: dict[str, Any]) -> dict[str, Any]:
        return {"type": "object", "properties": fields}

    text, number, free = {"type": "string"}, {"type": "integer"}, {"type": "object"}
    texts = array(text)
    schema = of(
        question=text,
        follow_up=choice(FollowUp),
        intents=array(choice(intents)),
        entities=texts,
        kind=choice(QueryKind),
        **({"sign": text} if with_sign else {}),
        tool_calls=array(of(tool=choice(tools), args=free)),
        # steps have the same tools: named once, they cost half
        steps=array(of(id=text, action=text, params=free, depends_on=texts)),
        limits=of(**dict.fromkeys(Limits.model_fields, number)),
        render_style=choice(RenderStyle),
        clarification={"anyOf": [of(question=text, choices=texts), {"type": "null"}]},
        confidence={"type": "number"},
    )

    class Plan(QueryPlan):
        @classmethod
        def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
            return schema

    Plan.__name__ = Plan.__qualname__ = QueryPlan.__name__
    return Plan


ANYTHING = Success(min_facts=0)  # for a step that may find no facts: its advice on how to go on is worth as much


def in_order(steps: Sequence[Step]) -> tuple[Step, ...] | None:
    """The steps in topological order: each after those that it needs; None when there is a cycle, or one is unknown."""
    by_id = {step.id: step for step in steps}
    try:
        return tuple(by_id[each] for each in TopologicalSorter({step.id: needs(step) for step in steps}).static_order())
    except (CycleError, KeyError):
        return None


def needs(step: Step) -> frozenset[str]:
    """The ids of the steps that must end before this one: those it depends on and those whose results it reads."""
    return frozenset({*step.depends_on, *step.context_requirements} - {ALL_PREVIOUS})


def template(kind: QueryKind, question: str, tools: Container[str]) -> tuple[Step, ...]:
    """The steps of seed 3's strategies ("Типы сложных запросов") with the actions that there are."""
    task, steps = question, tuple[Step, ...]()
    if kind is QueryKind.ANALYTICAL:  # overview, then details of each part; the answer does the synthesis
        steps = (Step(id="overview", action=LIST), Step(id="details", action=READ, params={"question": question}))
    elif kind is not QueryKind.SIMPLE:  # search, look at the results, search again for what is missing
        if kind is QueryKind.DIAGNOSTIC:
            task += "\nName the likely causes, and what in the documents would prove or disprove each of them."
        first = ("search",) if SEARCH in tools else ()
        look = Step(id="look", action=ANALYZE, params={"task": task}, depends_on=first, success=ANYTHING)
        steps = (Step(id="search", action=SEARCH, params={"query": question}), look)
    return tuple(step for step in steps if step.action in tools)
