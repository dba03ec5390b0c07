"""The values that each prompt file is filled with.

In: nothing. Out: one frozen record per file; its fields are exactly the file's placeholders (`prompts.loader` checks).
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
    """`rules/more_*.md`, the line at the end of a list that was cut (seed 4, section 8.3)."""

    left: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """`earlier.md`, before the question when the dialogue is longer than its window."""

    earlier: str  # the dialogue's summary, and old exchanges that seem to have the same subject


@dataclass(frozen=True, kw_only=True)
class Stricter:
    """`stricter.md`, sent with an answer that did not pass its check."""

    remarks: str  # one per line


@dataclass(frozen=True, kw_only=True)
class SupportTask:
    """`support_task.md`, an answer's statements and their sources; the rules are `support.md`."""

    fence: str  # a word that stands in no source and no statement; every tag carries it
    sources: str
    today: str  # ISO date
    question: str
    statements: str  # one per line, numbered


@dataclass(frozen=True, kw_only=True)
class PlannerRules:
    """`planner.md`, the planner's system prompt: the same for every question of an installation. The names of intents
    and tools and the shapes of the fields stand in the schema alone."""

    max_calls: int  # MAX_TOOL_CALLS
    threshold: float  # PLAN_CONFIDENCE_THRESHOLD
    policy: str  # a text of `rules/search_*.md`
    tools: str  # one per paragraph


@dataclass(frozen=True, kw_only=True)
class PlannerQuestion:
    """`planner_question.md`, the planner's last message."""

    known: str  # the dialogue, entities and documents that may be meant, between tags; or nothing
    today: str  # ISO date
    fence: str  # a word that stands in none of the texts
    question: str


@dataclass(frozen=True, kw_only=True)
class SummaryRules:
    """`summary.md`, the system prompt for the running summary of a dialogue."""

    words: int  # at most


@dataclass(frozen=True, kw_only=True)
class SummaryExchanges:
    """`summary_exchanges.md`, the text to be summarised."""

    fence: str  # a word that does not stand in this text
    summary: str  # so far
    exchanges: str


@dataclass(frozen=True, kw_only=True)
class StepsSoFarRules:
    """`steps_so_far.md`, the system prompt for notes on the older steps of a plan."""

    words: int  # at most


@dataclass(frozen=True, kw_only=True)
class StepsSoFar:
    """`steps_so_far_task.md`, the steps to take notes on."""

    fence: str  # a word that does not stand in this text
    question: str
    steps: str  # one per line, with its facts below


@dataclass(frozen=True, kw_only=True)
class EntitiesPart:
    """`entities_part.md`, a part of a document from which entities are extracted."""

    known: str  # names that the base or the document already has
    title: str
    fence: str  # a word that does not stand in this text
    part: str


@dataclass(frozen=True, kw_only=True)
class Transcription:
    """`transcribe.md`, the system prompt of a model that reads pictures; it has no placeholders."""


@dataclass(frozen=True, kw_only=True)
class AnalysisTask:
    """`analyze_task.md`, the input of an analysis step; the rules are `analyze.md`."""

    fence: str  # a word that stands in no material; every tag carries it
    materials: str
    background: str
    today: str  # ISO date
    question: str  # the person's
    task: str  # the step's
