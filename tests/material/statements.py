"""True and wrong statements with the facts that they cite: what a checker of answers is measured on.

In: `grounding/*.toml`. Out: `Case`s, each one answer as a model would write it, and which of its statements are wrong.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

HALVES = ("unseen", "tuned")
_FOLDER = Path(__file__).parent / "grounding"


@dataclass(frozen=True, kw_only=True)
class Told:
    """A statement of an answer, and what is wrong with it."""

    text: str  # without marks
    wrong: str = ""  # the planted error; empty: the statement is true
    kind: str = ""  # of a true statement


@dataclass(frozen=True, kw_only=True)
class Case:
    """One answer."""

    id: str
    question: str
    facts: tuple[str, ...]
    answer: str  # with marks, without its sign
    told: tuple[Told, ...]
    dialogue: tuple[str, ...] = ()  # questions and answers before it, in turn


def load_cases(half: str) -> tuple[Case, ...]:
    """The cases of one of `HALVES`."""
    entries = tomllib.loads((_FOLDER / f"{half}.toml").read_text(encoding="utf-8"))["case"]
    return tuple(_case(entry) for entry in entries)


def _case(entry: dict[str, object]) -> Case:
    statements = entry["statements"]
    facts, dialogue = entry["facts"], entry.get("dialogue", [])
    assert isinstance(statements, list)
    assert isinstance(facts, list)
    assert isinstance(dialogue, list)
    written = ""
    for each in statements:
        text = str(each["text"])
        written += text if text.startswith("\n") or not written else f" {text}"
    told = tuple(
        Told(text=str(e["text"]).strip(), wrong=e.get("wrong", ""), kind=e.get("kind", "")) for e in statements
    )
    return Case(
        id=str(entry["id"]),
        question=str(entry["question"]),
        facts=tuple(map(str, facts)),
        dialogue=tuple(map(str, dialogue)),
        answer=written.strip(),
        told=told,
    )
