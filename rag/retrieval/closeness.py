"""Looks into the passages: how much of the question stands together in one sentence.

In: ranked passages, best first, and what the question's terms are worth. Out: the same with scores raised by their
best sentence. The index counts words wherever they stand; an answer says them together.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rag.records import RankedPassage
from rag.retrieval.fusion import best_first

# Beside a score of 1 for the best passage. From .3 to .5 all four corpora gain, see docs/retrieval.md.
SENTENCE_WEIGHT = 0.4
LOOKED_INTO = 50  # passages; those behind them would not be raised into the best ten
STEM_LETTERS = 5  # words that begin alike count as one, as in the index (000410_terms.sql)

_SENTENCE_END = re.compile(r"[.!?…\n](?:(?<=\n)|(?=\s))")  # `\n|[.!?…](?=\s)`, in two thirds of its time
_NO_WORD = re.compile(r"\W+")


@dataclass(frozen=True, kw_only=True)
class _Sought:
    """A word of the question, as it is looked for in a sentence."""

    hint: str  # a piece without blanks and signs: a sentence that lacks it needs no closer look
    beginning: str  # what a word of the sentence begins with, or is
    worth: float


def raise_close(
    ranked: Sequence[RankedPassage], rarities: Mapping[str, float], *, weight: float = SENTENCE_WEIGHT
) -> list[RankedPassage]:
    """`rarities`: term of the question -> what it is worth in the base."""
    sought = _sought(rarities)
    whole = sum(each.worth for each in sought)
    if not whole:
        return list(ranked)
    raised = [
        replace(each, score=each.score + weight * _best_sentence(each.passage.text, sought) / whole)
        for each in ranked[:LOOKED_INTO]
    ]
    return [*sorted(raised, key=best_first), *ranked[LOOKED_INTO:]]


def _sought(rarities: Mapping[str, float]) -> list[_Sought]:
    worth: dict[str, float] = {}
    for term, rarity in rarities.items():
        beginning = _beginning(term)
        worth[beginning] = max(rarity, worth.get(beginning, 0.0))
    return [
        _Sought(hint=max(beginning.split(), key=len, default=""), beginning=beginning, worth=value)
        for beginning, value in worth.items()
    ]


def _beginning(term: str) -> str:
    """What a word of a sentence must begin with, its blank included; a shorter word has to end there, too.

    Looking for pieces of text takes a tenth of the time of analysing each word; forms of another stem («шёл» of
    «идти») are missed.
    """
    plain = _NO_WORD.sub(" ", term)
    return f" {plain[:STEM_LETTERS]}" if plain.isalpha() and len(plain) >= STEM_LETTERS else f" {plain} "


def _best_sentence(text: str, sought: Sequence[_Sought]) -> float:
    best, lowered = 0.0, text.lower().replace("ё", "е")
    possible = [each for each in sought if each.hint in lowered]
    for sentence in _SENTENCE_END.split(lowered):
        hinted = [each for each in possible if each.hint in sentence]
        if hinted and sum(each.worth for each in hinted) > best:
            plain = f" {_NO_WORD.sub(' ', sentence)} "
            best = max(best, sum(each.worth for each in hinted if each.beginning in plain))
    return best
