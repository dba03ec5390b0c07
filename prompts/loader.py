"""Loads prompt files and fills their placeholders.

In: text files of this package with `{placeholders}`. Out: `Prompts`, whose fields name the placeholders. A file that
has others fails at load. Filled-in values are never expanded again: a retrieved passage that contains `{question}`
stays as it is.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Any, get_args, get_type_hints

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_HASH_DIGITS = 12  # enough to tell versions of a file apart in a log
ANSWER_LANGUAGES = ("ru", "en", "auto")  # the values of ANSWER_LANGUAGE
LANGUAGES = ("ru", "en")
RENDER_STYLES = ("BULLETS", "GROUPED_BULLETS", "SHORT", "TABLE")  # seed 4, section 8.1
SEARCH_POLICIES = ("planned", "explicit")  # the values of SEARCH_POLICY


class PromptError(Exception):
    """A prompt file is missing or has other placeholders than the program fills."""


@dataclass(frozen=True)
class Template:
    """A prompt file, and the names of what is filled in. A `fence` is a word that stands in none of the texts; `today`
    is an ISO date."""

    name: str
    text: str
    names: frozenset[str]

    def __post_init__(self) -> None:
        """Raises PromptError when the file has other placeholders."""
        if odd := ", ".join(sorted(self.names.symmetric_difference(_PLACEHOLDER.findall(self.text)))):
            raise PromptError(f"{self.name}: placeholders that the file or the program does not know: {odd}")

    def fill(self, **values: object) -> str:
        """The text with every placeholder replaced in one pass; placeholders inside the values are not expanded. Raises
        PromptError when the values are others than `names`."""
        if values.keys() != self.names:
            raise PromptError(f"{self.name}: filled with {', '.join(sorted(values))}")
        return _PLACEHOLDER.sub(lambda placeholder: str(values[placeholder[1]]), self.text)


More = Annotated[Template, "left total"]


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """All prompts, each with its placeholders. The settings alone fill `answer` and `planner`: they are the same for
    every question of an installation, so that they can be cached."""

    answer: Annotated[Template, "language outside"]  # texts of `languages` and `outside`
    question: Annotated[Template, "fence materials form today question"]  # the last message when something was found
    question_alone: Annotated[Template, "today question"]  # when nothing was found
    question_dialogue: Annotated[Template, "today question"]  # when the plan called no tool
    earlier: Annotated[Template, "earlier"]  # before the question when the dialogue is longer than its window
    stricter: Annotated[Template, "remarks"]  # sent with an answer that did not pass its check
    support: str
    support_task: Annotated[Template, "fence sources today question statements"]
    languages: Mapping[str, str]  # by ANSWER_LANGUAGE
    outside: Mapping[bool, str]  # by GENERAL_KNOWLEDGE
    planner: Annotated[Template, "max_calls threshold policy tools"]  # a text of `policies`; tools: one per paragraph
    planner_question: Annotated[Template, "known today fence question"]
    summary: Annotated[Template, "words"]  # at most
    summary_exchanges: Annotated[Template, "fence summary exchanges"]
    policies: Mapping[str, str]  # by SEARCH_POLICY
    more: Mapping[str, Template]  # by language, ru or en: the line at the end of a list that was cut (seed 4, 8.3)
    which: Mapping[str, str]  # likewise; asks which of several documents is meant
    transcribe: str
    analyze: str
    contents: str
    analyze_task: Annotated[Template, "fence materials background today question task"]  # the person's question
    iterative: str
    iterative_task: str
    iterative_synthesis: str
    rows: str
    entities: str
    entities_part: Annotated[Template, "known title fence part"]
    forms: Mapping[str, str]  # by render style; `{items}`, `{groups}` and `{paragraphs}` stand for the plan's limits
    left_out: More  # behind the form: what the model is told of a list that was cut

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
        "more": {name: _prompt(place, f"rules/more_{name}.md", More) for name in LANGUAGES},
        "which": {name: _read(place, f"rules/which_{name}.md") for name in LANGUAGES},
        "forms": {name: _read(place, f"rules/form_{name.lower()}.md") for name in RENDER_STYLES},
        "left_out": _prompt(place, "rules/left_out.md", More),
    }
    others = {name: kind for name, kind in get_type_hints(Prompts, include_extras=True).items() if name not in rules}
    texts = {name: _prompt(place, f"{name}.md", kind) for name, kind in others.items()}
    return Prompts(**rules, **texts)  # type: ignore[arg-type] # each as its field says


def _prompt(place: Traversable, name: str, kind: Any) -> object:
    text = _read(place, name)
    return text if kind is str else Template(name, text, frozenset(get_args(kind)[1].split()))


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
