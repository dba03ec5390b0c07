"""Where in a document a piece of text stands: page, slide, row, seconds of audio, heading path.

In: what a parser knows. Out: a frozen record and its JSON form (the `locator` column and `baza ask --json`).
It does not format itself for people; `bot.replies.citations` does, in their language.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]
else:
    JsonValue = object  # pydantic cannot read a recursive type: where records have JSON it is taken as it is


@dataclass(frozen=True, kw_only=True)
class Locator:
    """A place in a document; every part is optional because every format knows something else."""

    page: int | None = None  # first page, counted from 1
    page_end: int | None = None  # last page, when the text runs over a page break
    start_s: float | None = None  # seconds from the beginning of a recording
    end_s: float | None = None
    slide: int | None = None  # counted from 1
    row: int | None = None  # first row of a sheet or CSV file, as its program numbers them; the sheet is a heading
    row_end: int | None = None  # last row
    member: str | None = None  # the file inside an archive or a letter
    url: str | None = None  # the page of a site
    headings: tuple[str, ...] = ()  # outermost first

    def to_json(self) -> dict[str, JsonValue]:
        """The parts that are known, as JSON; an empty dict when none is."""
        parts: dict[str, JsonValue] = {
            "page": self.page,
            "page_end": self.page_end,
            "start_s": self.start_s,
            "end_s": self.end_s,
            "slide": self.slide,
            "row": self.row,
            "row_end": self.row_end,
            "member": self.member,
            "url": self.url,
            "headings": list(self.headings) or None,
        }
        return {name: value for name, value in parts.items() if value is not None}

    @classmethod
    def from_json(cls, parts: Mapping[str, JsonValue]) -> Self:
        """The inverse of `to_json`; unknown keys are left out, so that older code reads newer rows."""
        known = {name: _READ[name](value) for name, value in parts.items() if name in _READ}
        return cls(**known)  # type: ignore[arg-type] # each part has its own type


def _integer(value: JsonValue) -> int | None:
    return int(value) if isinstance(value, (int, float)) else None


def _number(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


_READ: Mapping[str, Callable[[JsonValue], object]] = {
    "page": _integer,
    "page_end": _integer,
    "start_s": _number,
    "end_s": _number,
    "slide": _integer,
    "row": _integer,
    "row_end": _integer,
    "member": _text,
    "url": _text,
    "headings": _texts,
}
