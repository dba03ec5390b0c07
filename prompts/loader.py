"""Loads prompt files and fills their placeholders.

In: text files of this package with `{placeholders}`, and the records below, whose fields are those placeholders. Out:
`Prompts`. A file that does not fit its record fails at load. Filled-in values are never expanded again: a retrieved
passage that contains `{question}` stays as it is.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Record = TypeVar("Record", bound=DataclassInstance)
else:
    Record = TypeVar("Record")

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_HASH_DIGITS = 12  # enough to tell versions of a file apart in a log
ANSWER_LANGUAGES = ("ru", "en", "auto")  # the values of ANSWER_LANGUAGE
LANGUAGES = ("ru", "en")
RENDER_STYLES = ("BULLETS", "GROUPED_BULLETS", "SHORT", "TABLE")  # seed 4, section 8.1
SEARCH_POLICIES = ("planned", "explicit")  # the values of SEARCH_POLICY


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
    """`rules/more_*.md`, the line at the end of a list that was cut (seed 4, section 8.3); `rules/left_out.md`, what
    the model is told of it."""

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


class PromptError(Exception):
    """A prompt file is missing or does not fit its record."""


@dataclass(frozen=True)
class Template(Generic[Record]):
    """A prompt file and the record that fills it."""

    name: str
    text: str
    record: type[Record]

    def __post_init__(self) -> None:
        """Raises PromptError when the file's placeholders are not the record's fields."""
        written = set(_PLACEHOLDER.findall(self.text))
        known = {field.name for field in fields(self.record)}
        if written != known:
            odd = ", ".join(sorted(written ^ known))
            raise PromptError(f"{self.name}: placeholders and fields of {self.record.__name__} differ: {odd}")

    @property
    def version(self) -> str:
        """A hash of the file's content, for logs."""
        return _version(self.text)

    def fill(self, values: Record) -> str:
        """The text with every placeholder replaced in one pass; placeholders inside the values are not expanded."""
        return _PLACEHOLDER.sub(lambda placeholder: str(getattr(values, placeholder[1])), self.text)


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """All prompts."""

    answer: Template[AnswerRules]
    question: Template[QuestionWithMaterials]
    question_alone: Template[QuestionAlone]
    question_dialogue: Template[QuestionFromDialogue]
    earlier: Template[Earlier]
    stricter: Template[Stricter]
    support: str
    support_task: Template[SupportTask]
    languages: Mapping[str, str]  # by ANSWER_LANGUAGE
    outside: Mapping[bool, str]  # by GENERAL_KNOWLEDGE
    planner: Template[PlannerRules]
    planner_question: Template[PlannerQuestion]
    summary: Template[SummaryRules]
    summary_exchanges: Template[SummaryExchanges]
    policies: Mapping[str, str]  # by SEARCH_POLICY
    more: Mapping[str, Template[MoreItems]]  # by language, ru or en
    which: Mapping[str, str]  # likewise; asks which of several documents is meant
    transcribe: Template[Transcription]
    steps_so_far: Template[StepsSoFarRules]
    steps_so_far_task: Template[StepsSoFar]
    analyze: str
    contents: str
    analyze_task: Template[AnalysisTask]
    iterative: str
    iterative_task: str
    iterative_synthesis: str
    iterative_comparison: str
    rows: str
    entities: str
    entities_part: Template[EntitiesPart]
    forms: Mapping[str, str]  # by render style; `{items}` stands for the plan's limit
    left_out: Template[MoreItems]  # behind the form

    @cached_property
    def version(self) -> str:
        """A hash over all of them, for logs."""
        parts = (getattr(self, field.name) for field in fields(self))
        texts = [_text_of(part) for part in parts]
        return _version("\0".join(texts))


def load_prompts(folder: Traversable | None = None) -> Prompts:
    """Read the packaged prompts, or those in `folder`: each from the file of its name, and texts that stand in others
    from `rules`. Raises PromptError."""
    place = folder if folder is not None else files("prompts")
    rules: dict[str, object] = {
        "languages": {name: _read(place, f"rules/language_{name}.md") for name in ANSWER_LANGUAGES},
        "outside": {
            True: _read(place, "rules/outside_general.md"),
            False: _read(place, "rules/outside_nothing.md"),
        },
        "policies": {name: _read(place, f"rules/search_{name}.md") for name in SEARCH_POLICIES},
        "more": {name: _prompt(place, f"rules/more_{name}.md", Template[MoreItems]) for name in LANGUAGES},
        "which": {name: _read(place, f"rules/which_{name}.md") for name in LANGUAGES},
        "forms": {name: _read(place, f"rules/form_{name.lower()}.md") for name in RENDER_STYLES},
        "left_out": _prompt(place, "rules/left_out.md", Template[MoreItems]),
    }
    others = {name: kind for name, kind in get_type_hints(Prompts).items() if name not in rules}
    texts = {name: _prompt(place, f"{name}.md", kind) for name, kind in others.items()}
    return Prompts(**rules, **texts)  # type: ignore[arg-type] # each as its field says


def _prompt(place: Traversable, name: str, kind: Any) -> object:
    text = _read(place, name)
    return text if kind is str else Template(name, text, *get_args(kind))


def _text_of(part: object) -> str:
    if isinstance(part, Template):
        return part.text
    return "\0".join(map(str, part.values())) if isinstance(part, Mapping) else str(part)


def _read(place: Traversable, name: str) -> str:
    try:
        return place.joinpath(name).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise PromptError(f"{name}: cannot be read: {error}") from error


def _version(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]
