"""What the in-memory stores share: the tables of the database, as far as the ports can see them.

In and out: mutable rows in dicts. Time is the machine's, as in the database.
"""

import re
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import PurePath

from adapters.database.payloads import name_key
from domain.documents import DocumentCard, DocumentStatus, Failing, Medium, SourceType
from domain.ids import BaseId, BatchId, ChatId, ChunkId, DocumentId, LeaseId, MessageId, SessionId, ThreadId, UserId
from domain.locator import JsonValue
from domain.people import UserState
from domain.tables import SourcedTable
from ingestion.records import Block, Document, Edition, Failure, IndexedChunk, NameLine, Source
from rag.metering import TurnMetrics
from rag.records import Exchange, KeptReading

IN_STAGES = frozenset(
    {
        DocumentStatus.FETCHING,
        DocumentStatus.PARSING,
        DocumentStatus.RECOGNISING,
        DocumentStatus.LISTENING,
        DocumentStatus.EMBEDDING,
    }
)
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
    removed: int = 0
    notice_due_at: datetime = field(default_factory=now)


@dataclass(kw_only=True)
class DocumentRow:
    """A row of `documents`, with its blocks and chunks."""

    id: DocumentId
    batch: BatchRow
    position: int
    user_id: UserId
    sender: str | None = None
    name_key: str | None = None
    given_title: str | None = None
    given_terms: Mapping[str, int] | None = None
    names: tuple[NameLine, ...] = ()  # as the postings know them
    lineage: str = field(default_factory=fresh_id)
    version: int = 1
    chosen: bool = False
    visible: bool = False
    joined: list[MessageId] = field(default_factory=list)
    question: dict[str, JsonValue] = field(default_factory=dict)  # of a CHOOSING one: the namesake
    size_bytes: int | None = None
    media_type: str | None = None
    message_id: MessageId | None
    source: Source
    title: str
    run_after: datetime
    expires_at: datetime | None = None
    created_at: datetime = field(default_factory=now)
    status: DocumentStatus = DocumentStatus.QUEUED
    done: int = 0
    total: int = 0
    attempts: int = 0
    waits_for_service: bool = False
    lease: LeaseId | None = None
    lease_until: datetime | None = None
    content_hash: str | None = None
    edition: Edition | None = None
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
    def identifier(self) -> str:
        """A file that was renamed goes by its new name."""
        is_file = self.source.type in (SourceType.FILE, SourceType.PATH)
        return (self.given_title if is_file else None) or self.source.identifier

    def retitle(self, *names: NameLine) -> None:
        """The postings of the chunks, with these names in place of the ones before."""
        before, self.names = self.names, names
        for ordinal, (number, indexed) in self.chunks.items():
            titled = Counter(indexed.titled)
            for name in before:
                titled.subtract(_said_above(indexed, name))
            for name in names:
                titled.update(_said_above(indexed, name))
            self.chunks[ordinal] = (number, replace(indexed, titled=+titled))

    def finish(self, status: DocumentStatus, failure: Failure | None) -> None:
        """End the work on a document that will not be ready."""
        self.status, self.failure, self.finished_at = status, failure, now()
        self.lease = self.lease_until = None
        self.blocks, self.chunks, self.visible = [], {}, False
        self.batch.revision += 1

    def card(self, ahead: int = 0, next_failure: Failing | None = None) -> DocumentCard:
        """As `document_cards` shows it."""
        seconds = None
        if self.is_ready and self.started_at and self.finished_at:
            seconds = (self.finished_at - self.started_at).total_seconds()
        return DocumentCard(
            id=self.id,
            base_id=self.batch.base_id,
            batch_id=self.batch.id,
            source_type=self.source.type,
            source_identifier=self.identifier,
            title=self.title,
            status=self.status,
            progress_done=self.done,
            progress_total=self.total,
            waits_for_service=self.waits_for_service,
            error_code=self.failure.code if self.failure else None,
            error_params=dict(self.failure.params) if self.failure else self.question,
            language=self.parsed.language if self.parsed else None,
            pages=self.parsed.pages if self.parsed else None,
            pages_without_text=self.parsed.pages_without_text if self.parsed else (),
            chunks=len(self.chunks) if self.is_ready else 0,
            seconds=seconds,
            created_at=self.created_at,
            expires_at=self.expires_at,
            chat_id=self.batch.chat_id,
            message_id=self.message_id,
            medium=self.parsed.medium if self.parsed else Medium.TEXT,
            duration_s=self.parsed.duration_s if self.parsed else None,
            parts=self.parsed.parts if self.parsed else None,
            unread=self.parsed.unread if self.parsed else (),
            searchable=len(self.chunks) if self.visible else 0,
            ahead=ahead,
            version=self.version,
            author=(self.parsed.author if self.parsed else None) or self.source.author,
            sent_by=self.user_id,
            sender=self.sender,
            published_at=(self.parsed.published_at if self.parsed else None) or self.source.published_at,
            url=self.source.url,
            next_failure=next_failure,
        )


