"""Looks into the passages: how much of the question stands together in one sentence.

In: ranked passages, best first, and what the question's terms are worth. Out: the same with scores raised by their
best sentence. The index counts words wherever they stand; an answer says them together.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag.records import RankedPassage
from rag.retrieval.fusion import best_first

# Beside a score of 1 for the best passage. Measured (docs/retrieval.md).
SENTENCE_WEIGHT = 0.2
LOOKED_INTO = 50  # passages; those behind them would not be raised into the best ten
STEM_LETTERS = 5  # words that begin alike count as one, as in the index (000410_terms.sql)

_SENTENCE_END = r"[.!?…]+(?=\s)|\n+"


def raise_close(ranked: Sequence[RankedPassage], rarities: Mapping[str, float]) -> list[RankedPassage]:
    """`rarities`: term of the question -> what it is worth in the base."""
    worth: dict[str, float] = {}
    for term, rarity in rarities.items():
        worth[_stem(term)] = max(rarity, worth.get(_stem(term), 0.0))
    whole = sum(worth.values())
    if not whole:
        return list(ranked)
    found = _pattern(worth)
    raised = [
        replace(each, score=each.score + SENTENCE_WEIGHT * _best_sentence(each.passage.text, worth, found) / whole)
        for each in ranked[:LOOKED_INTO]
    ]
    return [*sorted(raised, key=best_first), *ranked[LOOKED_INTO:]]


def _stem(term: str) -> str:
    return term[:STEM_LETTERS] if term.isalpha() else term


def _pattern(stems: Mapping[str, float]) -> re.Pattern[str]:
    """The stems where a word begins, as group 1, and the ends of sentences: one scan instead of analysing each word.

    Words shorter than a stem must end there too. Forms of another stem («шёл» of «идти») are missed.
    """
    beginnings = "|".join(re.escape(stem) if len(stem) == STEM_LETTERS else rf"{re.escape(stem)}\b" for stem in stems)
    return re.compile(rf"\b({beginnings})|{_SENTENCE_END}")


def _best_sentence(text: str, worth: Mapping[str, float], found: re.Pattern[str]) -> float:
    best, here = 0.0, set[str]()
    for match in found.finditer(text.lower().replace("ё", "е")):
        if stem := match[1]:
            here.add(stem)
            continue
        best, here = max(best, _sum(here, worth)), set()
    return max(best, _sum(here, worth))


def _sum(stems: set[str], worth: Mapping[str, float]) -> float:
    return sum(worth[stem] for stem in stems)
