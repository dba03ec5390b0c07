"""Cuts a document into the smallest pieces that a passage is made of.

In: blocks in order and the largest piece, in tokens. Out: sentences, table rows, list items, code blocks, in order,
with their place in the document's text. It does not decide which pieces make a passage; `chunker` does.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from domain.locator import Locator
from ingestion.chunking.cutting import SPLITTERS, cut_to_fit, split_lines
from ingestion.chunking.sentences import Offsets
from ingestion.chunking.tables import find_header, row_locator
from ingestion.chunking.tokens import HUNDREDTHS, SPACE_WEIGHT, weigh_text
from ingestion.records import BLOCK_SEPARATOR, Block, BlockKind, Document

LARGEST_LEAD = 0.7
"""Of a passage: a larger table header is not repeated, since it would leave too little room for rows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lead:
    """The table header that a passage repeats when it begins in the middle of the table."""

    start: int
    end: int
    weight: int  # hundredths of a token, including the line end after it


class Piece(NamedTuple):
    """A unit of packing with its weight. A tuple is created twice as fast; a book has tens of thousands."""

    start: int
    end: int
    weight: int  # hundredths of a token
    gap: int  # hundredths of a token: the whitespace between this piece and the one before
    kind: BlockKind
    locator: Locator
    whole: bool  # False: part of a sentence, row or item that is larger than a passage
    block: int  # number of its block
    announces: bool  # a heading, a table's header, «... следующее:»: useless without what follows
    lead: Lead | None = None


class _Cut(NamedTuple):
    """A piece with offsets in its block."""

    start: int
    end: int
    weight: int
    whole: bool
    announces: bool
    locator: Locator
    lead: Lead | None = None


def document_text(document: Document) -> str:
    """The text that spans refer to: all blocks, joined by BLOCK_SEPARATOR."""
    return BLOCK_SEPARATOR.join(block.text for block in document.blocks)


class Knife:
    """Cuts the blocks of one document, given in order."""

    def __init__(self, *, piece_tokens: int) -> None:
        """`piece_tokens` is the size of the largest piece."""
        self._limit = piece_tokens * HUNDREDTHS
        self._offset = 0  # of the next block
        self._previous_end = 0  # of the last piece
        self._number = 0  # of the next block

    def cut(self, block: Block) -> list[Piece]:
        """The pieces of the next block, separated only by whitespace; their offsets are in the document's text."""
        offset, end = self._offset, self._previous_end
        kind, number = block.kind, self._number
        pieces = []
        for start, stop, weight, whole, announces, locator, lead in _cut_block(block, self._limit):
            gap = (offset + start - end) * SPACE_WEIGHT
            end = offset + stop
            moved = None if lead is None else replace(lead, start=lead.start + offset, end=lead.end + offset)
            # Positional, in field order: keyword arguments would take twice as long.
            pieces.append(Piece(offset + start, end, weight, gap, kind, locator, whole, number, announces, moved))
        self._previous_end = end
        self._offset = offset + len(block.text) + len(BLOCK_SEPARATOR)
        self._number += 1
        return pieces


def _cut_block(block: Block, limit: int) -> Iterator[_Cut]:
    if block.kind is BlockKind.TABLE:
        yield from _cut_table(block, limit)
        return
    first, *finer = SPLITTERS[block.kind]
    locator = _locator_of(block)
    last = len(block.text.rstrip())
    is_heading = block.kind is BlockKind.HEADING
    for span in first(block.text):
        for start, end, weight in cut_to_fit(block.text, span, finer, limit):
            announces = is_heading or (end == last and block.text[end - 1] == ":")
            yield _Cut(start, end, weight, (start, end) == span, announces, locator)


def _cut_table(block: Block, limit: int) -> Iterator[_Cut]:
    """The header in one piece, then row by row; header and row together fit a passage."""
    header = find_header(block)
    lead = _lead(block, header, limit)
    rows = [span for span in split_lines(block.text) if header is None or span[0] >= header[1]]
    if header is not None:
        rows.insert(0, header)
    room = limit - (lead.weight if lead else 0)
    finer = SPLITTERS[BlockKind.TABLE]
    for number, span in enumerate(rows):
        locator = row_locator(block, number, rows=len(rows), has_header=header is not None)
        is_header = span == header
        for start, end, weight in cut_to_fit(block.text, span, finer, limit if is_header else room):
            yield _Cut(
                start=start,
                end=end,
                weight=weight,
                whole=(start, end) == span,
                announces=is_header and lead is not None,
                locator=locator,
                lead=None if is_header else lead,
            )


def _lead(block: Block, header: Offsets | None, limit: int) -> Lead | None:
    """As much of the header, from its end, as may be repeated: the names of columns, then the lines above them."""
    if header is None:
        return None
    for start, _ in split_lines(block.text[: header[1]])[:-1]:
        weight = weigh_text(block.text[start : header[1]]) + SPACE_WEIGHT
        if weight <= limit * LARGEST_LEAD:
            return Lead(start=start, end=header[1], weight=weight)
    return None


def _locator_of(block: Block) -> Locator:
    """A heading's own locator includes the heading: the passage that it opens is found by its name."""
    path = block.locator.headings
    if block.kind is not BlockKind.HEADING or (path and path[-1] == block.text):
        return block.locator
    return replace(block.locator, headings=(*path, block.text))