@dataclass(kw_only=True)
class Tables:
    """All of them; the stores of one test share one."""

    bases: dict[object, BaseId] = field(default_factory=dict)  # by (chat, thread) or by name
    served: dict[BaseId, datetime] = field(default_factory=dict)
    members: set[tuple[BaseId, UserId]] = field(default_factory=set)
    states: dict[UserId, UserState] = field(default_factory=dict)
    batches: dict[BatchId, BatchRow] = field(default_factory=dict)
    documents: dict[DocumentId, DocumentRow] = field(default_factory=dict)
    dialogues: dict[tuple[UserId, SessionId], list[Exchange]] = field(default_factory=dict)
    archived: dict[tuple[UserId, SessionId], list[Exchange]] = field(default_factory=dict)
    summaries: dict[tuple[UserId, SessionId], tuple[str, int]] = field(default_factory=dict)
    feedback: dict[tuple[UserId, ChatId, MessageId], int] = field(default_factory=dict)
    turns: list[TurnMetrics] = field(default_factory=list)
    askers: list[tuple[UserId, datetime]] = field(default_factory=list)  # of the turns, and when
    answer_tables: dict[int, tuple[BaseId, SourcedTable]] = field(default_factory=dict)
    kept_readings: dict[tuple[BaseId, str, str], KeptReading] = field(default_factory=dict)
    chunks_made: int = 0

    def documents_of(self, base: BaseId) -> list[DocumentRow]:
        """Of one base, in whatever state."""
        return [row for row in self.documents.values() if row.batch.base_id == base]

    def document_of(self, base: BaseId, document: DocumentId) -> DocumentRow | None:
        """A document, reached through its base only."""
        row = self.documents.get(document)
        return row if row is not None and row.batch.base_id == base else None

    def card_of(self, row: DocumentRow) -> DocumentCard:
        """With its place in the queue."""
        return row.card(self._ahead(row) if row.status is DocumentStatus.QUEUED else 0, self._next_failure(row))

    def failed_after(self, row: DocumentRow) -> list[DocumentRow]:
        """What was to take the place of a ready document and failed, the latest last."""
        alike = (other for other in self.documents_of(_base(row)) if other.lineage == row.lineage)
        failed = [other for other in alike if other.status is DocumentStatus.FAILED]
        return sorted(failed, key=lambda other: other.finished_at or other.created_at) if row.is_ready else []

    def is_listed(self, row: DocumentRow) -> bool:
        """Whether the library shows it; a failed one not beside the ready one whose place it was to take."""
        if row.status is DocumentStatus.FAILED:
            return not any(other.lineage == row.lineage for other in self.ready_of(row))
        return row.status not in UNLISTED

    def _next_failure(self, row: DocumentRow) -> Failing | None:
        for other in reversed(self.failed_after(row)):
            if other.failure and row.finished_at and (other.finished_at or row.finished_at) > row.finished_at:
                return Failing(code=other.failure.code, params=dict(other.failure.params))
        return None

    def _ahead(self, row: DocumentRow) -> int:
        rivals: dict[BaseId, int] = {}
        for other in self.documents.values():
            waits = other.status is DocumentStatus.QUEUED and other.source.lane is row.source.lane
            if (
                waits
                and other is not row
                and _turn(other) < (_turn(row) if _base(other) == _base(row) else _now_turn())
            ):
                rivals[_base(other)] = rivals.get(_base(other), 0) + 1
        own = rivals.pop(_base(row), 0)
        return own + sum(min(waiting, own + 1) for waiting in rivals.values())

    def ready_of(self, row: DocumentRow) -> Iterator[DocumentRow]:
        """All others of its base that are ready."""
        return (other for other in self.documents_of(_base(row)) if other.is_ready and other is not row)

    def ready_twin(self, row: DocumentRow) -> DocumentRow | None:
        """The ready document with the same content."""
        twins = (other for other in self.ready_of(row) if other.content_hash == row.content_hash)
        return next(twins, None) if row.content_hash else None

    def ready_namesake(self, row: DocumentRow) -> DocumentRow | None:
        """The latest ready file with the same name, while nobody has said what becomes of the two."""
        if row.chosen or row.name_key is None:
            return None
        alike = [other for other in self.ready_of(row) if other.source.type is row.source.type]
        alike = [other for other in alike if other.name_key == row.name_key and _stand_against(other, row)]
        return max(alike, key=lambda other: (other.expires_at is None, other.created_at), default=None)

    def ready_before(self, row: DocumentRow) -> DocumentRow | None:
        """The ready version that this one is to take the place of."""
        return next((other for other in self.ready_of(row) if other.lineage == row.lineage), None)

    def may_be_found(self, row: DocumentRow) -> bool:
        """Whether nothing stands against showing what is read of it so far."""
        return not (self.ready_twin(row) or self.ready_namesake(row) or self.ready_before(row))

    def stay_until(self, row: DocumentRow, until: datetime | None) -> None:
        """For good when there is no such moment: then a file beside another of its name gets a number."""
        row.expires_at = until
        row.batch.revision += 1
        alike = [other for other in self.ready_of(row) if other.source.type is row.source.type is SourceType.FILE]
        alike = [other for other in alike if other.expires_at is None and other.name_key == row.name_key]
        if until is None and row.is_ready and alike:
            row.given_title = row.title = self.free_name(row)
            row.given_terms, row.name_key = None, name_key(row.title)
            if row.names:
                row.retitle(*row.names[:-1], _numbered(row.names[-1], row.title))

    def free_name(self, row: DocumentRow) -> str:
        """«План (2).md», with the first number that is free."""
        taken = {other.name_key for other in self.documents_of(_base(row)) if self.is_listed(other)}
        name = PurePath(row.identifier)
        names = (f"{name.stem} ({number}){name.suffix}" for number in range(2, 1000))
        return next(name for name in names if name_key(name) not in taken)

    def remove(self, row: DocumentRow) -> None:
        """With its batch, when it was the last, and with the tables that may speak of it."""
        del self.documents[row.id]
        tables, base = self.answer_tables, row.batch.base_id
        self.answer_tables = {number: table for number, table in tables.items() if table[0] != base}
        kept = self.kept_readings.items()
        self.kept_readings = {name: reading for name, reading in kept if row.id not in reading.documents}
        self._tell_removed(row)

    def _tell_removed(self, row: DocumentRow) -> None:
        """The batch stays until its live message has told of an end, without its message when it has no documents."""
        batch, were_over = row.batch, row.status.is_final
        is_left = any(other.batch is batch for other in self.documents.values())
        is_shown = batch.shown_revision >= batch.revision
        if not is_left and (batch.chat_id is None or (were_over and is_shown)):
            self.batches.pop(batch.id, None)
        batch.removed += 1
        batch.revision += not (were_over and is_shown)
        if not is_left:
            batch.message_id = batch.media_group = None


