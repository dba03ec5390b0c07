"""The queue of documents, in memory.

In and out: what `ingestion.ports.WorkQueue` and `DocumentText` say. One event loop, so each call is atomic by itself.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import PurePath

from adapters.database.errors import DatabaseError
from domain.documents import DocumentStatus, Lane, SourceType
from domain.ids import BaseId, ChunkId, DocumentId, LeaseId
from domain.locator import JsonValue
from ingestion.errors import FailureCode, LeaseLost
from ingestion.records import (
    Block,
    ClaimedDocument,
    Document,
    Edition,
    Failure,
    IndexedChunk,
    NameLine,
    PublishedDocument,
    Source,
)
from tests.fakes.stores.room import PLACES, ensure_room, full_at
from tests.fakes.stores.tables import IN_STAGES, DocumentRow, Tables, after, fresh_id, key_of, now

FILES_HERE = frozenset({SourceType.PATH})
CAPTIONED = frozenset({SourceType.FILE, SourceType.LINK})  # a link that came as a file


class MemoryWork:
    """Meets `ingestion.ports.WorkQueue`."""

    def __init__(self, tables: Tables, base_passages: int | None = None) -> None:
        self._tables, self._base_passages = tables, base_passages

    async def claim(
        self, *, worker: str, lease_s: int, only: DocumentId | None = None, lanes: Collection[Lane] = tuple(Lane)
    ) -> ClaimedDocument | None:
        rows = self._tables.documents.values()
        waiting = [row for row in rows if _is_claimable(row, only) and (only or row.source.lane in lanes)]
        if not waiting:
            return None
        row = self._fairest(waiting)
        row.status, row.done, row.total, row.failure = DocumentStatus.FETCHING, 0, 0, None
        row.attempts += 1
        row.visible = False
        row.source = replace(row.source, text=row.source.text or self._album_caption(row))
        row.lease, row.lease_until = LeaseId(fresh_id()), after(lease_s)
        row.run_after = min(row.run_after, now())
        row.started_at = row.started_at or now()
        row.batch.revision += 1
        self._tables.served[row.batch.base_id] = now()
        return ClaimedDocument(
            id=row.id,
            base_id=row.batch.base_id,
            lease=row.lease,
            attempt=row.attempts,
            source=_as_sent(row),
            is_known=row.source.type in CAPTIONED and row.chosen and row.content_hash is not None,
            full_at=full_at(self._tables, row, self._base_passages),
        )

    def _album_caption(self, row: DocumentRow) -> str | None:
        """What is written under one file of an album is meant for all."""
        if row.batch.media_group is None or row.source.type is not SourceType.FILE:
            return None
        album = [other for other in self._tables.documents.values() if other.batch is row.batch and other.source.text]
        return min(album, key=lambda other: other.position).source.text if album else None

    def _fairest(self, waiting: Sequence[DocumentRow]) -> DocumentRow:
        """Of the base with the fewest in work, then of the one that has waited longest, the document that did so."""
        at_work = Counter((row.batch.base_id, row.source.lane) for row in self._tables.documents.values() if row.lease)
        silent = [row for row in waiting if row.status is not DocumentStatus.QUEUED]
        heads: dict[tuple[BaseId, Lane], DocumentRow] = {}
        for row in sorted(silent or waiting, key=lambda row: (row.run_after, row.created_at, row.position)):
            heads.setdefault((row.batch.base_id, row.source.lane), row)
        never = min(row.created_at for row in waiting)
        return min(
            heads.values(),
            key=lambda row: (
                at_work[row.batch.base_id, row.source.lane],
                max(row.run_after, self._tables.served.get(row.batch.base_id, never)),
                row.created_at,
            ),
        )

    async def renew(self, document: ClaimedDocument, *, lease_s: int) -> None:
        self._held(document).lease_until = after(lease_s)

    async def give_back(self, document: ClaimedDocument) -> None:
        row = self._held(document)
        row.status, row.visible, row.done, row.total = DocumentStatus.QUEUED, False, 0, 0
        row.attempts -= 1
        row.lease = row.lease_until = None
        row.batch.revision += 1

    async def report(self, document: ClaimedDocument, *, status: DocumentStatus, done: int, total: int) -> None:
        row = self._held(document)
        if status not in IN_STAGES:
            raise DatabaseError("report_progress", code="22023", message=f"a report cannot move a document to {status}")
        row.status, row.done, row.total = status, done, total
        row.batch.revision += 1

    async def record_content(
        self,
        document: ClaimedDocument,
        *,
        content_hash: str,
        size_bytes: int | None = None,
        media_type: str | None = None,
        edition: Edition | None = None,
    ) -> PublishedDocument | None:
        row = self._held(document)
        row.edition = edition
        row.content_hash = content_hash
        row.size_bytes, row.media_type = size_bytes or row.size_bytes, row.media_type or media_type
        return self._stopped(row)

    async def become_link(self, document: ClaimedDocument, *, link: Source) -> None:
        row = self._held(document)
        row.source = replace(link, text=row.source.text, url=row.source.url)
        row.name_key, row.title = key_of(link), link.identifier
        row.size_bytes = row.media_type = None
        self._put_back(row)

    async def known_reading(self, document: ClaimedDocument) -> Document | None:
        row = self._held(document)
        before = self._tables.ready_before(row)
        if before is None or before.parsed is None or before.content_hash != row.content_hash:
            return None
        blocks = before.blocks
        is_captioned = blocks[:1] and blocks[0].text == before.source.text
        return replace(before.parsed, title=before.title, blocks=tuple(blocks[1:] if is_captioned else blocks))

    async def store_blocks(self, document: ClaimedDocument, *, parsed: Document, chunks: int) -> int:
        row = self._held(document)
        ensure_room(self._tables, row, chunks, self._base_passages)
        self._put_blocks(row, parsed)
        row.status, row.done, row.total = DocumentStatus.EMBEDDING, 0, chunks
        row.batch.revision += 1
        return len(row.chunks)

    async def keep_chunks(self, document: ClaimedDocument, *, model: str, digests: Sequence[str]) -> Collection[int]:
        row = self._held(document)
        row.chunks = {
            ordinal: (number, indexed)
            for ordinal, (number, indexed) in row.chunks.items()
            if indexed.model == model and ordinal < len(digests) and _md5(indexed.chunk.text) == digests[ordinal]
        }
        return set(row.chunks)

    async def add_chunks(self, document: ClaimedDocument, *, chunks: Sequence[IndexedChunk]) -> None:
        row = self._held(document)
        self._put(row, chunks)
        is_visible = (row.visible or len(row.chunks) < row.total) and self._tables.may_be_found(row)
        row.batch.revision += is_visible is not row.visible
        row.visible = is_visible

    async def publish(
        self,
        document: ClaimedDocument,
        *,
        chunks: int,
        last: Sequence[IndexedChunk] = (),
        parsed: Document | None = None,
    ) -> PublishedDocument:
        row = self._held(document)
        if parsed is not None:
            self._put_blocks(row, parsed)
        stored = {**row.chunks, **{indexed.chunk.ordinal: (ChunkId(0), indexed) for indexed in last}}
        if sum(ordinal < chunks for ordinal in stored) != chunks:
            raise DatabaseError("publish_document", code="23514", message=f"{len(stored)} of {chunks} chunks")
        self._put(row, last)
        row.chunks = {ordinal: kept for ordinal, kept in row.chunks.items() if ordinal < chunks}
        self._join_lineage(row, PLACES)
        stopped = self._stopped(row)
        if stopped:
            return stopped
        ensure_room(self._tables, row, chunks, self._base_passages)
        self._supersede(row)
        self._bear_own_titles(row)
        if row.given_terms is not None:
            row.retitle(NameLine(text=row.title, terms=row.given_terms))
        row.status, row.visible, row.done, row.total = DocumentStatus.READY, True, chunks, chunks
        row.lease = row.lease_until = None
        row.finished_at = now()
        row.batch.revision += 1
        for other in self._tables.documents_of(row.batch.base_id):
            other.visible = other.visible and (other.is_ready or self._tables.may_be_found(other))
        return PublishedDocument()

    def _join_lineage(self, row: DocumentRow, types: frozenset[SourceType]) -> None:
        """What was read from the same place before is an earlier version: nobody is asked."""
        if row.source.type in types and (earlier := self._tables.ready_namesake(row)):
            row.lineage = earlier.lineage

    def _bear_own_titles(self, row: DocumentRow) -> None:
        """Files that bear one title go by their names."""
        files = [each for each in self._tables.documents_of(row.batch.base_id) if each is row or each.is_ready]
        alike = [each for each in files if _own_title(each) is not None and _own_title(each) == _own_title(row)]
        for each in alike if len(alike) > 1 else ():
            each.title = PurePath(each.source.identifier).name

    def _put_blocks(self, row: DocumentRow, parsed: Document) -> None:
        row.parsed, row.title, row.blocks = parsed, row.given_title or parsed.title, list(parsed.blocks)
        row.names = parsed.names

    def _put(self, row: DocumentRow, chunks: Sequence[IndexedChunk]) -> None:
        for indexed in chunks:
            self._tables.chunks_made += 1
            row.chunks[indexed.chunk.ordinal] = (ChunkId(self._tables.chunks_made), indexed)

    def _supersede(self, row: DocumentRow) -> None:
        before = self._tables.ready_before(row)
        if before is not None:
            row.expires_at = max(row.expires_at, before.expires_at) if row.expires_at and before.expires_at else None
            before.status, before.visible, before.chunks = DocumentStatus.SUPERSEDED, False, {}
            row.given_terms = row.given_terms if row.given_title else before.given_terms
            row.version, row.given_title = before.version + 1, row.given_title or before.given_title
            row.title = row.given_title or row.title

    async def postpone(self, document: ClaimedDocument, *, failure: Failure, delay_s: float) -> None:
        row = self._held(document)
        row.status, row.run_after, row.waits_for_service = DocumentStatus.QUEUED, after(delay_s), True
        row.failure, row.visible = failure, False
        row.lease = row.lease_until = None
        row.batch.revision += 1

    async def fail(self, document: ClaimedDocument, *, failure: Failure) -> None:
        self._held(document).finish(DocumentStatus.FAILED, failure)

    def _held(self, document: ClaimedDocument) -> DocumentRow:
        row = self._tables.documents.get(document.id)
        if row is None or row.lease != document.lease or row.status not in IN_STAGES:
            raise LeaseLost(document.id)
        return row

    def _adopt_caption(self, row: DocumentRow, twin: DocumentRow) -> None:
        """As the next version of what has the same content, with the words under both."""
        known = twin.source.text or ""
        own = [words for words in (row.source.text or "").split("\n\n") if words not in known]
        words = "\n\n".join(filter(None, (known, *own)))
        row.source = replace(row.source, text=words, identifier=twin.source.identifier, title=twin.source.title)
        row.name_key, row.title, row.lineage, row.chosen = twin.name_key, twin.title, twin.lineage, True
        if row.given_title is None:
            row.given_title, row.given_terms = twin.given_title, twin.given_terms
        self._put_back(row)

    def _put_back(self, row: DocumentRow) -> None:
        row.status, row.lease, row.lease_until, row.visible = DocumentStatus.QUEUED, None, None, False
        row.attempts -= 1
        row.batch.revision += 1

    def _stopped(self, row: DocumentRow) -> PublishedDocument | None:
        """As a duplicate, or until the person has chosen; None: go on."""
        self._join_lineage(row, FILES_HERE)
        twin, told = self._tables.ready_twin(row), self._stay_of_twin(row)
        if twin is not None and row.chosen and twin.lineage == row.lineage and _has_both_words(row, twin):
            row.question = {"captioned": True}
            return None
        if twin is not None and _brings_words(row, twin):
            self._adopt_caption(row, twin)
            return PublishedDocument(duplicate_of=twin.id)
        if twin is not None:
            unchanged: dict[str, JsonValue] = {"unchanged": True} if twin.lineage == row.lineage else {}
            failure = Failure(code=FailureCode.DUPLICATE.value, params=_named(twin) | told | unchanged)
            row.finish(DocumentStatus.DUPLICATE, failure)
            return PublishedDocument(duplicate_of=twin.id)
        namesake = self._tables.ready_namesake(row) if row.source.type is SourceType.FILE else None
        if namesake is not None:
            rows = self._tables.documents_of(row.batch.base_id)
            asking = [other for other in rows if other.status is DocumentStatus.CHOOSING]
            same = [o for o in asking if (o.name_key, o.content_hash) == (row.name_key, row.content_hash)]
            if same:
                params = _named(namesake) | {"asked": True, "document_id": same[0].id}
                failure = Failure(code=FailureCode.DUPLICATE.value, params=params)
                row.finish(DocumentStatus.DUPLICATE, failure)
                return PublishedDocument(duplicate_of=same[0].id)
            row.finish(DocumentStatus.CHOOSING, None)
            row.question = _named(namesake)
            return PublishedDocument(namesake=namesake.id)
        return None

    def _stay_of_twin(self, row: DocumentRow) -> dict[str, JsonValue]:
        """The same content stays as long as the one of the two that stays longer; for the receipt of the second."""
        twin = self._tables.ready_twin(row)
        if twin is None or twin.expires_at is None or (twin.lineage == row.lineage and row.expires_at is not None):
            return {}
        self._tables.stay_until(twin, max(twin.expires_at, row.expires_at) if row.expires_at else None)
        return {"stays_until": twin.expires_at.isoformat() if twin.expires_at else None}


def _has_both_words(row: DocumentRow, twin: DocumentRow) -> bool:
    return _brings_words(row, twin) and (twin.source.text or "") in (row.source.text or "")


def _brings_words(row: DocumentRow, twin: DocumentRow) -> bool:
    """Whether there is a caption under a file, or a link that was one, that the one in the base lacks."""
    if row.source.type not in CAPTIONED or twin.source.type is not row.source.type:
        return False
    if row.expires_at is not None and twin.expires_at is None:
        return False
    return bool(row.source.text) and str(row.source.text) not in (twin.source.text or "")


def _named(row: DocumentRow) -> dict[str, JsonValue]:
    return {
        "document_id": row.id,
        "title": row.title,
        "source_type": row.source.type.value,
        "source_identifier": row.identifier,
        "created_at": row.created_at.isoformat(),
    }


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


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
    called = row.identifier if row.given_terms is None else row.source.identifier  # «План (2).docx»
    source = replace(row.source, identifier=called, size_bytes=row.size_bytes, media_type=row.media_type)
    if row.parsed is None:
        return source
    return replace(
        source,
        author=row.parsed.author or row.source.author,
        published_at=row.parsed.published_at or row.source.published_at,
    )


def _own_title(row: DocumentRow) -> str | None:
    is_named = row.given_title is not None or row.source.type not in (SourceType.FILE, SourceType.PATH)
    return None if is_named or not row.names else row.names[0].text.casefold()
