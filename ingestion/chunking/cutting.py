"""Cuts a block into units that stay whole (sentences, rows, items, code), and larger ones further.

In: a text and the largest weight of a piece (see `tokens`). Out: spans in order that omit nothing but whitespace. It
knows neither documents nor passages.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from ingestion.chunking.sentences import Offsets, split_sentences
from ingestion.chunking.tokens import weigh_text
from ingestion.records import BlockKind

Splitter = Callable[[str], list[Offsets]]
Weighed = tuple[int, int, int]
"""A span (start, end) and its weight."""

LINE = re.compile(r"[^\n]+")
WORD = re.compile(r"\S+")
LIST_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]", re.MULTILINE)
CLAUSE_END = re.compile(r"[,;:](?=\s)|[，；：。！？]")
CELL_END = re.compile(r"(?<=\s)\|(?=\s)")
_JOINERS = "\u200d\ufe0f"  # they join neighbours into one visible character


def cut_to_fit(text: str, span: Offsets, splitters: Sequence[Splitter], limit: int) -> list[Weighed]:
    """The span if it weighs at most `limit`; else its parts by the first splitter, cut by the others."""
    start, end = span
    weight = weigh_text(text[start:end])
    if weight <= limit:
        return [(start, end, weight)]
    if not splitters:
        return [(begin, stop, weigh_text(text[begin:stop])) for begin, stop in _cut_characters(text, span, limit)]
    spans = [(start + inner_start, start + inner_end) for inner_start, inner_end in splitters[0](text[start:end])]
    return [part for inner in spans for part in cut_to_fit(text, inner, splitters[1:], limit)]


def _cut_characters(text: str, span: Offsets, limit: int) -> Iterator[Offsets]:
    """Last resort, for a word larger than a passage; what displays as one character stays together."""
    start, end = span
    weight, last_border = 0, start
    for position in range(start, end):
        if not _clings(text, position):
            last_border = position
        character_weight = weigh_text(text[position])
        if weight + character_weight > limit and position > start:
            keeps = start < last_border and weigh_text(text[last_border : position + 1]) <= limit
            cut = last_border if keeps else position
            yield start, cut
            weight, start, last_border = weigh_text(text[cut:position]), cut, position
        weight += character_weight
    yield start, end


def _clings(text: str, position: int) -> bool:
    character = text[position]
    before = text[position - 1] if position else ""
    return unicodedata.combining(character) != 0 or character in _JOINERS or before == "\u200d"


def split_whole(text: str) -> list[Offsets]:
    """The whole text as one span, without surrounding whitespace."""
    return _stripped(text, [0, len(text)])


def split_lines(text: str) -> list[Offsets]:
    """Non-empty lines."""
    spans = [_strip(text, found.start(), found.end()) for found in LINE.finditer(text)]
    return [(start, end) for start, end in spans if start < end]


def split_words(text: str) -> list[Offsets]:
    """Words, separated by whitespace."""
    return [found.span() for found in WORD.finditer(text)]


def split_items(text: str) -> list[Offsets]:
    """List items with the lines that belong to them."""
    return _stripped(text, [0, *(found.start() for found in LIST_ITEM.finditer(text)), len(text)])


def split_clauses(text: str) -> list[Offsets]:
    """Clauses: where somebody who reads aloud would pause."""
    return _stripped(text, [0, *(found.end() for found in CLAUSE_END.finditer(text)), len(text)])


def split_cells(text: str) -> list[Offsets]:
    """Cells of a table row, each with the pipe before it."""
    return _stripped(text, [0, *(found.start() for found in CELL_END.finditer(text)), len(text)])


def _stripped(text: str, borders: Sequence[int]) -> list[Offsets]:
    spans = [_strip(text, start, end) for start, end in pairwise(borders)]
    return [(start, end) for start, end in spans if start < end]


def _strip(text: str, start: int, end: int) -> Offsets:
    """The span without surrounding whitespace; for code, this excludes the indent of the first line."""
    stretch = text[start:end]
    left = len(stretch) - len(stretch.lstrip())
    return start + left, start + max(left, len(stretch.rstrip()))


SPLITTERS: dict[BlockKind, tuple[Splitter, ...]] = {
    BlockKind.HEADING: (split_whole, split_sentences, split_clauses, split_words),
    BlockKind.PARAGRAPH: (split_sentences, split_lines, split_clauses, split_words),
    BlockKind.LIST: (split_items, split_sentences, split_lines, split_clauses, split_words),
    BlockKind.TABLE: (split_lines, split_cells, split_sentences, split_clauses, split_words),
    BlockKind.CODE: (split_whole, split_lines, split_words),
}
"""Splitters of each kind of block, coarsest first: the first always applies, the others to what exceeds a passage."""