def _numbered(name: NameLine, title: str) -> NameLine:
    """The name of a file that is called «План (2).docx» now."""
    number = re.findall(r"\((\d+)\)", title)[-1]
    return NameLine(text=f"{name.text} ({number})", terms=Counter(name.terms) + Counter([number]))


def _said_above(indexed: IndexedChunk, name: NameLine) -> Mapping[str, int]:
    """What a name adds to the postings of a chunk: nothing where the chunk or its headings say it."""
    is_said = name.text in indexed.chunk.text or name.text in indexed.chunk.locator.headings
    return {} if is_said else name.terms


def key_of(source: Source) -> str | None:
    """By which a later file of this name is known."""
    if source.type is SourceType.FILE and source.title is None:
        return name_key(source.identifier)
    return source.identifier if source.type in (SourceType.PATH, SourceType.LINK, SourceType.SITE) else None


def _stand_against(other: DocumentRow, row: DocumentRow) -> bool:
    """What leaves again is in nobody's way, but for a page that is read anew."""
    if other.expires_at is not None:
        return row.source.type is not SourceType.FILE
    return row.expires_at is None


def _base(row: DocumentRow) -> BaseId:
    return row.batch.base_id


def _turn(row: DocumentRow) -> tuple[datetime, datetime, int]:
    return row.run_after, row.created_at, row.position


def _now_turn() -> tuple[datetime, datetime, int]:
    return now(), now(), 0
