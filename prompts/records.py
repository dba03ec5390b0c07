"""What each prompt file has to be filled with.

In: nothing. Out: one frozen record a file; its fields are exactly the file's placeholders (`prompts.loader` checks).
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class AnswerRules:
    """`answer.md`, the system prompt: the same for every question of an installation, so that it can be cached."""

    language: str  # a text of `rules/language_*.md`
    outside: str  # a text of `rules/outside_*.md`: what to do when the materials do not answer


@dataclass(frozen=True, kw_only=True)
class QuestionWithMaterials:
    """`question.md`, the last message when something was found."""

    fence: str  # a word that stands in no material; every tag carries it
    materials: str
    today: str  # ISO date
    question: str


@dataclass(frozen=True, kw_only=True)
class QuestionAlone:
    """`question_alone.md`, the last message when nothing was found."""

    today: str  # ISO date
    question: str


@dataclass(frozen=True, kw_only=True)
class PlannerRules:
    """`planner.md`, the planner's system prompt: the same for every question of an installation."""

    max_calls: int  # MAX_TOOL_CALLS
    threshold: float  # PLAN_CONFIDENCE_THRESHOLD
    policy: str  # a text of `rules/search_*.md`
    intents: str  # a line each
    tools: str  # a section each


@dataclass(frozen=True, kw_only=True)
class PlannerQuestion:
    """`planner_question.md`, the planner's last message."""

    dialogue: str  # its summary and last exchanges, or nothing
    entities: str  # that the question may name, a line each
    today: str  # ISO date
    fence: str  # a word that does not stand in the question
    question: str
