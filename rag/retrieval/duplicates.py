"""Leaves out near-duplicates: passages that say nothing that a better one does not say.

In: ranked passages, best first. Out: the same without the repetitions. Two versions of a text that differ in a single
number or a «не» both stay: that difference may be what the question is about.
"""

from collections.abc import Sequence

from rag.records import RankedPassage

_SHINGLE_WORDS = 3
_SAME_SHINGLES = 0.9  # share of word triples that the better passage also has; the rest are at seams


def collapse(ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Keep a passage unless a better one holds all its words, in nearly the same order.

    This covers the same text in two documents and a passage that lies inside its overlapping neighbour.
    """
    kept: list[RankedPassage] = []
    seen: list[tuple[frozenset[str], list[str]]] = []
    texts: set[str] = set()
    for candidate in ranked:
        if candidate.passage.text in texts:  # most repetitions are exact
            continue
        words = candidate.passage.text.casefold().split()  # with punctuation: repetitions repeat it, too
        vocabulary = frozenset(words)
        # Hardly any passage holds all words of another; triples are computed for those alone.
        if any(_covered(words, theirs) for others, theirs in seen if vocabulary <= others):
            continue
        kept.append(candidate)
        texts.add(candidate.passage.text)
        seen.append((vocabulary, words))
    return kept


def _covered(words: Sequence[str], others: Sequence[str]) -> bool:
    shingles = _shingles(words)
    return len(shingles & _shingles(others)) >= _SAME_SHINGLES * len(shingles)


def _shingles(words: Sequence[str]) -> set[tuple[str, ...]]:
    last = max(len(words) - _SHINGLE_WORDS, 0)
    return {tuple(words[at : at + _SHINGLE_WORDS]) for at in range(last + 1)}
