"""Cleans the lines of a page, which carry their font and position.

In: lines as PDF readers give them. Out: `PageLine`s without invisible characters, running headers and page numbers.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

EDGE_LINES = 2  # lines at the top and at the bottom of a page that may be running headers
RUNNING_SHARE = 0.4  # of the pages; left and right pages often have different headers
FEWEST_RUNNING = 3  # pages

PAGE_NUMBER = re.compile(
    r"[-–—\s|]*(?:(?:page|p\.|страница|стр\.|с\.|лист)\s*)?(\d{1,4})(?:\s*(?:/|of|из|\|)\s*\d{1,4})?[-–—\s|]*",
    re.IGNORECASE,
)
LEADING_NUMBER = re.compile(r"^\d{1,4}\s+(?=\D)")  # "12 Author et al.": the page number before a header

SUBSTITUTES = {
    **dict(zip(range(0xFB00, 0xFB07), ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)),  # ligatures
    0x00: None,
    0xAD: None,  # soft hyphen
    0xFFFE: None,
    **dict(zip((0xF0B7, 0xF0A7, 0xF02D, 0xF0D8, 0xF0FC), "•▪–➢✓", strict=True)),  # of the fonts Symbol and Wingdings
    **dict.fromkeys(range(0xD800, 0xE000)),  # lone surrogates from broken fonts: not text, and not valid in UTF-8
}

SUBSTITUTED = re.compile(f"[{re.escape(''.join(map(chr, SUBSTITUTES)))}]")
FEWEST_LEADERS = 5
LEADERS = re.compile(rf"\s*(?:[.·]\s?){{{FEWEST_LEADERS},}}\s*")  # between a title and its page in a table of contents

RunningKey = str | int


class Segment(NamedTuple):
    """A part of a line between wide gaps, from `left` to `right`."""

    text: str
    left: float
    right: float


class Cell(NamedTuple):
    """A place in a ruled table."""

    grid: int  # number of the table on its page
    row: int
    column: int
    left: float  # its rules, points
    right: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PageLine:
    """A line and its look; measures in points (1/72 inch), 0 where unknown."""

    text: str
    size: float = 0  # of the font
    bold: bool = False
    baseline: float = 0  # above the bottom of the page
    left: float = 0
    right: float = 0
    segments: tuple[Segment, ...] = ()  # only of a line on a page that may have tables
    cell: Cell | None = None  # of a line inside a ruled table

    @property
    def is_placed(self) -> bool:
        """Whether the position is known."""
        return self.right > self.left


def plain_lines(texts: Sequence[str]) -> list[PageLine]:
    """Lines of which only the text is known."""
    return [PageLine(text=text) for text in texts]


def clean_line(line: PageLine) -> PageLine:
    """The line as people would read it; it may become empty."""
    text = _clean(line.text)
    if text == line.text:
        return line
    segments = (each._replace(text=_clean(each.text)) for each in line.segments)
    return replace(line, text=text, segments=tuple(each for each in segments if each.text))


def _clean(text: str) -> str:
    if SUBSTITUTED.search(text):  # few lines have any, and searching is cheaper than translating
        text = text.translate(SUBSTITUTES)
    if text.count(".") + text.count("·") >= FEWEST_LEADERS:
        text = LEADERS.sub(" … ", text)
    return text.strip()


class RunningLines:
    """Drops page numbers, and running lines at the edges of pages except where one first occurs.

    Only exact repetition counts: «Билет 1», «Билет 2» at the top of pages are headings, not headers.
    """

    def __init__(self) -> None:
        self._met: set[RunningKey] = set()

    def drop(
        self, pages: Iterable[Sequence[PageLine]], counts: Mapping[RunningKey, int], *, first: int, of_pages: int
    ) -> Iterator[list[PageLine]]:
        """The pages, numbered from `first`, without lines that are on many of `of_pages` pages (`count_edges`)."""
        needed = max(FEWEST_RUNNING, of_pages * RUNNING_SHARE)
        running = {key for key, count in counts.items() if count >= needed}
        for page, lines in enumerate(pages, start=first):
            yield list(_without_running(lines, page, running, self._met))


def count_edges(pages: Iterable[Sequence[PageLine]], *, first: int) -> Counter[RunningKey]:
    """For each line at the top or bottom of a page, on how many pages it occurs; pages are numbered from `first`."""
    edges = ({_running_key(line, page) for line in _edge_texts(lines)} for page, lines in enumerate(pages, start=first))
    return Counter(chain.from_iterable(edges))


def _edge_texts(lines: Sequence[PageLine]) -> list[str]:
    filled = [line.text for line in lines if line.text]
    return filled[:EDGE_LINES] + filled[-EDGE_LINES:]


def _running_key(line: str, page: int) -> RunningKey:
    """What must repeat: a header's words, or the difference between a page number and the page's index in the file."""
    number = PAGE_NUMBER.fullmatch(line)
    if number is not None:
        return int(number.group(1)) - page
    return LEADING_NUMBER.sub("", " ".join(line.split()).casefold())


def _without_running(
    lines: Sequence[PageLine], page: int, running: set[RunningKey], met: set[RunningKey]
) -> Iterator[PageLine]:
    filled = [index for index, line in enumerate(lines) if line.text]
    edge = {*filled[:EDGE_LINES], *filled[-EDGE_LINES:]}
    for index, line in enumerate(lines):
        key = _running_key(line.text, page) if index in edge else None
        if key not in running:
            yield line
        elif isinstance(key, str) and key not in met:
            met.add(key)
            yield line
