"""The queue of documents, in memory.

In and out: what `ingestion.ports.IntakeQueue`, `WorkQueue` and `DocumentText` say. One event loop, so each call is
atomic by itself.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adapters.database.errors import DatabaseError
from domain.documents import DocumentStatus
from domain.ids import BaseId, BatchId, ChunkId, DocumentId, LeaseId
from ingestion.errors import FailureCode, LeaseLost
from ingestion.records import (
    Batch,
    Block,
    ClaimedDocument,
    Document,
    EnqueuedDocument,
    Failure,
    IndexedChunk,
    PublishedDocument,
    Source,
)
from tests.fakes.stores.tables import IN_STAGES, BatchRow, DocumentRow, Tables, after, fresh_id, now


class MemoryIntake:
    """Meets `ingestion.ports.IntakeQueue`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def enqueue(self, batch: Batch, *, hold_s: int = 0) -> list[EnqueuedDocument]:
        known = self._redelivered(batch)
        if known:
            pairs = zip(known, batch.sources, strict=True)
            return [EnqueuedDocument(id=row.id, source=source, created=False) for row, source in pairs]
        row = self._album(batch) or self._new(batch)
        earlier = sum(document.batch is row for document in self._tables.documents.values())
        return [self._add(row, batch, place, earlier + place, hold_s) for place in range(len(batch.sources))]

    def _redelivered(self, batch: Batch) -> list[DocumentRow]:
        if batch.message_id is None:
            return []
        message = (batch.chat_id, batch.message_id)
        rows = self._tables.documents_of(batch.base_id)
        return [row for row in rows if (row.batch.chat_id, row.message_id) == message]

    def _album(self, batch: Batch) -> BatchRow | None:
        """The row that earlier messages of the same album have made."""
        if batch.media_group is None:
            return None
        album = (batch.base_id, batch.chat_id, batch.media_group)
        rows = self._tables.batches.values()
        found = next((row for row in rows if (row.base_id, row.chat_id, row.media_group) == album), None)
        if found:
            found.revision += 1
        return found

    def _new(self, batch: Batch) -> BatchRow:
        row = BatchRow(
            id=BatchId(fresh_id()),
            base_id=batch.base_id,
            chat_id=batch.chat_id,
            thread_id=batch.thread_id,
            message_id=batch.message_id,
            media_group=batch.media_group,
            language=batch.language,
        )
        self._tables.batches[row.id] = row
        return row

    def _add(self, row: BatchRow, batch: Batch, place: int, position: int, hold_s: int) -> EnqueuedDocument:
        source = batch.sources[place]
        document = DocumentRow(
            id=DocumentId(fresh_id()),
            batch=row,
            position=position,
            user_id=batch.user_id,
            message_id=batch.message_id,
            source=source,
            title=source.title or source.identifier,
            run_after=after(hold_s),
        )
        self._tables.documents[document.id] = document
        return EnqueuedDocument(id=document.id, source=source, created=True)


