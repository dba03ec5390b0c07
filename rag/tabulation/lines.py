"""Lines of lists and tables that no row was read out of, although their neighbours are rows.

In: first cells of rows with the passages that they stand in, the passages. Out: lines that may hold a row that was left
out. Whether they do is the model's to say: a list may be of other things, too. Pure.
"""

import re
from collections.abc import Iterator, Sequence

from domain.ids import ChunkId
from rag.iterative.grounding import plain, stands_in
from rag.records import Passage

MOSTLY = 0.5  # of a list's lines are rows: then it is a list of such things, and the others are worth a second look
FEWEST_READ = 2  # one row of a list says nothing of the others
SUMS = frozenset({"итого", "всего", "итог", "total", "subtotal", "sum"})
"""First words of lines that add up the others."""

_ITEM = re.compile(r"[ \t]*(?:[-*+•–]|\d{1,3}[.)])[ \t]+\S")
_TABLE_LINE = re.compile(r"[ \t]*\|.*\|[ \t]*")
_RULE = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*")


def unread_lines(rows: Sequence[tuple[ChunkId, str]], part: Sequence[Passage]) -> tuple[str, ...]:
    """In order, each once: passages repeat the ends of those before them."""
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
    """The items of a passage's lists, the rows of its tables without their heads."""
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
