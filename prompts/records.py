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
    form: str  # a text of `rules/form_*.md`
    today: str  # ISO date
    question: str


@dataclass(frozen=True, kw_only=True)
class QuestionAlone:
    """`question_alone.md`, the last message when nothing was found."""

    today: str  # ISO date
    question: str


@dataclass(frozen=True, kw_only=True)
class QuestionFromDialogue:
    """`question_dialogue.md`, the last message when the plan called no tool."""

    today: str  # ISO date
    question: str


@dataclass(frozen=True, kw_only=True)
class MoreItems:
    """`rules/more_*.md`, the line at the end of a list that is not whole (seed 4, section 8.3)."""

    left: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """`earlier.md`, before the question when the dialogue is longer than its window."""

    earlier: str  # its summary, and old exchanges that seem to be about the same


@dataclass(frozen=True, kw_only=True)
class Stricter:
    """`stricter.md`, sent with an answer that did not pass its check."""

    remarks: str  # a line each


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


@dataclass(frozen=True, kw_only=True)
class SummaryRules:
    """`summary.md`, the system prompt for the running summary of a dialogue."""

    words: int  # at most


@dataclass(frozen=True, kw_only=True)
class SummaryExchanges:
    """`summary_exchanges.md`, what is to be summarised."""

    fence: str  # a word that stands in none of it
    summary: str  # so far
    exchanges: str


@dataclass(frozen=True, kw_only=True)
class StepsSoFarRules:
    """`steps_so_far.md`, the system prompt for notes on the older steps of a plan."""

    words: int  # at most


@dataclass(frozen=True, kw_only=True)
class StepsSoFar:
    """`steps_so_far_task.md`, what is noted down."""

    fence: str  # a word that stands in none of it
    question: str
    steps: str  # a line each, their facts under it


@dataclass(frozen=True, kw_only=True)
class EntitiesPart:
    """`entities_part.md`, a part of a document whose entities are read."""

    known: str  # names that the base or the document has already
    title: str
    fence: str  # a word that stands in none of it
    part: str


@dataclass(frozen=True, kw_only=True)
class Transcription:
    """`transcribe.md`, the system prompt of a model that reads pictures; nothing is filled in."""


@dataclass(frozen=True, kw_only=True)
class AnalysisTask:
    """`analyze_task.md`, what a step that thinks is given; the rules are `analyze.md`."""

    fence: str  # a word that stands in no material; every tag carries it
    materials: str
    background: str
    today: str  # ISO date
    question: str  # of the person
    task: str  # of the step
