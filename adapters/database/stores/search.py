"""Passages by question, by place and by vector.

In: a base, a query, vectors, documents. Out: candidates, passages in order, old and new vectors of a base that moves to
another model. Fusing, reranking and embedding are done elsewhere.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from adapters.database import rows
from adapters.database.payloads import json_bytes, stored_vectors, vector_text
from adapters.database.segments import Copy, Near, SegmentMirror
from adapters.database.transport import Transport
from domain.documents import opening_line
from domain.ids import BaseId, ChunkId, DocumentId
from domain.locator import JsonValue
from ingestion.indexing import OutdatedBase, StoredChunk
from ingestion.records import Vector
from rag.records import Candidate, DocumentMatch, Passage, SearchQuery

VECTORS_A_CALL = 64  # about 0.7 MB as JSON


Found = tuple[list[Candidate], JsonValue]
"""With the state of the base that the call saw."""


class SearchStore(rows.Store):
    """Meets `rag.ports.PassageSearch`, `DocumentScores` and `DocumentPassages`."""

    def __init__(self, transport: Transport, copies: SegmentMirror | None = None) -> None:
        super().__init__(transport)
        self._copies = copies

    async def search(self, query: SearchQuery) -> list[Candidate]:
        """Up to `query.limit` candidates of each leg, each passage once, of one state of the base.

        In one call of the database; where a copy of a segment proposes passages, words and vector are searched by two
        calls at the same time, and again by one where documents came or left between them.
        """
        copies = self._copies if query.only is None else None  # a filter leaves other passages nearest
        copy = copies.copy_of(query.base_id, query.model) if copies else None
        if query.vector is None or copy is None:
            return (await self._searched(query))[0]
        legs = await asyncio.gather(self._searched(query, by_vector=False), self._nearest(query, query.vector, copy))
        if len({as_of for candidates, as_of in legs if candidates}) > 1:
            return (await self._searched(query))[0]
        return [*{each.passage.chunk_id: each for candidates, _ in reversed(legs) for each in candidates}.values()]

    async def _nearest(self, query: SearchQuery, vector: Sequence[float], copy: Copy) -> Found:
        near = await copy.near(vector, limit=query.limit)
        return await self._searched(replace(query, terms=(), spellings=()), near)

    async def _searched(self, query: SearchQuery, near: Near | None = None, *, by_vector: bool = True) -> Found:
        if not (query.terms or by_vector):
            return [], None
        only = vars(query.only) if query.only else {}
        conditions = {name: value for name, value in only.items() if value not in (None, "", ())}
        found = await self._call(
            "search",
            base=query.base_id,
            embedding=None if query.vector is None else stored_vectors([query.vector]),
            model=query.model,
            terms=query.terms,
            spellings=_spellings_json(query),
            filter=None if query.only is None else json_bytes(conditions),
            limit=query.limit,
            near=None if near is None else f"{{{','.join(map(str, near.passages))}}}",  # a list would quote each number
            near_segment=None if near is None else near.segment,
            near_row=None if near is None else near.last_row,
            by_vector=by_vector,
        )
        shown = [
            {**row, "passage": passage, "rarities": row["rarities"] or (), "inherited": row["inherited"] or ()}
            for row, passage in zip(found, rows.passages(found), strict=True)
        ]
        return rows.records(Candidate, shown), found[0]["as_of"] if found else None

    async def find_documents(self, query: SearchQuery) -> list[DocumentMatch]:
        found = await self._all(
            DocumentMatch,
            "find_documents",
            base=query.base_id,
            terms=query.terms,
            spellings=_spellings_json(query),
            limit=query.limit,
        )
        return [replace(each, opening=opening_line(each.opening)) for each in found]

    async def documents_saying_first(
        self, base: BaseId, terms: Sequence[str], *, limit: int, offset: int = 0
    ) -> list[DocumentMatch]:
        return await self._all(
            DocumentMatch, "documents_saying_first", base=base, terms=terms, limit=limit, offset=offset
        )

    async def passage(self, base: BaseId, chunk: ChunkId) -> Passage | None:
        """None when the base does not hold it (any more)."""
        found = rows.passages(await self._call("passage", base=base, chunk=chunk))
        return next(iter(rows.records(Passage, found)), None)

    async def read(self, base: BaseId, document: DocumentId, *, after: int, limit: int) -> list[Passage]:
        found = await self._call("read_passages", base=base, document=document, after=after, limit=limit)
        return rows.records(Passage, rows.passages(found))

    async def holds_documents(self, base: BaseId) -> bool:
        """Whether anything in the base can be found."""
        return bool(await self._first(bool, "holds_documents", "holds", base=base))

    async def ensure_index(self) -> bool:
        """Make what large bases need: segments of vectors and of postings, counts of words; True when any was made now.

        It can take minutes, and blocks neither searches nor writers. An interrupted step is repeated. Raises
        DatabaseError, DatabaseAway.
        """
        made = False
        while await self._call("ensure_vector_segments"):
            made = True
        made |= bool(await self._call("refresh_common_terms"))
        while await self._call("ensure_posting_segments"):
            made = True
        return made


def _spellings_json(query: SearchQuery) -> bytes:
    return json_bytes([vars(spelling) for spelling in query.spellings])


class NextVectorStore(rows.Store):
    """Meets `ingestion.indexing.VectorStore`."""

    async def outdated_bases(self, model: str, *, name: str | None) -> list[OutdatedBase]:
        return await self._all(OutdatedBase, "outdated_bases", model=model, name=name)

    async def outdated_documents(self, base: BaseId, model: str) -> list[DocumentId]:
        return await self._all(DocumentId, "outdated_documents", "document_id", base=base, model=model)

    async def chunks(self, base: BaseId, document: DocumentId, model: str) -> list[StoredChunk]:
        found = await self._paged("chunks_to_embed", base=base, document=document, model=model)
        return rows.records(StoredChunk, found)

    async def store(self, base: BaseId, model: str, vectors: Sequence[tuple[ChunkId, Vector]]) -> None:
        for first in range(0, len(vectors), VECTORS_A_CALL):
            some = [
                {"chunk_id": chunk, "embedding": vector_text(vector) if vector else None}
                for chunk, vector in vectors[first : first + VECTORS_A_CALL]
            ]
            await self._call("store_next_vectors", base=base, model=model, vectors=json_bytes(some))

    async def switch(self, base: BaseId, model: str) -> bool:
        missing = await self._all(int, "switch_model", "missing", base=base, model=model)
        return missing == [0]