class MemoryWork:
    """Meets `ingestion.ports.WorkQueue`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def claim(self, *, worker: str, lease_s: int, only: DocumentId | None = None) -> ClaimedDocument | None:
        waiting = [row for row in self._tables.documents.values() if _is_claimable(row, only)]
        if not waiting:
            return None
        row = min(waiting, key=lambda row: (row.run_after, row.created_at, row.position))
        row.status, row.done, row.total, row.failure = DocumentStatus.FETCHING, 0, 0, None
        row.attempts += 1
        row.lease, row.lease_until = LeaseId(fresh_id()), after(lease_s)
        row.run_after = min(row.run_after, now())
        row.started_at = row.started_at or now()
        row.batch.revision += 1
        return ClaimedDocument(
            id=row.id, base_id=row.batch.base_id, lease=row.lease, attempt=row.attempts, source=_as_sent(row)
        )

    async def renew(self, document: ClaimedDocument, *, lease_s: int) -> None:
        self._held(document).lease_until = after(lease_s)

    async def report(self, document: ClaimedDocument, *, status: DocumentStatus, done: int, total: int) -> None:
        row = self._held(document)
        if status not in IN_STAGES:
            raise DatabaseError("report_progress", code="22023", message=f"a report cannot move a document to {status}")
        row.status, row.done, row.total = status, done, total
        row.batch.revision += 1

    async def record_content(self, document: ClaimedDocument, *, content_hash: str) -> PublishedDocument | None:
        row = self._held(document)
        row.content_hash = content_hash
        return self._duplicate(row)

    async def store_blocks(self, document: ClaimedDocument, *, parsed: Document) -> None:
        row = self._held(document)
        row.parsed, row.title, row.blocks = parsed, parsed.title, list(parsed.blocks)

    async def stored_chunks(self, document: ClaimedDocument, *, model: str) -> Mapping[int, str]:
        stored = self._held(document).chunks
        return {
            ordinal: hashlib.md5(indexed.chunk.text.encode(), usedforsecurity=False).hexdigest()
            for ordinal, (_, indexed) in stored.items()
            if indexed.model == model
        }

    async def add_chunks(self, document: ClaimedDocument, *, chunks: Sequence[IndexedChunk]) -> None:
        row = self._held(document)
        for indexed in chunks:
            self._tables.chunks_made += 1
            row.chunks[indexed.chunk.ordinal] = (ChunkId(self._tables.chunks_made), indexed)

    async def publish(self, document: ClaimedDocument, *, chunks: int) -> PublishedDocument:
        row = self._held(document)
        kept = {ordinal: stored for ordinal, stored in row.chunks.items() if ordinal < chunks}
        if len(kept) != chunks:
            raise DatabaseError("publish_document", code="23514", message=f"{len(kept)} of {chunks} chunks")
        duplicate = self._duplicate(row)
        if duplicate:
            return duplicate
        row.chunks, row.status, row.done, row.total = kept, DocumentStatus.READY, chunks, chunks
        row.lease = row.lease_until = None
        row.finished_at = now()
        row.batch.revision += 1
        return PublishedDocument(duplicate_of=None, chunks=chunks)

    async def postpone(self, document: ClaimedDocument, *, failure: Failure, delay_s: float) -> None:
        row = self._held(document)
        row.status, row.run_after, row.waits_for_service = DocumentStatus.QUEUED, after(delay_s), True
        row.failure = failure
        row.lease = row.lease_until = None
        row.batch.revision += 1

    async def fail(self, document: ClaimedDocument, *, failure: Failure) -> None:
        self._held(document).finish(DocumentStatus.FAILED, failure)

    def _held(self, document: ClaimedDocument) -> DocumentRow:
        row = self._tables.documents.get(document.id)
        if row is None or row.lease != document.lease or row.status not in IN_STAGES:
            raise LeaseLost(document.id)
        return row

    def _duplicate(self, row: DocumentRow) -> PublishedDocument | None:
        twin = self._tables.ready_twin(row.batch.base_id, row.content_hash)
        if twin is None:
            return None
        where = {"document_id": twin.id, "title": twin.title, "created_at": twin.created_at.isoformat()}
        row.finish(DocumentStatus.DUPLICATE, Failure(code=FailureCode.DUPLICATE.value, params=where))
        return PublishedDocument(duplicate_of=twin.id, chunks=len(twin.chunks))


class MemoryText:
    """Meets `ingestion.ports.DocumentText`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def blocks(self, base: BaseId, document: DocumentId) -> list[Block]:
        row = self._tables.document_of(base, document)
        return list(row.blocks) if row else []


def _is_claimable(row: DocumentRow, only: DocumentId | None) -> bool:
    if only is not None and row.id != only:
        return False
    if only is None and row.run_after > now():
        return False
    if row.status is DocumentStatus.QUEUED:
        return True
    return row.status in IN_STAGES and row.lease_until is not None and row.lease_until <= now()


def _as_sent(row: DocumentRow) -> Source:
    if row.parsed is None:
        return row.source
    return replace(
        row.source,
        author=row.parsed.author or row.source.author,
        published_at=row.parsed.published_at or row.source.published_at,
    )
