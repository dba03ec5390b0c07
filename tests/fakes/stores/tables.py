"""What the in-memory stores share: the tables of the database, as far as the ports can see them.

In and out: mutable rows in dicts. Time is the machine's, as in the database.
"""

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from domain.documents import DocumentCard, DocumentStatus
from domain.ids import BaseId, BatchId, ChatId, ChunkId, DocumentId, LeaseId, MessageId, SessionId, ThreadId, UserId
from domain.people import UserState
from ingestion.records import Block, Document, Failure, IndexedChunk, Source
from rag.records import Exchange

IN_STAGES = frozenset({DocumentStatus.FETCHING, DocumentStatus.PARSING, DocumentStatus.EMBEDDING})
UNLISTED = frozenset({DocumentStatus.DUPLICATE, DocumentStatus.CANCELLED, DocumentStatus.SUPERSEDED})


def now() -> datetime:
    """This moment."""
    return datetime.now(UTC)


def after(seconds: float) -> datetime:
    """The moment in so many seconds."""
    return now() + timedelta(seconds=seconds)


def fresh_id() -> str:
    """A UUID as text."""
    return str(uuid.uuid4())


@dataclass(kw_only=True)
class BatchRow:
    """A row of `batches`."""

    id: BatchId
    base_id: BaseId
    chat_id: ChatId | None
    thread_id: ThreadId | None
    message_id: MessageId | None
    language: str
    media_group: str | None = None
    notice_message_id: MessageId | None = None
    revision: int = 1
    shown_revision: int = 0
    notice_due_at: datetime = field(default_factory=now)


@dataclass(kw_only=True)
class DocumentRow:
    """A row of `documents`, with its blocks and chunks."""

    id: DocumentId
    batch: BatchRow
    position: int
    user_id: UserId
    message_id: MessageId | None
    source: Source
    title: str
    run_after: datetime
    created_at: datetime = field(default_factory=now)
    status: DocumentStatus = DocumentStatus.QUEUED
    done: int = 0
    total: int = 0
    attempts: int = 0
    waits_for_service: bool = False
    lease: LeaseId | None = None
    lease_until: datetime | None = None
    content_hash: str | None = None
    failure: Failure | None = None
    parsed: Document | None = None
    blocks: list[Block] = field(default_factory=list)
    chunks: dict[int, tuple[ChunkId, IndexedChunk]] = field(default_factory=dict)
    started_at: datetime | None = None
    finished_at: datetime | None = None

    @property
    def is_ready(self) -> bool:
        """Whether readers may see it."""
        return self.status is DocumentStatus.READY

    @property
    def is_listed(self) -> bool:
        """Whether the library shows it."""
        return self.status not in UNLISTED

    def finish(self, status: DocumentStatus, failure: Failure | None) -> None:
        """End the work on a document that will not be ready."""
        self.status, self.failure, self.finished_at = status, failure, now()
        self.lease = self.lease_until = None
        self.blocks, self.chunks = [], {}
        self.batch.revision += 1

    def card(self) -> DocumentCard:
        """As `document_cards` shows it."""
        seconds = None
        if self.is_ready and self.started_at and self.finished_at:
            seconds = (self.finished_at - self.started_at).total_seconds()
        return DocumentCard(
            id=self.id,
            base_id=self.batch.base_id,
            batch_id=self.batch.id,
            source_type=self.source.type,
            source_identifier=self.source.identifier,
            title=self.title,
            status=self.status,
            progress_done=self.done,
            progress_total=self.total,
            attempts=self.attempts,
            waits_for_service=self.waits_for_service,
            error_code=self.failure.code if self.failure else None,
            error_params=dict(self.failure.params) if self.failure else {},
            language=self.parsed.language if self.parsed else None,
            pages=self.parsed.pages if self.parsed else None,
            pages_without_text=self.parsed.pages_without_text if self.parsed else (),
            chunks=len(self.chunks) if self.is_ready else 0,
            seconds=seconds,
            created_at=self.created_at,
            chat_id=self.batch.chat_id,
            message_id=self.message_id,
            file_id=self.source.file_id,
        )


@dataclass(kw_only=True)
class Tables:
    """All of them; the stores of one test share one."""

    bases: dict[object, BaseId] = field(default_factory=dict)  # by (chat, thread) or by name
    members: set[tuple[BaseId, UserId]] = field(default_factory=set)
    states: dict[UserId, UserState] = field(default_factory=dict)
    batches: dict[BatchId, BatchRow] = field(default_factory=dict)
    documents: dict[DocumentId, DocumentRow] = field(default_factory=dict)
    dialogues: dict[tuple[UserId, SessionId], list[Exchange]] = field(default_factory=dict)
    archived: dict[tuple[UserId, SessionId], list[Exchange]] = field(default_factory=dict)
    feedback: dict[tuple[UserId, ChatId, MessageId], int] = field(default_factory=dict)
    turns: list[str] = field(default_factory=list)
    chunks_made: int = 0

    def documents_of(self, base: BaseId) -> list[DocumentRow]:
        """Of one base, in whatever state."""
        return [row for row in self.documents.values() if row.batch.base_id == base]

    def document_of(self, base: BaseId, document: DocumentId) -> DocumentRow | None:
        """A document, reached through its base only."""
        row = self.documents.get(document)
        return row if row is not None and row.batch.base_id == base else None

    def ready_twin(self, base: BaseId, content_hash: str | None) -> DocumentRow | None:
        """The ready document with the same content."""
        if content_hash is None:
            return None
        twins = (row for row in self.documents_of(base) if row.is_ready and row.content_hash == content_hash)
        return next(twins, None)
