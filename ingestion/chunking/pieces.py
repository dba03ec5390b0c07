"""Cuts a document into the smallest pieces that a passage is made of.

In: a document and the largest piece, in tokens. Out: sentences, table rows, list items, code blocks, in reading order,
with their place in the document's text. It does not decide which pieces make a passage; `chunker` does.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from domain.locator import Locator
from ingestion.chunking.sentences import Offsets, split_sentences
from ingestion.chunking.tokens import HUNDREDTHS, SPACE_WEIGHT, weigh_text
from ingestion.records import BLOCK_SEPARATOR, Block, BlockKind, Document

Splitter = Callable[[str], list[Offsets]]

LINE = re.compile(r"[^\n]+")
WORD = re.compile(r"\S+")
LIST_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]", re.MULTILINE)
_JOINERS = "\u200d\ufe0f"  # with a neighbour they make one visible character


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """What is not cut any further, and its price."""

    start: int
    end: int
    weight: int  # hundredths of a token
    gap: int  # hundredths of a token, of the whitespace between the piece before and this one
    kind: BlockKind
    locator: Locator
    whole: bool  # False: part of a sentence, row or item that is larger than a passage


def document_text(document: Document) -> str:
    """The text that spans point into: all blocks, joined by BLOCK_SEPARATOR."""
    return BLOCK_SEPARATOR.join(block.text for block in document.blocks)


def cut_document(document: Document, *, piece_tokens: int) -> list[Piece]:
    """All pieces in order, none above `piece_tokens`; between them there is nothing but whitespace."""
    limit = piece_tokens * HUNDREDTHS
    pieces: list[Piece] = []
    offset = 0
    previous_end = 0
    for block in document.blocks:
        for start, end, whole in _cut_block(block, limit):
            piece = Piece(
                start=offset + start,
                end=offset + end,
                weight=weigh_text(block.text[start:end]),
                gap=(offset + start - previous_end) * SPACE_WEIGHT,
                kind=block.kind,
                locator=_locator_of(block),
                whole=whole,
            )
            previous_end = piece.end
            pieces.append(piece)
        offset += len(block.text) + len(BLOCK_SEPARATOR)
    return pieces


def _locator_of(block: Block) -> Locator:
    """A heading stands under itself: the passage that it opens is found under its name."""
    path, locator = block.locator.headings, block.locator
    if block.kind is not BlockKind.HEADING or (path and path[-1] == block.text):
        return locator
    return Locator(
        page=locator.page,
        page_end=locator.page_end,
        start_s=locator.start_s,
        end_s=locator.end_s,
        headings=(*path, block.text),
    )


def _cut_block(block: Block, limit: int) -> Iterator[tuple[int, int, bool]]:
    first, *finer = SPLITTERS[block.kind]
    for start, end in first(block.text):
        if weigh_text(block.text[start:end]) <= limit:
            yield start, end, True
            continue
        for span in _cut_to_fit(block.text, (start, end), tuple(finer), limit):
            yield *span, False


def _cut_to_fit(text: str, span: Offsets, splitters: tuple[Splitter, ...], limit: int) -> Iterator[Offsets]:
    start, end = span
    if weigh_text(text[start:end]) <= limit:
        yield span
    elif not splitters:
        yield from _cut_characters(text, span, limit)
    else:
        for inner_start, inner_end in splitters[0](text[start:end]):
            yield from _cut_to_fit(text, (start + inner_start, start + inner_end), splitters[1:], limit)


def _cut_characters(text: str, span: Offsets, limit: int) -> Iterator[Offsets]:
    """Last resort, for a word that is larger than a passage; what is seen as one character stays together."""
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


def _split_whole(text: str) -> list[Offsets]:
    return [(start, end) for start, end in [_strip(text, 0, len(text))] if start < end]


def _split_lines(text: str) -> list[Offsets]:
    spans = [_strip(text, found.start(), found.end()) for found in LINE.finditer(text)]
    return [(start, end) for start, end in spans if start < end]


def _split_words(text: str) -> list[Offsets]:
    return [found.span() for found in WORD.finditer(text)]


def _split_items(text: str) -> list[Offsets]:
    borders = [0, *(found.start() for found in LIST_ITEM.finditer(text)), len(text)]
    spans = [_strip(text, start, end) for start, end in pairwise(borders)]
    return [(start, end) for start, end in spans if start < end]


def _strip(text: str, start: int, end: int) -> Offsets:
    """The span without whitespace at its sides; code keeps the indent of its first line out of the span."""
    stretch = text[start:end]
    left = len(stretch) - len(stretch.lstrip())
    return start + left, start + max(left, len(stretch.rstrip()))


SPLITTERS: dict[BlockKind, tuple[Splitter, ...]] = {
    BlockKind.HEADING: (_split_whole, split_sentences, _split_words),
    BlockKind.PARAGRAPH: (split_sentences, _split_lines, _split_words),
    BlockKind.LIST: (_split_items, split_sentences, _split_lines, _split_words),
    BlockKind.TABLE: (_split_lines, split_sentences, _split_words),
    BlockKind.CODE: (_split_whole, _split_lines, _split_words),
}
"""How a block is cut, coarsest first: the first one always, the others only for what is larger than a passage."""
