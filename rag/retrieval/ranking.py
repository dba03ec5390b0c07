"""Puts the passages that a search found in order, and leaves out what says nothing new.

In: candidates with the scores of two legs, in any order. Out: ranked passages, best first: fused into one order, noise
and repetitions left out, neighbours merged at the place of their best one, and how well each fits the question. Two
versions of a text that differ in a single number or a «не» both stay: that difference may be what the question is
about. Pure; the thresholds are constants at the top, the weights are measured elsewhere and passed in.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from domain.ids import ChunkId, DocumentId
from rag.records import Candidate, Fit, Passage, RankedPassage, Spelling
from rag.retrieval.spelling import SHORTEST_TRANSCRIBED, exactly
from rag.words import stem_of

# With a model: a passage is dropped only if it has no query word and hardly any similarity; the model judges the rest.
NOISE_SIMILARITY = 0.1

# Without a model: so much of the question's weight must stand in the passage or its title, where a word weighs as much
# as it is rare in the base, and one that the base does not hold the most. Measured on the best passage by stems: of
# 603 questions of XQuAD-ru .17 hold less than the first share and .01 less than the second, of 283 questions about the
# world (rubq) asked of VK Cloud .93 and .52.
CERTAIN_SHARE = 0.45
RELATED_SHARE = 0.25
BEGUN_SHARE = 0.5  # of a word's weight for one that begins alike, as in the search: «Мунтяна» and «Мунтян»
# Or the vectors must be this near, for a model that encodes meaning: Jina's; not measured, there was no key.
CERTAIN_SIMILARITY = ("jina", 0.5)

_SHINGLE_WORDS = 3
_SAME_SHINGLES = 0.9  # share of word triples that the better passage also has; the rest are at seams

NAMING = 4  # the power that leaves of what a document gives its passages the words of names: of them it gives all

SHORTEST_OVERLAP = 12  # characters; a shorter repetition at the seam may be chance
PASSAGES_A_PAGE = 2  # before those of other pages of the document
LONGEST_RUN = 3  # passages; longer runs would leave no room for other documents


def fuse(candidates: Sequence[Candidate], *, lexical_weight: float, vector_weight: float) -> list[RankedPassage]:
    """Weighted sum of both legs' scores, each scaled to 0..1 within this result. BM25 is scaled from zero, where a
    passage without a query word stands; similarity from the lowest one found: a passage that the vector leg did not
    return is at most as similar as that. Scores, unlike ranks, keep how far the best is ahead (Bruch et al. 2023, "An
    Analysis of Fusion Functions for Hybrid Retrieval"). A vector tells what a passage says, hardly whose it is: to it
    is added what the words tell of that."""
    bm25 = _scale([c.bm25 for c in candidates], low=0.0)
    similarity = _scale([c.similarity for c in candidates], low=None)
    given = defaultdict[DocumentId, float](float)  # by each document, to its passages, by what it is called
    for each in candidates:
        if each.inherited and (whole := sum(each.rarities)):
            named = sum(weight * part**NAMING for weight, part in zip(each.rarities, each.inherited, strict=True))
            given[each.passage.document_id] = max(named / whole, given[each.passage.document_id])
    ranked = [
        RankedPassage(
            passage=candidate.passage,
            score=lexical_weight * lexical + vector_weight * (vector + given[candidate.passage.document_id]),
        )
        for candidate, lexical, vector in zip(candidates, bm25, similarity, strict=True)
    ]
    return sorted(ranked, key=best_first)


def best_first(ranked: RankedPassage) -> tuple[float, str, int, int]:
    """The sort key: score, then the passage's place, so that ties have a stable order."""
    passage = ranked.passage
    return (-ranked.score, passage.document_id, passage.ordinal, passage.chunk_id)


def _scale(scores: Sequence[float | None], *, low: float | None) -> list[float]:
    """Min-max scaling from `low` (None: the lowest score) to the highest; None becomes 0, a lone score 1."""
    known = [score for score in scores if score is not None]
    if not known:
        return [0.0] * len(scores)
    bottom, top = min(known) if low is None else low, max(known)
    if top <= bottom:
        return [0.0 if score is None else 1.0 for score in scores]
    return [0.0 if score is None else (score - bottom) / (top - bottom) for score in scores]


def is_noise(candidate: Candidate) -> bool:
    """True when the passage has no word of the question and its vector is no nearer than chance."""
    return candidate.bm25 is None and (candidate.similarity or 0.0) < NOISE_SIMILARITY


def fit_of(
    asked: Mapping[str, float],
    held: Set[str],
    *,
    similarity: float | None,
    model: str | None,
    spellings: Sequence[Spelling] = (),
) -> Fit:
    """How well a passage with the terms `held` fits a question with the terms and weights `asked`, or `spellings`."""
    respelled = {each.term for each in spellings if each.term not in held and _is_respelled(each, held)}
    met, whole = asked.keys() & held | respelled, sum(asked.values())
    # a part of such a term counts, too: «тайм» where «тайм-аут» was asked and the passage has «таймаут»
    met |= {part for part in asked for whole in met if whole.startswith(part) or whole.endswith(part)}
    stems = frozenset(map(stem_of, held))
    begun = sum(weight for term, weight in asked.items() if term not in met and stem_of(term) in stems)
    share = (sum(asked[term] for term in met) + BEGUN_SHARE * begun) / whole if whole else 0.0
    family, floor = CERTAIN_SIMILARITY
    is_near = bool(model) and str(model).startswith(family) and (similarity or 0.0) >= floor
    if is_near or share >= CERTAIN_SHARE:
        return Fit.CERTAIN
    return Fit.RELATED if share >= RELATED_SHARE or _names_across(met - held, held) else Fit.CHANCE


def _names_across(respelled: Set[str], held: Set[str]) -> bool:
    """By a word in the other alphabet than the passage's, which is a name or a term then ("Forpost", «Форпост»)."""
    words = [term for term in held if term.isalpha()]
    is_latin = sum(word.isascii() for word in words) * 2 > len(words)
    return any(term.isalpha() and term.isascii() is not is_latin for term in respelled)


def _is_respelled(spelling: Spelling, held: Set[str]) -> bool:
    """By a word that is not too short («дочь» sounds like "doc"), or exactly the one that it was corrected to."""
    return any(
        (len(term) >= SHORTEST_TRANSCRIBED or spelling == exactly(spelling.term, term))
        and term.startswith(spelling.beginnings)
        and re.search(spelling.pattern, term)
        for term in held
    )


def collapse(ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Leaves out what a better passage holds word for word, nearly in the same order: another copy, an overlap."""
    kept: list[RankedPassage] = []
    seen: list[tuple[frozenset[str], list[str]]] = []
    for candidate in ranked:
        words = candidate.passage.text.casefold().split()  # with punctuation: repetitions repeat it, too
        vocabulary = frozenset(words)
        # Hardly any passage holds all words of another; triples are computed for those alone.
        triples = [(_shingles(words), _shingles(theirs)) for others, theirs in seen if vocabulary <= others]
        if any(len(own & others) >= _SAME_SHINGLES * len(own) for own, others in triples):
            continue
        kept.append(candidate)
        seen.append((vocabulary, words))
    return kept


def _shingles(words: Sequence[str]) -> set[tuple[str, ...]]:
    last = max(len(words) - _SHINGLE_WORDS, 0)
    return {tuple(words[at : at + _SHINGLE_WORDS]) for at in range(last + 1)}


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
    places = {(each.passage.document_id, each.passage.ordinal): each.passage for each in ranked}
    merged = []
    for each in ranked:
        best, run = each.passage, [each.passage]
        if places.pop((best.document_id, best.ordinal), None) is None:
            continue
        for step in (1, -1):  # grown outwards from the best one
            at = best.ordinal + step
            while len(run) < LONGEST_RUN and _part(places.get((best.document_id, at))) == _part(best):
                run.append(places.pop((best.document_id, at)))
                at += step
        run.sort(key=lambda passage: passage.ordinal)
        merged.append(each if len(run) == 1 else replace(each, passage=_joined(best, run)))
    return merged


def _part(passage: Passage | None) -> tuple[object, ...] | None:
    """The slide, sheet, archive member and page that a citation names: a run stays within one of them."""
    if passage is None:
        return None
    locator = passage.locator
    return (locator.slide, locator.headings[:1] if locator.row else (), locator.member, locator.url)


def _joined(best: Passage, run: Sequence[Passage]) -> Passage:
    """From the first passage to the last; the headings are those of the best one."""
    text, pieces = "", list[tuple[ChunkId, int]]()
    for passage in run:
        # without what repeats the end of the text before (the chunker's overlap)
        sizes = range(min(len(text), len(passage.text)), SHORTEST_OVERLAP - 1, -1)
        shared = next((size for size in sizes if text.endswith(passage.text[:size])), 0)
        text += passage.text[shared:] if shared or not pieces else f"\n\n{passage.text}"
        pieces.append((passage.chunk_id, len(text) - len(passage.text)))
    first, last = run[0].locator, run[-1].locator
    page_end, row_end = last.page_end or last.page, last.row_end or last.row
    locator = replace(
        best.locator,
        page=first.page,
        page_end=page_end if page_end != first.page else None,
        start_s=first.start_s,
        end_s=last.end_s,
        row=first.row,
        row_end=row_end if row_end != first.row else None,
    )
    return replace(best, text=text, locator=locator, pieces=tuple(pieces))
