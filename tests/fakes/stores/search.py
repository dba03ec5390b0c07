"""Search in memory, by the same formulas as in the database.

In and out: what `rag.ports.PassageSearch` says.
"""

import math
import operator
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from domain.documents import Medium
from domain.ids import BaseId, ChunkId
from ingestion.records import IndexedChunk
from rag.records import Candidate, DocumentMatch, Passage, SearchFilter, SearchQuery
from tests.fakes.stores.bm25 import rarities, score, weigh
from tests.fakes.stores.tables import DocumentRow, Tables

Stored = Mapping[ChunkId, tuple[DocumentRow, IndexedChunk]]


class MemorySearch:
    """Meets `rag.ports.PassageSearch`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def search(self, query: SearchQuery) -> list[Candidate]:
        stored = self._stored(query.base_id)
        within = {number for number, (row, _) in stored.items() if _is_let_through(row, query.only)}
        alike = {number: _similarity(indexed, query) for number, (_, indexed) in stored.items()}
        near = {number: alike[number] for number in within if alike[number] is not None}
        worded, worth = _worded(stored, query)
        by_words = _best({number: value for number, value in worded.items() if number in within}, query.limit)
        return [
            Candidate(
                passage=_passage(number, *stored[number]),
                similarity=alike[number],
                bm25=by_words.get(number),
                rarities=worth if number in by_words else (),
            )
            for number in _best(near, query.limit) | by_words
        ]

    async def find_documents(self, query: SearchQuery) -> list[DocumentMatch]:
        found = await self.search(replace(query, vector=None, limit=10_000))
        best = {each.passage.document_id: each for each in sorted(found, key=lambda each: each.bm25 or 0)}
        ordered = sorted(best.values(), key=lambda each: (-(each.bm25 or 0), each.passage.document_id))
        return [_match(each) for each in ordered[: query.limit]]

    async def passage(self, base: BaseId, chunk: ChunkId) -> Passage | None:
        stored = self._stored(base).get(chunk)
        return _passage(chunk, *stored) if stored else None

    async def holds_documents(self, base: BaseId) -> bool:
        return bool(self._stored(base))

    def _stored(self, base: BaseId) -> Stored:
        visible = [row for row in self._tables.documents_of(base) if row.visible]
        return {number: (row, indexed) for row in visible for number, indexed in row.chunks.values()}


def _worded(stored: Stored, query: SearchQuery) -> tuple[dict[ChunkId, float], tuple[float, ...]]:
    """The score of every chunk that holds anything of the query, and what its terms are worth."""
    chunks = {number: indexed for number, (_, indexed) in stored.items()}
    weights = weigh(chunks, query)
    average = max(sum(indexed.length for indexed in chunks.values()), 1) / max(len(chunks), 1)
    scores = {number: score(indexed, weights, average) for number, indexed in chunks.items()}
    return {number: value for number, value in scores.items() if value > 0}, rarities(weights, query)


def _is_let_through(row: DocumentRow, only: SearchFilter | None) -> bool:
    if only is None:
        return True
    published = (row.parsed.published_at if row.parsed else None) or row.source.published_at
    author = (row.parsed.author if row.parsed else None) or row.source.author or row.sender or ""
    return (
        (not only.documents or row.id in only.documents)
        and (not only.types or row.source.type in only.types)
        and (not only.media or (row.parsed.medium if row.parsed else Medium.TEXT) in only.media)
        and (only.sender is None or _folded(only.sender) in _folded(row.sender or ""))
        and (only.sent_by is None or only.sent_by == row.user_id)
        and (only.author is None or _folded(only.author) in _folded(author))
        and any(_is_within(day, only) for day in (published, row.created_at) if day)
    )


def _is_within(day: datetime, only: SearchFilter) -> bool:
    return (only.since is None or day >= only.since) and (only.before is None or day < only.before)


def _match(best: Candidate) -> DocumentMatch:
    passage = best.passage
    return DocumentMatch(
        id=passage.document_id,
        title=passage.title,
        file_name=passage.source_identifier,
        source_type=passage.source_type,
        published_at=passage.published_at,
        pages=None,
        passages=passage.searchable,
        score=best.bm25 or 0.0,
    )


def _folded(name: str) -> str:
    return name.lower().replace("ё", "е")


def _similarity(indexed: IndexedChunk, query: SearchQuery) -> float | None:
    if query.vector is None or indexed.model != query.model or not indexed.vector:
        return None
    sizes = math.hypot(*indexed.vector) * math.hypot(*query.vector)
    return sum(map(operator.mul, indexed.vector, query.vector)) / sizes if sizes else None


def _best(scores: Mapping[ChunkId, float | None], limit: int) -> dict[ChunkId, float]:
    known = {number: score for number, score in scores.items() if score is not None}
    ordered = sorted(known.items(), key=lambda item: (-item[1], item[0]))
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
        sender=row.sender,
        document_status=row.status,
        searchable=len(row.chunks),
        progress_total=row.total,
    )
