"""Search in memory, by the same formulas as in the database.

In and out: what `rag.ports.PassageSearch` says.
"""

import math
import operator
from collections.abc import Mapping, Sequence

from domain.ids import BaseId, ChunkId
from ingestion.records import IndexedChunk
from rag.records import Candidate, Passage, SearchQuery
from tests.fakes.stores.tables import DocumentRow, Tables

K1 = 1.2
B = 0.75


class MemorySearch:
    """Meets `rag.ports.PassageSearch`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def search(self, query: SearchQuery) -> list[Candidate]:
        stored = self._stored(query.base_id)
        alike = {number: _similarity(indexed, query) for number, (_, indexed) in stored.items()}
        near = {number: score for number, score in alike.items() if score is not None}
        worded = bm25({number: indexed for number, (_, indexed) in stored.items()}, query.terms)
        by_words = _best(worded, query.limit)
        return [
            Candidate(passage=_passage(number, *stored[number]), similarity=alike[number], bm25=by_words.get(number))
            for number in _best(near, query.limit) | by_words
        ]

    async def passage(self, base: BaseId, chunk: ChunkId) -> Passage | None:
        stored = self._stored(base).get(chunk)
        return _passage(chunk, *stored) if stored else None

    async def holds_documents(self, base: BaseId) -> bool:
        return bool(self._stored(base))

    def _stored(self, base: BaseId) -> dict[ChunkId, tuple[DocumentRow, IndexedChunk]]:
        visible = [row for row in self._tables.documents_of(base) if row.visible]
        return {number: (row, indexed) for row in visible for number, indexed in row.chunks.values()}


def bm25(chunks: Mapping[ChunkId, IndexedChunk], terms: Sequence[str]) -> dict[ChunkId, float]:
    """BM25 (k1 1.2, b 0.75) of the chunks that hold any of the terms; a term asked twice counts once."""
    average = sum(indexed.length for indexed in chunks.values()) / max(len(chunks), 1)
    scores: dict[ChunkId, float] = {}
    for term in set(terms):
        holding = {number: indexed for number, indexed in chunks.items() if term in indexed.terms}
        rarity = math.log(1 + (len(chunks) - len(holding) + 0.5) / (len(holding) + 0.5))
        for number, indexed in holding.items():
            often = indexed.terms[term]
            weight = often * (K1 + 1) / (often + K1 * (1 - B + B * indexed.length / average))
            scores[number] = scores.get(number, 0.0) + rarity * weight
    return scores


def _similarity(indexed: IndexedChunk, query: SearchQuery) -> float | None:
    if query.vector is None or indexed.model != query.model:
        return None
    sizes = math.hypot(*indexed.vector) * math.hypot(*query.vector)
    return sum(map(operator.mul, indexed.vector, query.vector)) / sizes if sizes else None


def _best(scores: Mapping[ChunkId, float], limit: int) -> dict[ChunkId, float]:
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return dict(ordered[:limit])


def _passage(number: ChunkId, row: DocumentRow, indexed: IndexedChunk) -> Passage:
    return Passage(
        chunk_id=number,
        document_id=row.id,
        ordinal=indexed.chunk.ordinal,
        title=row.title,
        source_type=row.source.type,
        source_identifier=row.identifier,
        text=indexed.chunk.text,
        locator=indexed.chunk.locator,
        published_at=(row.parsed.published_at if row.parsed else None) or row.source.published_at,
        url=row.source.url,
        author=(row.parsed.author if row.parsed else None) or row.source.author,
        document_status=row.status,
        searchable=len(row.chunks),
        progress_total=row.total,
    )
