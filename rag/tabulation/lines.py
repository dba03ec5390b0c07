"""Finds lines of lists and tables that gave no row, although their neighbours did.

In: first cells of rows with their passages, the passages. Out: lines that may hold a missing row. The model decides
whether they do: a list may also hold other things. Pure.
"""

import re
from collections.abc import Iterator, Sequence

from domain.ids import ChunkId
from rag.iterative.grounding import plain, stands_in
from rag.records import Passage

MOSTLY = 0.5  # share of a list's lines that are rows: then it is a list of such things, and the others are suspicious
FEWEST_READ = 2  # a single row says nothing about the other lines
SUMS = frozenset({"итого", "всего", "итог", "total", "subtotal", "sum"})
"""First words of lines with totals."""

_ITEM = re.compile(r"[ \t]*(?:[-*+•–]|\d{1,3}[.)])[ \t]+\S")
_TABLE_LINE = re.compile(r"[ \t]*\|.*\|[ \t]*")
_RULE = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*")


def unread_lines(rows: Sequence[tuple[ChunkId, str]], part: Sequence[Passage]) -> tuple[str, ...]:
    """The lines in order, each once, since passages overlap. `rows`: passage and first cell of each row."""
    found: list[str] = []
    for passage in part:
        cells = [cell for chunk, cell in rows if chunk == passage.chunk_id]
        for lines in _runs(passage.text) if len(cells) >= FEWEST_READ else ():
            unread = [line for line in lines if not any(stands_in(cell, line) for cell in cells)]
            read = len(lines) - len(unread)
            if read >= max(FEWEST_READ, MOSTLY * len(lines)):
                found += [line.strip() for line in unread if _may_be_row(line)]
    read_elsewhere = [cell for _, cell in rows]
    return tuple(line for line in dict.fromkeys(found) if not any(stands_in(cell, line) for cell in read_elsewhere))


def _runs(text: str) -> Iterator[list[str]]:
    """The items of a passage's lists, then the rows of its tables without header rows."""
    lines = text.splitlines()
    yield [line for line in lines if _ITEM.match(line)]
    heads = {place - 1 for place, line in enumerate(lines) if _RULE.fullmatch(line)}
    yield [
        line
        for place, line in enumerate(lines)
        if _TABLE_LINE.fullmatch(line) and not _RULE.fullmatch(line) and place not in heads
    ]


def _may_be_row(line: str) -> bool:
    words = plain(line).split()
    return bool(words) and words[0] not in SUMS
