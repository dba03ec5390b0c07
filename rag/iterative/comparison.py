"""Chooses which facts to compare with each other, when they do not all fit into one prompt.

In: facts, those that are compared anyway, a budget. Out: sets of facts that each fit into a prompt. Facts of different
documents that share words go together, the most similar first. A contradiction in other words is missed. Pure.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rag.iterative.ledger import KnownFact
from rag.tokens import estimate_tokens
from rag.words import stems

MAX_SETS = 6  # calls for one reading; the most similar pairs come first
NEAREST = 3  # facts of other documents that each fact is compared with
MOST_HOLDERS = 200  # facts that are paired for one shared word: 20,000 pairs

Pair = tuple[int, int]  # indices of two facts, the lesser first


@dataclass(frozen=True, kw_only=True)
class Comparisons:
    """The comparisons that take calls of their own."""

    sets: tuple[tuple[KnownFact, ...], ...]
    left_out: frozenset[str]  # ids of facts that have a similar fact with which they share no set


def comparisons(facts: Sequence[KnownFact], compared: Iterable[KnownFact], *, tokens: int) -> Comparisons:
    """At most `MAX_SETS` sets. `compared`: facts that are in one prompt together anyway."""
    known = frozenset(fact.id for fact in compared)
    pairs = [pair for pair in _pairs(facts) if not {facts[place].id for place in pair} <= known]
    packed = _packed(pairs, [_size(fact) for fact in facts], tokens)
    asked = [each.places for each in packed if each.left >= 0][:MAX_SETS]
    missed = (pair for pair in pairs if not any(set(pair) <= places for places in asked))
    return Comparisons(
        sets=tuple(tuple(facts[place] for place in sorted(places)) for places in asked),
        left_out=frozenset(facts[place].id for pair in missed for place in pair),
    )


@dataclass(kw_only=True)
class _Set:
    places: set[int]
    left: int  # tokens; negative if the pair does not fit even alone


def _packed(pairs: Iterable[Pair], sizes: Sequence[int], tokens: int) -> list[_Set]:
    """Each pair is whole in one set: in one that has one of the two and room for the other, else in a new one."""
    packed: list[_Set] = []
    for pair in pairs:
        room = (each for each in packed if each.places & set(pair) and _needed(pair, each, sizes) <= each.left)
        place = next(room, None)
        if place is None:
            place = _Set(places=set(), left=tokens)
            packed.append(place)
        place.left -= _needed(pair, place, sizes)
        place.places.update(pair)
    return packed


def _needed(pair: Pair, into: _Set, sizes: Sequence[int]) -> int:
    return sum(sizes[place] for place in pair if place not in into.places)


def _pairs(facts: Sequence[KnownFact]) -> list[Pair]:
    """Pairs of different documents: each fact with the NEAREST most similar ones; the most similar pairs first."""
    likeness = _likeness(facts)
    likest = sorted(likeness, key=lambda pair: (-likeness[pair], pair))
    nearest: defaultdict[int, list[Pair]] = defaultdict(list)
    for pair in likest:
        for place in pair:
            nearest[place].append(pair)
    kept = {pair for pairs in nearest.values() for pair in pairs[:NEAREST]}
    return [pair for pair in likest if pair in kept]


def _likeness(facts: Sequence[KnownFact]) -> Mapping[Pair, float]:
    """Similarity by shared words; a word counts more, the fewer facts have it."""
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place, fact in enumerate(facts):
        for stem in sorted(stems(fact.text)):  # a fixed order: float sums depend on it, and sets have none
            holders[stem].append(place)
    documents = [fact.sources[0].passage.document_id for fact in facts]
    likeness: defaultdict[Pair, float] = defaultdict(float)
    for places in holders.values():
        worth = 1 / len(places)
        for pair in combinations(places[:MOST_HOLDERS], 2):
            if documents[pair[0]] != documents[pair[1]]:
                likeness[pair] += worth
    return likeness


def _size(fact: KnownFact) -> int:
    return estimate_tokens(fact.wire().model_dump_json()) + 1  # a comma
