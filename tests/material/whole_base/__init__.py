"""Documents with amendments, versions, a copy, letters and price lists, and twenty questions of known truth.

In: `documents` and `questions.toml` beside this file. Out: the same as records.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pydantic import JsonValue

FOLDER = Path(__file__).parent / "documents"
QUESTIONS = Path(__file__).parent / "questions.toml"
WHAT = {
    "contracts": "договор",
    "acts": "акт",
    "tasks": "поручение",
    "prices": "товар",
    "changes": "товар",
    "supplements": "дополнительное соглашение",
}
"""What one row is, by set of things."""

Cell = str | int | date


@dataclass(frozen=True, kw_only=True)
class TrueRow:
    """A thing as it is once all documents are taken together."""

    cells: tuple[Cell, ...]
    documents: tuple[str, ...]  # for each cell: how the name of the document that says it begins
    disputed: Mapping[str, tuple[str, str]]  # column -> what is said otherwise, and where
    formerly: Mapping[str, tuple[str, ...]]  # column -> what was replaced


@dataclass(frozen=True, kw_only=True)
class WholeBaseQuestion:
    """A question, how a careful planner calls `collect_rows` for it, and the right answer."""

    text: str
    is_unseen: bool  # written before the code and put aside while it was made
    arguments: Mapping[str, JsonValue]
    columns: tuple[str, ...]  # of the file
    rows: tuple[TrueRow, ...]
    is_ordered: bool
    says: tuple[str, ...]  # what the facts have to say word for word


def read_questions() -> tuple[WholeBaseQuestion, ...]:
    """All, in the order of the file."""
    content = tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))
    return tuple(_question(each, content[each["of"]]) for each in content["questions"])


def _question(question: dict, things: dict) -> WholeBaseQuestion:  # type: ignore[type-arg]  # TOML of any kind
    columns = tuple(things["columns"])
    asked = columns if question["of"] != "changes" else ("товар", "цена")
    return WholeBaseQuestion(
        text=question["text"],
        is_unseen=question["half"] == "unseen",
        arguments={"what": WHAT[question["of"]], "columns": list(asked), **question["arguments"]},
        columns=columns,
        rows=tuple(_row(things["things"][key], columns) for key in question["rows"]),
        is_ordered=question.get("ordered", False),
        says=tuple(question["says"]),
    )


def _row(thing: dict, columns: tuple[str, ...]) -> TrueRow:  # type: ignore[type-arg]  # TOML of any kind
    said_by = thing.get("said_by", {})
    return TrueRow(
        cells=tuple(thing["cells"]),
        documents=tuple(said_by.get(column, thing["document"]) for column in columns),
        disputed={column: (value, where) for column, (value, where) in thing.get("disputed", {}).items()},
        formerly={column: tuple(values) for column, values in thing.get("formerly", {}).items()},
    )
