"""Loads prompt files and fills their placeholders.

In: text files of this package with `{placeholders}`. Out: `Prompts`, whose fields name the placeholders; a file that
has others fails at load.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Annotated, Any, get_args, get_type_hints

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
LANGUAGES = ("ru", "en")
RENDER_STYLES = ("BULLETS", "GROUPED_BULLETS", "SHORT", "TABLE")  # seed 4, section 8.1


class PromptError(Exception):
    """A prompt file has other placeholders than the program fills."""


@dataclass(frozen=True)
class Template:
    """A prompt file, and the names of what is filled in."""

    name: str
    text: str
    names: frozenset[str]

    def __post_init__(self) -> None:
        if odd := ", ".join(sorted(self.names.symmetric_difference(_PLACEHOLDER.findall(self.text)))):
            raise PromptError(f"{self.name}: placeholders that the file or the program does not know: {odd}")

    def fill(self, **values: object) -> str:
        """Every placeholder replaced in one pass; those inside the values are not expanded. Raises PromptError."""
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
        return hashlib.sha256(repr(self).encode()).hexdigest()[:12]


def load_prompts() -> Prompts:
    """Each from the file of its name, and texts that stand in others from `rules`. Raises PromptError."""
    rules: dict[str, object] = {
        "languages": {name: _read(f"rules/language_{name}", str) for name in (*LANGUAGES, "auto")},
        "outside": {True: _read("rules/outside_general", str), False: _read("rules/outside_nothing", str)},
        "policies": {name: _read(f"rules/search_{name}", str) for name in ("planned", "explicit")},
        "more": {name: _read(f"rules/more_{name}", More) for name in LANGUAGES},
        "which": {name: _read(f"rules/which_{name}", str) for name in LANGUAGES},
        "forms": {name: _read(f"rules/form_{name.lower()}", str) for name in RENDER_STYLES},
        "left_out": _read("rules/left_out", More),
    }
    kinds = get_type_hints(Prompts, include_extras=True)
    texts = {name: _read(name, kind) for name, kind in kinds.items() if name not in rules}
    return Prompts(**rules, **texts)  # type: ignore[arg-type] # each as its field says


def _read(name: str, kind: Any) -> object:
    text = files("prompts").joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
    return text if kind is str else Template(name, text, frozenset(get_args(kind)[1].split()))
