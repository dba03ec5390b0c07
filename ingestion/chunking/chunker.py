"""Packs a document into passages: paragraphs up to a budget of tokens, with overlap on whole sentences.

In: a parsed document. Out: chunks in reading order, each a contiguous stretch of the document's text. It does not
count tokens exactly (`tokens`), nor read files, nor know which model will embed the passages.
"""

from collections.abc import Sequence

from domain.locator import Locator
from ingestion.chunking.pieces import Piece, cut_document, document_text
from ingestion.chunking.tokens import HUNDREDTHS
from ingestion.records import BlockKind, Chunk, Document, Span

SECTION_FILL = 1 / 3
"""A heading opens a new passage once the one before is this full; shorter sections share a passage."""

SMALLEST_CHUNK_TOKENS = 16
OVERLAPPING_KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST})


def chunk_document(document: Document, *, chunk_tokens: int, overlap_tokens: int) -> tuple[Chunk, ...]:
    """Passages of at most `chunk_tokens`; each repeats up to `overlap_tokens` of whole sentences of the one before.

    A sentence, table row, list item or code block that fits a passage is never cut. A heading opens the passage of
    the text after it, unless the two together are too large. Raises ValueError for budgets that make no sense.
    """
    if chunk_tokens < SMALLEST_CHUNK_TOKENS or not 0 <= overlap_tokens < chunk_tokens:
        message = (
            f"chunk_tokens must be at least {SMALLEST_CHUNK_TOKENS} and above overlap_tokens, which is not negative"
        )
        raise ValueError(message)
    text = document_text(document)
    pieces = cut_document(document, piece_tokens=chunk_tokens)
    ranges = _pack(pieces, budget=chunk_tokens * HUNDREDTHS, overlap=overlap_tokens * HUNDREDTHS)
    return tuple(
        _build_chunk(text, pieces[start:end], own=pieces[own:end], ordinal=ordinal)
        for ordinal, (start, own, end) in enumerate(ranges)
    )


def _pack(pieces: Sequence[Piece], *, budget: int, overlap: int) -> list[tuple[int, int, int]]:
    """(first piece, first piece that is not overlap, end) of each passage."""
    ranges: list[tuple[int, int, int]] = []
    own = 0
    while own < len(pieces):
        earliest = ranges[-1][0] + 1 if ranges else 0
        start = _overlap_start(pieces, own, earliest=earliest, overlap=overlap, budget=budget)
        end = _leave_headings(pieces, own, _fill(pieces, start, own, budget))
        ranges.append((start, own, end))
        own = end
    return ranges


def _fill(pieces: Sequence[Piece], start: int, own: int, budget: int) -> int:
    """Where the passage from `start` must end."""
    weight = _weigh(pieces, start, own + 1)
    end = own + 1
    while end < len(pieces):
        piece = pieces[end]
        if weight + piece.gap + piece.weight > budget:
            break
        if _opens_section(pieces, end) and weight > budget * SECTION_FILL:
            break
        weight += piece.gap + piece.weight
        end += 1
    return end


def _opens_section(pieces: Sequence[Piece], index: int) -> bool:
    """Headings in a row open one section, at the first of them."""
    return pieces[index].kind is BlockKind.HEADING and pieces[index - 1].kind is not BlockKind.HEADING


def _leave_headings(pieces: Sequence[Piece], own: int, end: int) -> int:
    """Headings at the end of a passage go with the text after them, if there is any."""
    if end == len(pieces):
        return end
    kept = end
    while kept > own and pieces[kept - 1].kind is BlockKind.HEADING:
        kept -= 1
    return kept if kept > own else end


def _overlap_start(pieces: Sequence[Piece], own: int, *, earliest: int, overlap: int, budget: int) -> int:
    """How far back the passage that begins with `own` reaches."""
    if pieces[own].kind is BlockKind.HEADING or not pieces[own].whole:
        return own
    start, repeated = own, 0
    while start > earliest:
        piece = pieces[start - 1]
        repeated += piece.weight + pieces[start].gap
        fits = repeated <= overlap and repeated + pieces[own].weight <= budget
        if not (fits and piece.whole and piece.kind in OVERLAPPING_KINDS):
            break
        start -= 1
    return start


def _weigh(pieces: Sequence[Piece], start: int, end: int) -> int:
    return pieces[start].weight + sum(piece.gap + piece.weight for piece in pieces[start + 1 : end])


def _build_chunk(text: str, pieces: Sequence[Piece], *, own: Sequence[Piece], ordinal: int) -> Chunk:
    span = Span(start=pieces[0].start, end=pieces[-1].end)
    return Chunk(
        ordinal=ordinal,
        text=text[span.start : span.end],
        span=span,
        locator=_join_locators([piece.locator for piece in pieces], own=[piece.locator for piece in own]),
    )


def _join_locators(locators: Sequence[Locator], *, own: Sequence[Locator]) -> Locator:
    """From the first page (second) to the last; the headings that all but the overlap stand under."""
    first_pages = [locator.page for locator in locators if locator.page is not None]
    last_pages = [locator.page_end or locator.page for locator in locators]
    starts = [locator.start_s for locator in locators if locator.start_s is not None]
    ends = [locator.end_s for locator in locators if locator.end_s is not None]
    page = min(first_pages, default=None)
    page_end = max((last for last in last_pages if last is not None), default=None)
    return Locator(
        page=page,
        page_end=page_end if page_end != page else None,
        start_s=min(starts, default=None),
        end_s=max(ends, default=None),
        headings=_shared_path([locator.headings for locator in own]),
    )


def _shared_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The beginning that all paths have in common; of two short sections, the one that they belong to."""
    shared = paths[0]
    for path in paths[1:]:
        while shared != path[: len(shared)]:
            shared = shared[:-1]
    return shared
