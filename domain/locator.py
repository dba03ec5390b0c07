"""Where in a document a piece of text stands: page, slide, row, seconds of audio, heading path.

In: what a parser knows. Out: a frozen record and its JSON form (the `locator` column and `baza ask --json`).
It does not format itself for people; `bot.replies.citations` does, in their language.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

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
        parts = {name: value for name, value in vars(self).items() if value is not None}
        headings = parts.pop("headings")
        return {**parts, "headings": list(headings)} if headings else parts

    @classmethod
    def from_json(cls, parts: Mapping[str, JsonValue]) -> Self:
        """The inverse of `to_json`; unknown keys are left out, so that older code reads newer rows. Raises
        ValueError."""
        try:
            return cls(**{name: _KINDS[name](value) for name, value in parts.items() if name in _KINDS})
        except (TypeError, OverflowError) as error:
            raise ValueError("not a place of ours") from error


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError("a list was expected")
    return tuple(map(str, value))


_KINDS: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(("page", "page_end", "slide", "row", "row_end"), int),
    **dict.fromkeys(("start_s", "end_s"), float),
    **dict.fromkeys(("member", "url"), str),
    "headings": _texts,
}
