"""The lines of a page with what their fonts and places say, cleaned of what is no text of the author's.

In: lines as PDF readers give them. Out: `PageLine`s without invisible characters, running headers and page numbers.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

EDGE_LINES = 2  # at the top and at the bottom of a page a running line is looked for
RUNNING_SHARE = 0.4  # of the pages; left and right pages often have their own header
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
    **dict.fromkeys(range(0xD800, 0xE000)),  # halves of characters, from broken fonts: not text, and no UTF-8
}

SUBSTITUTED = re.compile(f"[{re.escape(''.join(map(chr, SUBSTITUTES)))}]")
FEWEST_LEADERS = 5
LEADERS = re.compile(rf"\s*(?:[.·]\s?){{{FEWEST_LEADERS},}}\s*")  # between a title and its page in a table of contents

RunningKey = str | int


@dataclass(frozen=True, kw_only=True, slots=True)
class PageLine:
    """A line and its looks; points (1/72 inch), 0 where the reader knows nothing of them."""

    text: str
    size: float = 0  # of the font
    bold: bool = False
    baseline: float = 0  # above the bottom of the page
    left: float = 0
    right: float = 0

    @property
    def is_placed(self) -> bool:
        """Whether the places are known."""
        return self.right > self.left


def plain_lines(texts: Sequence[str]) -> list[PageLine]:
    """Lines of which only the words are known."""
    return [PageLine(text=text) for text in texts]


def clean_line(line: PageLine) -> PageLine:
    """As people would read it; perhaps empty."""
    text = line.text
    if SUBSTITUTED.search(text):  # hardly a line has any, and to look is cheaper than to translate
        text = text.translate(SUBSTITUTES)
    if text.count(".") + text.count("·") >= FEWEST_LEADERS:
        text = LEADERS.sub(" … ", text)
    text = text.strip()
    return line if text == line.text else replace(line, text=text)


class RunningLines:
    """Leaves out page numbers and lines that stand at the edge of many pages; a line stays where it is first met.

    Only exact repetition counts: «Билет 1», «Билет 2» at the top of pages are headings, not headers.
    """

    def __init__(self) -> None:
        self._met: set[RunningKey] = set()

    def drop(
        self, pages: Iterable[Sequence[PageLine]], counts: Mapping[RunningKey, int], *, first: int, of_pages: int
    ) -> Iterator[list[PageLine]]:
        """The pages from `first`, from 0, without lines that `of_pages` pages have so often (`count_edges`)."""
        needed = max(FEWEST_RUNNING, of_pages * RUNNING_SHARE)
        running = {key for key, count in counts.items() if count >= needed}
        for page, lines in enumerate(pages, start=first):
            yield list(_without_running(lines, page, running, self._met))


def count_edges(pages: Iterable[Sequence[PageLine]], *, first: int) -> Counter[RunningKey]:
    """On how many pages from `first`, from 0, each line stands at the top or at the bottom."""
    edges = ({_running_key(line, page) for line in _edge_texts(lines)} for page, lines in enumerate(pages, start=first))
    return Counter(chain.from_iterable(edges))


def _edge_texts(lines: Sequence[PageLine]) -> list[str]:
    filled = [line.text for line in lines if line.text]
    return filled[:EDGE_LINES] + filled[-EDGE_LINES:]


def _running_key(line: str, page: int) -> RunningKey:
    """What must repeat: the words of a header, or how far a page number is ahead of the page's place in the file."""
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
