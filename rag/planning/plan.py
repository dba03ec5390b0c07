"""The plan of a turn: seed 4, section 6, and the fields that the other seeds add to it.

In: the planner model's JSON. Out: `QueryPlan`, of the right shape and within the limits of section 6.3. `validation`
checks whether its intents, tools and entities exist; this module knows no catalogue.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

MAX_ITEMS = 12  # seed 4, section 6.3: technologies at most 10-12, achievements and bullets 8-10
MAX_GROUPS = 12
MAX_PARAGRAPHS = 4  # the same section: long descriptive blocks at most 3-4
MAX_SKIPPED = 10_000  # items that earlier answers have shown, when the person asks for the rest
MAX_CHOICES = 6  # of a clarification: as many buttons as fit under a message
MAX_STEPS = 8  # of a new plan; while it runs some may be added, up to `RunLimits.steps` in all
MAX_LISTED = 8  # intents, entities or calls that one plan may name; the executor's own limit is lower

Name = Annotated[str, Field(min_length=1, max_length=200)]
Wording = Annotated[str, Field(min_length=1, max_length=1000)]


class PlanPart(BaseModel):
    """Frozen; a field that is not in the schema is an error that the model is shown."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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
    DOUBTFUL = "doubtful"  # searched as it stands, without the dialogue


class PlannedEntity(PlanPart):
    """An entity of the registry that the question is about."""

    type: Name
    id: Name
    name: Name


class ToolCall(PlanPart):
    """One call; its arguments are checked against the tool's own model."""

    tool: Name
    args: dict[str, JsonValue] = Field(default_factory=dict)


class Fallback(PlanPart):
    """What is called when the plan's own tools bring nothing, or too little."""

    enabled: bool = True
    tool: Name = "rag_db_query"
    when: tuple[FallbackReason, ...] = (FallbackReason.NO_RESULTS, FallbackReason.LOW_COVERAGE)


class Limits(PlanPart):
    """Seed 4, section 6.3."""

    max_items: Annotated[int, Field(ge=1, le=MAX_ITEMS)] = 10
    max_groups: Annotated[int, Field(ge=1, le=MAX_GROUPS)] = 4
    max_paragraphs: Annotated[int, Field(ge=1, le=MAX_PARAGRAPHS)] = 3
    skip: Annotated[int, Field(ge=0, le=MAX_SKIPPED)] = 0


class Clarification(PlanPart):
    """One short question back, and the answers that are known (they become buttons)."""

    question: Wording
    choices: Annotated[tuple[Name, ...], Field(max_length=MAX_CHOICES)] = ()


class QueryKind(StrEnum):
    """How much a question takes (seed 3, "Query Analyzer"); decided in the planner's own call."""

    SIMPLE = "simple"  # one round of calls
    ANALYTICAL = "analytical"  # overview, then details, then a whole
    ITERATIVE = "iterative"  # search, look, search again
    DIAGNOSTIC = "diagnostic"  # guesses and their proofs


class Success(PlanPart):
    """When a step has done what it is for; judged by code."""

    min_facts: Annotated[int, Field(ge=0, le=100)] = 1
    min_coverage: Annotated[float, Field(ge=0, le=1)] = 0.0


class Step(PlanPart):
    """A step of a plan of several (seed 3, "Plan Generator"). Its action is a tool."""

    id: Annotated[str, Field(min_length=1, max_length=40)]
    action: Name
    params: dict[str, JsonValue] = Field(default_factory=dict)
    depends_on: Annotated[tuple[Name, ...], Field(max_length=MAX_STEPS)] = ()
    context_requirements: Annotated[tuple[Name, ...], Field(max_length=MAX_STEPS)] = ()  # ids, or "all_previous"
    success: Success = Success()


class QueryPlan(PlanPart):
    """What a turn will do. Neither calls nor steps: it is answered from the dialogue alone, or asks back."""

    question: Wording = Field(description="the question in full, understandable without the dialogue")
    follow_up: FollowUp = FollowUp.NONE
    intents: Annotated[tuple[Name, ...], Field(min_length=1, max_length=MAX_LISTED)]
    entities: Annotated[tuple[PlannedEntity, ...], Field(max_length=MAX_LISTED)] = ()
    kind: QueryKind = QueryKind.SIMPLE
    tool_calls: Annotated[tuple[ToolCall, ...], Field(max_length=MAX_LISTED)] = ()
    steps: Annotated[tuple[Step, ...], Field(max_length=MAX_STEPS)] = ()
    fallback: Fallback = Fallback()
    limits: Limits = Limits()
    render_style: RenderStyle = RenderStyle.BULLETS
    answer_style: AnswerStyle = AnswerStyle.NATURAL_RU
    clarification: Clarification | None = None
    confidence: Annotated[float, Field(ge=0, le=1)]
