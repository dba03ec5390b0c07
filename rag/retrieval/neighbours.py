"""Merges adjacent passages of one document.

In: ranked passages, best first. Out: the same, with each run of neighbours merged at the place of its best one. Their
overlap is kept once. It reads nothing from the database: passages between them that were not found stay out.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from domain.ids import DocumentId
from domain.locator import Locator
from rag.records import Passage, RankedPassage

SHORTEST_OVERLAP = 12  # characters; a shorter repetition at the seam may be chance
PASSAGES_A_PAGE = 2  # before those of other pages of the document
LONGEST_RUN = 3  # passages; longer runs would leave no room for other documents


def spread_over_pages(ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """The places of each document go to its pages in turn: from the third on, passages of a page come behind those of
    other pages. What is on one page is found together, and a table is many passages; a score stays with its place."""
    held = Counter[tuple[DocumentId, int | None]]()
    early, late = defaultdict[DocumentId, list[Passage]](list), defaultdict[DocumentId, list[Passage]](list)
    for passage in (each.passage for each in ranked):
        page = (passage.document_id, passage.locator.page)
        held[page] += 1
        is_late = passage.locator.page is not None and held[page] > PASSAGES_A_PAGE
        (late if is_late else early)[passage.document_id].append(passage)
    turns = {document: iter([*first, *late[document]]) for document, first in early.items()}
    return [replace(each, passage=next(turns[each.passage.document_id])) for each in ranked]


def merge_neighbours(ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Each passage is in one run only; a run has the id, ordinal and score of its best passage."""
    places = {_place(each.passage): each for each in ranked}
    taken: set[tuple[DocumentId, int]] = set()
    merged = []
    for each in ranked:
        if _place(each.passage) in taken:
            continue
        run = _run(each.passage, places, taken)
        taken.update(map(_place, run))
        merged.append(each if len(run) == 1 else replace(each, passage=_joined(each.passage, run)))
    return merged


def _place(passage: Passage) -> tuple[DocumentId, int]:
    return (passage.document_id, passage.ordinal)


def _run(
    best: Passage, places: dict[tuple[DocumentId, int], RankedPassage], taken: set[tuple[DocumentId, int]]
) -> list[Passage]:
    """The best passage and its neighbours that were also found, in reading order; grown outwards from the best one."""
    run = [best]
    for step in (1, -1):
        edge = best.ordinal + step
        while len(run) < LONGEST_RUN and (key := (best.document_id, edge)) in places and key not in taken:
            if _part(places[key].passage) != _part(best):
                break
            run.append(places[key].passage)
            edge += step
    return sorted(run, key=lambda passage: passage.ordinal)


def _part(passage: Passage) -> tuple[object, ...]:
    """The slide, sheet, archive member and page that a citation names: a run stays within one of them."""
    locator = passage.locator
    return (locator.slide, locator.headings[:1] if locator.row else (), locator.member, locator.url)


def _joined(best: Passage, run: Sequence[Passage]) -> Passage:
    text = run[0].text
    for passage in run[1:]:
        text = _append(text, passage.text)
    locator = _cover(best.locator, [passage.locator for passage in run])
    return replace(best, text=text, locator=locator, parts=len(run))


def _append(text: str, more: str) -> str:
    """`text`, then `more` without the part that repeats the end of `text` (the chunker's overlap)."""
    opening = more[:SHORTEST_OVERLAP]
    at = text.rfind(opening)
    while at >= 0 and len(opening) == SHORTEST_OVERLAP:
        if more.startswith(text[at:]):
            return text[:at] + more
        at = text.rfind(opening, 0, at + len(opening) - 1)
    return f"{text}\n\n{more}"


def _cover(best: Locator, locators: Sequence[Locator]) -> Locator:
    """A locator from the first passage to the last; the headings are those of the best one."""
    first, last = locators[0], locators[-1]
    page_end, row_end = last.page_end or last.page, last.row_end or last.row
    return replace(
        best,
        page=first.page,
        page_end=page_end if page_end != first.page else None,
        start_s=first.start_s,
        end_s=last.end_s,
        row=first.row,
        row_end=row_end if row_end != first.row else None,
    )
