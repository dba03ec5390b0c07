"""Cuts what is too long for one block, such as a file without a line end or a cell of five million lines.

In: the text of a block. Out: texts of at most LARGEST_BLOCK_CHARS, cut at line ends where there are any, else at
blanks; the parts of a table begin with its header. Pure. Passages are not cut here, but in `ingestion.chunking`.
"""

from collections.abc import Iterator

from ingestion.chunking.tables import HEADER
from ingestion.records import LARGEST_BLOCK_CHARS, BlockKind

LARGEST_HEADER_SHARE = 0.1  # of a block: a longer header is not repeated
SEARCHED_CHARS = LARGEST_BLOCK_CHARS // 2  # before the limit, for a place to cut


def in_blocks(text: str, kind: BlockKind) -> Iterator[str]:
    """The text itself when it is short enough."""
    if len(text) <= LARGEST_BLOCK_CHARS:
        yield text
        return
    header = _header(text) if kind is BlockKind.TABLE else ""
    start = 0
    while start < len(text):
        lead = header if start else ""
        end = _end(text, start, LARGEST_BLOCK_CHARS - len(lead))
        yield lead + text[start:end].strip("\n")
        start = end


def _header(text: str) -> str:
    found = HEADER.match(text, 0, int(LARGEST_BLOCK_CHARS * LARGEST_HEADER_SHARE))
    return f"{found[0]}\n" if found else ""


def _end(text: str, start: int, room: int) -> int:
    end = start + room
    if end >= len(text):
        return len(text)
    for mark in ("\n", " "):
        found = text.rfind(mark, end - SEARCHED_CHARS, end)
        if found > start:
            return found + 1
    return end
