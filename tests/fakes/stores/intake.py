"""Where the bot leaves what was sent, in memory.

In and out: what `ingestion.ports.IntakeQueue` says. One event loop, so each call is atomic by itself.
"""

import re
from dataclasses import replace

from domain.documents import DocumentStatus, SourceType
from domain.ids import BatchId, DocumentId, MessageId
from ingestion.records import Batch, Edition, EnqueuedDocument
from tests.fakes.stores.tables import BatchRow, DocumentRow, Tables, after, fresh_id, key_of, now

FULL_MESSAGE = 4095  # UTF-16 units


class MemoryIntake:
    """Meets `ingestion.ports.IntakeQueue`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def enqueue(self, batch: Batch, *, hold_s: int = 0) -> list[EnqueuedDocument]:
        known = self._redelivered(batch)
        for again in known if batch.ttl_s is None else ():
            if again.expires_at is not None:
                self._tables.stay_until(again, None)
        if known:
            pairs = zip(known, batch.sources, strict=True)
            return [EnqueuedDocument(id=row.id, source=source, created=False) for row, source in pairs]
        row = self._album(batch) or self._new(batch)
        earlier = sum(document.batch is row for document in self._tables.documents.values())
        return [self._add(row, batch, place, earlier + place, hold_s) for place in range(len(batch.sources))]

    async def join(self, batch: Batch, *, hold_s: int = 0) -> EnqueuedDocument | None:
        rows = [row for row in self._tables.documents_of(batch.base_id) if row.batch.chat_id == batch.chat_id]
        again = next((row for row in rows if batch.message_id in row.joined), None)
        part = next((row for row in rows if _goes_on(row, batch)), None)
        if again is not None:
            return EnqueuedDocument(id=again.id, source=batch.sources[0], created=False)
        if part is None or batch.message_id is None:
            return None
        before, words = part.source.text or "", batch.sources[0].text or ""
        part.source = replace(part.source, text=before + joint(before, words) + words)
        part.joined.append(batch.message_id)
        part.run_after = after(hold_s)
        part.batch.revision += 1
        return EnqueuedDocument(id=part.id, source=batch.sources[0], created=True)

    async def refresh(self, batch: Batch, document: DocumentId) -> EnqueuedDocument | None:
        asked_for = self._tables.document_of(batch.base_id, document)
        rows = self._tables.documents_of(batch.base_id) if asked_for else []
        if asked_for is None or asked_for.source.type is SourceType.NOTE:
            return None
        running = next((row for row in rows if row.lineage == asked_for.lineage and not row.status.is_final), None)
        if running is not None:
            return EnqueuedDocument(id=running.id, source=running.source, created=False)
        current = next((row for row in rows if row.lineage == asked_for.lineage and row.is_ready), None)
        failed = self._tables.failed_after(current) if current else []
        if asked_for.status is not DocumentStatus.FAILED and failed and current:
            asked_for = failed[-1] if failed[-1].source.type is not SourceType.FILE else current
        if asked_for.status is DocumentStatus.FAILED:
            return self._try_again(asked_for, current, batch)
        if current is None:
            return None
        asked = replace(batch, message_id=None, media_group=None, sources=(current.source,))
        added = self._add(self._new(asked), asked, 0, 0, 0)
        row = self._tables.documents[added.id]
        row.lineage, row.chosen, row.given_title = current.lineage, True, current.given_title
        row.given_terms, row.expires_at = current.given_terms, current.expires_at
        row.source = replace(row.source, edition=_edition_of(current))
        row.title, row.name_key, row.message_id = current.title, current.name_key, current.message_id
        return added

    def _try_again(self, failed: DocumentRow, current: DocumentRow | None, batch: Batch) -> EnqueuedDocument:
        before = failed.batch
        if before.chat_id is None or before.shown_revision >= before.revision:
            failed.batch, failed.position = self._new(replace(batch, message_id=None, media_group=None)), 0
        if not any(row.batch is before for row in self._tables.documents.values()):
            del self._tables.batches[before.id]
        failed.status, failed.failure, failed.attempts, failed.run_after = DocumentStatus.QUEUED, None, 0, now()
        failed.started_at = failed.finished_at = failed.content_hash = None
        failed.done = failed.total = 0
        failed.waits_for_service = False
        failed.source = replace(failed.source, edition=_edition_of(current) if current else None)
        failed.batch.revision += failed.batch is before
        return EnqueuedDocument(id=failed.id, source=failed.source, created=True)

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
            sender=batch.sender,
            message_id=batch.message_id,
            source=source,
            title=source.title or source.identifier,
            name_key=key_of(source),
            size_bytes=source.size_bytes,
            media_type=source.media_type,
            run_after=after(hold_s),
            expires_at=None if batch.ttl_s is None else after(batch.ttl_s).replace(second=0, microsecond=0),
        )
        self._tables.documents[document.id] = document
        return EnqueuedDocument(id=document.id, source=source, created=True)


def _goes_on(row: DocumentRow, batch: Batch) -> bool:
    """Whether the row is a note that this message goes on with."""
    is_held = row.status is DocumentStatus.QUEUED and not row.attempts and row.run_after > now()
    last: MessageId | None = row.joined[-1] if row.joined else row.message_id
    if not is_held or row.source.type is not SourceType.NOTE or row.user_id != batch.user_id:
        return False
    return last is not None and batch.message_id is not None and batch.message_id - last in (1, 2)


def joint(before: str, words: str) -> str:
    """What Telegram's client dropped where it cut."""
    units = len(before.encode("utf-16-le")) // 2
    if units >= FULL_MESSAGE and before[-1].isalnum() and words[0].isalnum():
        return ""
    return " " if not re.search(r"[.!?…:;»\")]$", before) and words[:1].islower() else "\n"


def _edition_of(row: DocumentRow) -> Edition | None:
    return replace(row.edition, content_hash=row.content_hash) if row.edition else None
