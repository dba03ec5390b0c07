"""The lexical leg's formula in plain Python, as term_search.sql has it.

In: chunks with their terms, and a query. Out: what each of its terms is worth, and the score of a chunk.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.ids import ChunkId
from ingestion.records import IndexedChunk
from rag.records import SearchQuery

Chunks = Mapping[ChunkId, IndexedChunk]

K1 = 1.2
SHORTEST = 16  # terms
TITLED_WEIGHT = 0.5
WIDE_SHARE = 0.5
STEM_LETTERS = 5
_CODE = re.compile(r"[-0-9._@+#']")


@dataclass(frozen=True, kw_only=True)
class Weight:
    """What a term is worth by itself, and by what begins like it."""

    place: int  # of the query's term that it stands for
    term: str
    own: float
    wide: float


def weigh(chunks: Chunks, query: SearchQuery) -> list[Weight]:
    """One for each term that is meant and held; of those that begin alike the most frequent has the wide weight."""
    held = [(place, term) for place, term in _meant(chunks, query) if _count(chunks, term, wide=True)]
    weights: list[Weight] = []
    led: set[str] = set()
    for place, term in sorted(held, key=lambda item: (-_count(chunks, item[1], wide=False), item[0])):
        own, wide = (_rarity(len(chunks), _count(chunks, term, wide=wide)) for wide in (False, True))
        if not _is_word(term):
            weights.append(Weight(place=place, term=term, own=own, wide=0.0))
            continue
        leads = term[:STEM_LETTERS] not in led
        led.add(term[:STEM_LETTERS])
        weights.append(
            Weight(place=place, term=term, own=(1 - WIDE_SHARE) * own, wide=WIDE_SHARE * wide if leads else 0.0)
        )
    return weights


def rarities(weights: Sequence[Weight], query: SearchQuery) -> tuple[float, ...]:
    """What each term of the query is worth."""
    return tuple(
        max((weight.own + weight.wide for weight in weights if weight.place == place), default=0.0)
        for place in range(len(query.terms))
    )


def score(indexed: IndexedChunk, weights: Sequence[Weight], average: float) -> float:
    """BM25F of one chunk; `average` is the length of all."""
    return sum(
        weight.own * _saturated(_times(indexed, weight.term, average, wide=False))
        + weight.wide * _saturated(_times(indexed, weight.term, average, wide=True))
        for weight in weights
    )


def _meant(chunks: Chunks, query: SearchQuery) -> list[tuple[int, str]]:
    """The query's terms, and the other spellings of those that no chunk holds."""
    held = {term for indexed in chunks.values() for term in (*indexed.terms, *indexed.titled)}
    asked = {term: place for place, term in reversed(list(enumerate(query.terms)))}
    others = [
        (asked[spelling.term], term)
        for spelling in query.spellings
        for term in sorted(held)
        if spelling.term in asked and spelling.term not in held and re.fullmatch(spelling.pattern, term)
    ]
    return [*((place, term) for term, place in asked.items()), *dict.fromkeys(others)]


def _count(chunks: Chunks, term: str, *, wide: bool) -> int:
    """Postings: a chunk counts once for each of its terms that match."""
    return sum(_matches(other, term, wide=wide) for i in chunks.values() for other in {*i.terms, *i.titled})


def _times(indexed: IndexedChunk, term: str, average: float, *, wide: bool) -> float:
    body = sum(times for other, times in indexed.terms.items() if _matches(other, term, wide=wide))
    above = sum(times for other, times in indexed.titled.items() if _matches(other, term, wide=wide))
    return body * average / max(indexed.length, SHORTEST) + TITLED_WEIGHT * above


def _matches(other: str, term: str, *, wide: bool) -> bool:
    return other == term or (wide and _is_word(term) and other.startswith(term[:STEM_LETTERS]))


def _is_word(term: str) -> bool:
    return len(term) >= STEM_LETTERS and not _CODE.search(term)


def _rarity(total: int, holding: int) -> float:
    return math.log(1 + (max(total - holding, 0) + 0.5) / (holding + 0.5))


def _saturated(weight: float) -> float:
    return weight * (K1 + 1) / (weight + K1)
