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

_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")
_NO_WORD = re.compile(r"\W+")


def raise_close(ranked: Sequence[RankedPassage], rarities: Mapping[str, float]) -> list[RankedPassage]:
    """`rarities`: term of the question -> what it is worth in the base."""
    worth: dict[str, float] = {}
    for term, rarity in rarities.items():
        beginning = _beginning(term)
        worth[beginning] = max(rarity, worth.get(beginning, 0.0))
    whole = sum(worth.values())
    if not whole:
        return list(ranked)
    raised = [
        replace(each, score=each.score + SENTENCE_WEIGHT * _best_sentence(each.passage.text, worth) / whole)
        for each in ranked[:LOOKED_INTO]
    ]
    return [*sorted(raised, key=best_first), *ranked[LOOKED_INTO:]]


def _beginning(term: str) -> str:
    """What a word of a sentence must begin with, its blank included; a shorter word has to end there, too.

    Looking for pieces of text takes a tenth of the time of analysing each word; forms of another stem («шёл» of
    «идти») are missed.
    """
    plain = _NO_WORD.sub(" ", term)
    return f" {plain[:STEM_LETTERS]}" if plain.isalpha() and len(plain) >= STEM_LETTERS else f" {plain} "


def _best_sentence(text: str, worth: Mapping[str, float]) -> float:
    sentences = _SENTENCE_END.split(text.lower().replace("ё", "е"))
    plain = (f" {_NO_WORD.sub(' ', sentence)} " for sentence in sentences)
    return max(sum(value for beginning, value in worth.items() if beginning in sentence) for sentence in plain)
