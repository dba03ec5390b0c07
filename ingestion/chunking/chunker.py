"""Packs a document into passages: paragraphs up to a token budget, with an overlap of whole sentences.

In: a parsed document. Out: chunks in reading order, each a contiguous stretch of the document's text; before it, a
table's header may be repeated. Tokens are estimated (see `windows`).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, takewhile

from domain.locator import Locator
from ingestion.chunking.pieces import Knife, Piece
from ingestion.chunking.windows import HUNDREDTHS, weigh_text
from ingestion.records import Block, BlockKind, Chunk, Span

STRETCH_PIECES = 1_000  # read at once
SECTION_FILL = 1 / 3
"""A heading starts a new passage when the current one is at least this full; shorter sections share a passage."""
BORDER_FILL = 2 / 3
"""A passage that would end inside a paragraph, list or table ends before it, if at least this full then."""
OVERLAPPING_KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST})


def must_part(before: Locator, after: Locator) -> bool:
    """No passage spans two files, pages of a site, slides or sheets: a citation could not say where it stands."""
    if before is after:
        return False
    if (before.member, before.url) != (after.member, after.url):
        return True
    if before.slide is not None and before.slide != after.slide:
        return True
    return before.row is not None and before.headings != after.headings


def join_locators(locators: Sequence[Locator], *, own: Sequence[Locator]) -> Locator:
    """From the first page (row, second) to the last; the headings shared by all `own` pieces (not the overlap)."""
    first = locators[0]
    if all(locator is first for locator in locators):
        return first
    page, page_end = _range((locator.page, locator.page_end) for locator in locators)
    row, row_end = _range((locator.row, locator.row_end) for locator in locators)
    steps = zip(*(locator.headings for locator in own), strict=False)
    starts = [locator.start_s for locator in locators if locator.start_s is not None]
    ends = [locator.end_s for locator in locators if locator.end_s is not None]
    return Locator(
        page=page,
        page_end=page_end,
        start_s=min(starts, default=None),
        end_s=max(ends, default=None),
        slide=next((locator.slide for locator in locators if locator.slide is not None), None),
        row=row,
        row_end=row_end,
        member=first.member,
        url=first.url,
        headings=tuple(step[0] for step in takewhile(lambda step: len({*step}) == 1, steps)),
    )


def _range(places: Iterable[tuple[int | None, int | None]]) -> tuple[int | None, int | None]:
    """The first and the last place; the last is None when it equals the first."""
    known = [(first, last or first) for first, last in places if first is not None]
    low, high = min((first for first, _ in known), default=None), max((last for _, last in known), default=None)
    return low, high if high != low else None


def cut_chunks(blocks: Iterable[Block], *, chunk_tokens: int, overlap_tokens: int) -> Iterator[Chunk]:
    """Passages of at most `chunk_tokens`; each repeats up to `overlap_tokens` of whole sentences from the one before.
    Blocks are read lazily. A sentence, table row, list item or code block that fits a passage is never cut; a heading
    opens the passage of the text after it, unless the two together are too large."""
    knife, budget, overlap = Knife(chunk_tokens * HUNDREDTHS), chunk_tokens * HUNDREDTHS, overlap_tokens * HUNDREDTHS
    cut = chain.from_iterable(map(knife.cut, blocks))
    pieces = list(islice(cut, STRETCH_PIECES))
    is_last = len(pieces) < STRETCH_PIECES  # no piece comes after these
    own = earliest = ordinal = 0  # the first piece that is not overlap; how far back the overlap may reach
    while own < len(pieces) or not is_last:
        start = own
        end = len(pieces)
        if own < len(pieces):
            start = _overlap_start(pieces, own, earliest=earliest, overlap=overlap, budget=budget)
            end = _fill(pieces, start, own, budget)
        if end == len(pieces) and not is_last:  # the next pieces decide where the passage ends
            more = list(islice(cut, STRETCH_PIECES))
            pieces, is_last = pieces[earliest:] + more, len(more) < STRETCH_PIECES
            own, earliest = own - earliest, 0
            continue
        end = _end_before_block(pieces, start, own, end, budget)
        end = _leave_announcements(pieces, own, end, budget)
        first, last = pieces[start], pieces[end - 1]
        texts = [first.lead, first.text]
        texts += [text for piece in pieces[start + 1 : end] for text in (piece.before, piece.text)]
        locators = [piece.locator for piece in pieces[start:end]]
        yield Chunk(
            ordinal=ordinal,
            text="".join(texts),
            span=Span(start=first.start, end=last.start + len(last.text)),
            locator=join_locators(locators, own=locators[own - start :]),
        )
        own, earliest, ordinal = end, start + 1, ordinal + 1


def _fill(pieces: Sequence[Piece], start: int, own: int, budget: int) -> int:
    """The index at which the passage from `start` must end."""
    end = own + 1
    while end < len(pieces):
        last, piece = pieces[end - 1 : end + 1]
        if _weigh(pieces, start, end + 1) > budget or must_part(last.locator, piece.locator):
            break
        # Consecutive headings open one section, at the first of them.
        opens_section = piece.kind is BlockKind.HEADING and last.kind is not BlockKind.HEADING
        if opens_section and _weigh(pieces, start, end) > budget * SECTION_FILL:
            break
        end += 1
    return end


def _end_before_block(pieces: Sequence[Piece], start: int, own: int, end: int, budget: int) -> int:
    """The start of the block that `end` would cut, when the passage is full enough without it; else `end`."""
    if end == len(pieces) or pieces[end].block != pieces[end - 1].block:
        return end
    border = end
    while border > own and pieces[border - 1].block == pieces[end].block:
        border -= 1
    is_full = border > own and _weigh(pieces, start, border) >= budget * BORDER_FILL
    return border if is_full else end


def _leave_announcements(pieces: Sequence[Piece], own: int, end: int, budget: int) -> int:
    """Move headings and the like from the end of a passage to the next one, if they fit there with what follows."""
    if end == len(pieces) or must_part(pieces[end - 1].locator, pieces[end].locator):
        return end
    kept = end
    while kept > own and pieces[kept - 1].announces:
        kept -= 1
    return kept if kept > own and _weigh(pieces, kept, end + 1) <= budget else end


def _overlap_start(pieces: Sequence[Piece], own: int, *, earliest: int, overlap: int, budget: int) -> int:
    """The start of the overlap for the passage that begins with `own`."""
    if pieces[own].kind is BlockKind.HEADING or not pieces[own].whole:
        return own
    start = own
    while start > earliest:
        piece = pieces[start - 1]
        repeated = pieces[own].above - piece.above
        fits = repeated <= overlap and repeated + pieces[own].weight <= budget
        repeatable = piece.whole and piece.kind in OVERLAPPING_KINDS
        if not (fits and repeatable) or must_part(piece.locator, pieces[start].locator):
            break
        start -= 1
    return start


def _weigh(pieces: Sequence[Piece], start: int, end: int) -> int:
    """The weight of a passage, including the header that it repeats."""
    first, last = pieces[start], pieces[end - 1]
    lead = weigh_text(first.lead) if first.lead else 0  # hardly any piece has one
    return lead + last.above + last.weight - first.above
