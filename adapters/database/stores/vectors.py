"""Old and new vectors of a base, for moving it to another model.

In: bases, documents, vectors. Out: records of `ingestion.reindexing`. It decides nothing and embeds nothing.
"""

from collections.abc import Sequence

from adapters.database import rows
from adapters.database.payloads import json_text, vector_text
from adapters.database.transport import Row, Transport
from domain.ids import BaseId, ChunkId, DocumentId
from domain.locator import Locator
from ingestion.records import Chunk, Span, Vector
from ingestion.reindexing import OutdatedBase, StoredChunk

PAGE = 500  # passages of one call
VECTORS_A_CALL = 64  # about 0.7 MB as JSON
SWITCH_S = 30 * 60  # a base of half a million passages is rewritten in some minutes


class NextVectorStore:
    """Meets `ingestion.reindexing.VectorStore`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def outdated_bases(self, model: str, *, name: str | None) -> list[OutdatedBase]:
        """Bases with passages of another model; `name` asks for one."""
        found = await self._transport.call("outdated_bases", p_model=model, p_name=name)
        return [
            OutdatedBase(
                id=BaseId(rows.text(row, "base_id")),
                name=rows.text_or_none(row, "name"),
                passages=rows.integer(row, "passages"),
                waiting=rows.integer(row, "waiting"),
            )
            for row in found
        ]

    async def outdated_documents(self, base: BaseId, model: str) -> list[DocumentId]:
        """Ready documents with passages that `model` has no vector for."""
        found = await self._transport.call("outdated_documents", p_base=base, p_model=model)
        return [DocumentId(rows.text(row, "document_id")) for row in found]

    async def chunks(self, base: BaseId, document: DocumentId, model: str) -> list[StoredChunk]:
        """All passages of a document, in order."""
        found: list[StoredChunk] = []
        while True:
            after = found[-1].chunk.ordinal if found else -1
            page = await self._transport.call(
                "chunks_to_embed", p_base=base, p_document=document, p_model=model, p_after=after, p_limit=PAGE
            )
            found += map(_stored_chunk, page)
            if len(page) < PAGE:
                return found

    async def store(self, base: BaseId, model: str, vectors: Sequence[tuple[ChunkId, Vector]]) -> None:
        """Store new vectors beside the old ones."""
        for first in range(0, len(vectors), VECTORS_A_CALL):
            some = [
                {"chunk_id": chunk, "embedding": vector_text(vector) if vector else None}
                for chunk, vector in vectors[first : first + VECTORS_A_CALL]
            ]
            await self._transport.call("store_next_vectors", p_base=base, p_model=model, p_vectors=json_text(some))

    async def switch(self, base: BaseId, model: str) -> bool:
        """Switch the base to its new vectors; False when some are missing."""
        found = await self._transport.call("switch_model", timeout_s=SWITCH_S, p_base=base, p_model=model)
        return rows.integer(found[0], "missing") == 0


def _stored_chunk(row: Row) -> StoredChunk:
    return StoredChunk(
        id=ChunkId(rows.integer(row, "chunk_id")),
        embedded=bool(row["embedded"]),
        chunk=Chunk(
            ordinal=rows.integer(row, "ordinal"),
            text=rows.text(row, "text"),
            span=Span(start=rows.integer(row, "span_start"), end=rows.integer(row, "span_end")),
            locator=Locator.from_json(rows.parts(row, "locator")),
        ),
    )
