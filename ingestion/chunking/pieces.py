"""Cuts a document into the smallest pieces that a passage is made of.

In: blocks in order and the largest piece, in tokens. Out: units that stay whole (sentences, table rows, list items,
code blocks) in order, larger ones cut further; nothing but whitespace is omitted. `chunker` makes passages of them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from domain.locator import Locator
from ingestion.chunking.sentences import Offsets, split_sentences
from ingestion.chunking.windows import SPACE_WEIGHT, weigh_text
from ingestion.records import BLOCK_SEPARATOR, Block, BlockKind

HEADER = re.compile(r"\A(?:[^|\n][^\n]*\n)*+[^\n]+\n\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?=\n|\Z)")
Splitter = Callable[[str], list[Offsets]]
Weighed = tuple[int, int, int]
"""A span (start, end) and its weight."""
LONGEST_LINE_CHARS = 80  # of a heading that nothing marks as one
LARGEST_LEAD = 0.7
"""Of a passage: a larger table header is not repeated, since it would leave too little room for rows."""


def find_header(block: Block) -> Offsets | None:
    """The span of the header with the rule under it."""
    return found.span() if (found := HEADER.match(block.text)) else None


def row_locator(block: Block, number: int, *, rows: int, has_header: bool) -> Locator:
    """The locator of row `number` of `rows`, of which a header is number 0. The block's range may count the header or
    not; with any other count some rows were left out, and only the whole range is known."""
    locator = block.locator
    if locator.row is None:
        return locator
    named = (locator.row_end or locator.row) - locator.row + 1
    if named == rows:
        return replace(locator, row=locator.row + number, row_end=None)
    if has_header and named == rows - 1:
        return replace(locator, row=locator.row + max(number - 1, 0), row_end=None)
    return locator


def cut_to_fit(text: str, span: Offsets, splitters: Sequence[Splitter], limit: int) -> list[Weighed]:
    """The span if it weighs at most `limit`; else its parts by the first splitter, cut by the others."""
    start, end = span
    weight = weigh_text(text[start:end])
    if weight <= limit:
        return [(start, end, weight)]
    if not splitters:
        return list(_cut_characters(text, span, limit))
    spans = [(start + inner_start, start + inner_end) for inner_start, inner_end in splitters[0](text[start:end])]
    return [part for inner in spans for part in cut_to_fit(text, inner, splitters[1:], limit)]


def _cut_characters(text: str, span: Offsets, limit: int) -> Iterator[Weighed]:
    """Last resort, for a word larger than a passage."""
    start, end = span
    weight = 0
    for position in range(start, end):
        own = weigh_text(text[position])
        if weight + own > limit and position > start:
            yield start, position, weight
            start, weight = position, 0
        weight += own
    yield start, end, weight


def _before(pattern: str, *, behind: bool = False) -> Splitter:
    """Cuts before each match, or behind it, and leaves out the whitespace around the parts."""
    compiled = re.compile(pattern, re.MULTILINE)

    def split(text: str) -> list[Offsets]:
        borders = [found.end() if behind else found.start() for found in compiled.finditer(text)]
        parts = ((end, text[start:end].lstrip()) for start, end in pairwise([0, *borders, len(text)]))
        return [(end - len(part), end - len(part) + len(part.rstrip())) for end, part in parts if part]

    return split


split_whole = _before("(?!)")
split_lines = _before("\n")
split_words = _before(r"\s+")
split_items = _before(r"^[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]")  # with the lines that belong to them
split_clauses = _before(r"[,;:](?=\s)|[，；：。！？]", behind=True)  # where somebody who reads aloud would pause
split_cells = _before(r"(?<=\s)\|(?=\s)")  # each with the pipe before it

SPLITTERS: dict[BlockKind, tuple[Splitter, ...]] = {
    BlockKind.HEADING: (split_whole, split_sentences, split_clauses, split_words),
    BlockKind.PARAGRAPH: (split_sentences, split_lines, split_clauses, split_words),
    BlockKind.LIST: (split_items, split_sentences, split_lines, split_clauses, split_words),
    BlockKind.TABLE: (split_lines, split_cells, split_sentences, split_clauses, split_words),
    BlockKind.CODE: (split_whole, split_lines, split_words),
}
"""Splitters of each kind of block, coarsest first: the first always applies, the others to what exceeds a passage."""


class Piece(NamedTuple):
    """A unit of packing. A tuple is created twice as fast; a book has tens of thousands."""

    start: int  # in the document's text
    before: str  # the whitespace between the piece before and this one
    text: str
    above: int  # hundredths of a token, of the document's text before this piece
    weight: int  # of its own text
    kind: BlockKind
    locator: Locator
    whole: bool  # False: part of a sentence, row or item that is larger than a passage
    block: int  # number of its block
    announces: bool  # a heading, a line like one, a table's header, «... следующее:»: useless without what follows
    lead: str = ""  # the table header, with its line end, that a passage repeats when it begins here


class Knife:
    """Cuts the blocks of one document, given in order."""

    def __init__(self, limit: int) -> None:
        """`limit` is the weight of the largest piece."""
        self._limit = limit
        self._offset = self._number = 0  # of the block
        self._end = 0  # of the last piece, in the block
        self._between = ""  # the end of the blocks before, behind their last piece
        self._weight = 0  # of the text up to the end of the last piece
        self._after_line = False  # whether the block before was a line like a heading

    def cut(self, block: Block) -> list[Piece]:
        """The pieces of the next block, separated only by whitespace; their offsets are in the document's text."""
        is_line = _is_like_heading(block)
        # Of several lines like headings the others are a list.
        opens = block.kind is BlockKind.HEADING or (is_line and not self._after_line)
        pieces = list(self._cut_table(block) if block.kind is BlockKind.TABLE else self._cut_text(block, opens=opens))
        self._offset += len(block.text) + len(BLOCK_SEPARATOR)
        self._between += block.text[self._end :] + BLOCK_SEPARATOR
        self._end = 0
        self._number += 1
        self._after_line = is_line
        return pieces

    def _cut_text(self, block: Block, *, opens: bool) -> Iterator[Piece]:
        first, *finer = SPLITTERS[block.kind]
        locator = block.locator
        last = len(block.text.rstrip())
        if block.kind is BlockKind.HEADING and locator.headings[-1:] != (block.text,):
            # The passage that it opens is found by its name.
            locator = replace(locator, headings=(*locator.headings, block.text))
        for span in first(block.text):
            for part in cut_to_fit(block.text, span, finer, self._limit):
                announces = opens or (part[1] == last and block.text[last - 1] == ":")
                yield self._piece(block, part, locator, whole=part[:2] == span, announces=announces)

    def _cut_table(self, block: Block) -> Iterator[Piece]:
        """The header in one piece, then row by row; header and row together fit a passage."""
        header = find_header(block)
        lead = _lead(block, header, self._limit)
        rows = [span for span in split_lines(block.text) if header is None or span[0] >= header[1]]
        if header is not None:
            rows.insert(0, header)
        room = self._limit - weigh_text(lead)
        for number, span in enumerate(rows):
            locator = row_locator(block, number, rows=len(rows), has_header=header is not None)
            is_header = span == header
            limit, own_lead = (self._limit, "") if is_header else (room, lead)
            for part in cut_to_fit(block.text, span, SPLITTERS[BlockKind.TABLE], limit):
                announces = is_header and lead != ""
                yield self._piece(block, part, locator, whole=part[:2] == span, announces=announces, lead=own_lead)

    def _piece(
        self, block: Block, part: Weighed, locator: Locator, *, whole: bool, announces: bool, lead: str = ""
    ) -> Piece:
        start, end, weight = part
        before, text = self._between + block.text[self._end : start], block.text[start:end]
        above = self._weight + len(before) * SPACE_WEIGHT
        self._between, self._end, self._weight = "", end, above + weight
        # Positional, in field order: keyword arguments would take twice as long.
        return Piece(
            self._offset + start, before, text, above, weight, block.kind, locator, whole, self._number, announces, lead
        )


def _is_like_heading(block: Block) -> bool:
    """A paragraph of one short line that ends no sentence: what plain texts have for headings."""
    line = block.text.strip()
    is_short = block.kind is BlockKind.PARAGRAPH and len(line) <= LONGEST_LINE_CHARS and "\n" not in line
    return is_short and line[-1:].isalnum()


def _lead(block: Block, header: Offsets | None, limit: int) -> str:
    """As much of the header, from its end, as may be repeated: the names of columns, then the lines above them."""
    text = block.text[: header[1]] if header else ""
    leads = (f"{text[start:]}\n" for start, _ in split_lines(text)[:-1])
    return next((lead for lead in leads if weigh_text(lead) <= limit * LARGEST_LEAD), "")
