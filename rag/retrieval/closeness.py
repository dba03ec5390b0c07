"""Looks into the passages: how much of the question stands together in one sentence.

In: ranked passages, best first, and what the question's terms are worth. Out: the same with scores raised by their
best sentence. The index counts words wherever they stand; an answer says them together.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from rag.records import RankedPassage
from rag.retrieval.fusion import best_first

# Measured (docs/retrieval.md): nDCG@10 +.005 on XQuAD ru, within .005 on VK Cloud. Beside a score of 1 for the best.
SENTENCE_WEIGHT = 0.2
LOOKED_INTO = 50  # passages; those behind them are not raised into the best ten, and each takes about 0.2 ms
STEM_LETTERS = 5  # words that begin alike count as one, as in the index (000410_terms.sql)

_END = re.compile(r"(?<=[.!?…])\s+|\n+")

Terms = Callable[[str], Iterable[str]]


def raise_close(ranked: Sequence[RankedPassage], rarities: Mapping[str, float], terms: Terms) -> list[RankedPassage]:
    """`rarities`: term of the question -> what it is worth; `terms` analyses a sentence."""
    worth: dict[str, float] = {}
    for term, rarity in rarities.items():
        worth[_stem(term)] = max(rarity, worth.get(_stem(term), 0.0))
    whole = sum(worth.values())
    if not whole:
        return list(ranked)
    raised = [_raised(each, worth, whole, terms) for each in ranked[:LOOKED_INTO]]
    return [*sorted(raised, key=best_first), *ranked[LOOKED_INTO:]]


def _raised(ranked: RankedPassage, worth: Mapping[str, float], whole: float, terms: Terms) -> RankedPassage:
    sentences = (terms(sentence) for sentence in _END.split(ranked.passage.text))
    best = max(sum(worth[stem] for stem in worth.keys() & set(map(_stem, found))) for found in sentences)
    return replace(ranked, score=ranked.score + SENTENCE_WEIGHT * best / whole)


def _stem(term: str) -> str:
    return term[:STEM_LETTERS] if term.isalpha() else term
