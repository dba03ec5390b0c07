"""Rows of SQL functions -> records.

In: rows as a transport gives them (UUIDs and moments are text). Out: records of `domain`, `ingestion` and `rag`. A row
that lacks a column or holds another type is a mistake of ours: KeyError or TypeError.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import islice

from adapters.database.transport import Row
from domain.bases import ListedBase, Role
from domain.documents import (
    DocumentCard,
    DocumentStatus,
    Failing,
    Lane,
    Medium,
    Notice,
    Removed,
    SourceType,
    UnreadPart,
)
from domain.ids import (
    BaseId,
    BatchId,
    ChatId,
    ChunkId,
    DocumentId,
    FileId,
    LeaseId,
    MessageId,
    SessionId,
    ThreadId,
    UserId,
)
from domain.locator import JsonValue, Locator
from domain.people import Mode, UserState
from domain.visible import visible
from ingestion.parsers.codec import BLOCKS
from ingestion.records import Block, BlockKind, ClaimedDocument, Document, Edition, PublishedDocument, Source
from ingestion.spool import Spool
from rag.records import Candidate, DocumentMatch, Exchange, Passage, PastSession, SaidMessage

_NOWHERE = Locator()


def text(row: Row, name: str) -> str:
    """A text column that is never null."""
    value = row[name]
    if not isinstance(value, str):
        raise TypeError(f"{name} is no text")
    return value


def text_or_none(row: Row, name: str) -> str | None:
    """A text column."""
    return None if row[name] is None else text(row, name)


def integer(row: Row, name: str) -> int:
    """A whole number that is never null."""
    value = row[name]
    if not isinstance(value, int):
        raise TypeError(f"{name} is no whole number")
    return value


def integer_or_none(row: Row, name: str) -> int | None:
    """A whole number."""
    return None if row[name] is None else integer(row, name)


def number_or_none(row: Row, name: str) -> float | None:
    """A number."""
    value = row[name]
    if value is None:
        return None
    if not isinstance(value, (int, float)):
        raise TypeError(f"{name} is no number")
    return float(value)


def moment_or_none(row: Row, name: str) -> datetime | None:
    """A timestamp with its time zone."""
    return None if row[name] is None else datetime.fromisoformat(text(row, name))


def parts(row: Row, name: str) -> Mapping[str, JsonValue]:
    """A JSON object."""
    value = row[name]
    if not isinstance(value, dict):
        raise TypeError(f"{name} is no object")
    return value


def items(row: Row, name: str) -> list[JsonValue]:
    """An array."""
    value = row[name]
    if not isinstance(value, list):
        raise TypeError(f"{name} is no array")
    return value


def user_state(row: Row) -> UserState:
    """A row of `user_states`."""
    mode, role = text_or_none(row, "current_mode"), text_or_none(row, "role")
    group = integer_or_none(row, "base_chat") if row["base_kind"] == "group" else None
    return UserState(
        user_id=UserId(integer(row, "user_id")),
        thread=ThreadId(integer(row, "thread_id")) if row["thread_id"] else None,
        mode=Mode(mode) if mode else None,
        session_id=SessionId(text(row, "session_id")),
        base_id=BaseId(text(row, "base_id")),
        language=text(row, "language"),
        only=DocumentId(only) if (only := text_or_none(row, "only_document")) else None,
        role=Role(role) if role else None,
        base_name=text_or_none(row, "base_name"),
        base_group=None if group is None else ChatId(group),
        base_owner=text_or_none(row, "owner_name"),
    )


def document_card(row: Row) -> DocumentCard:
    """A row of `document_cards`."""
    return DocumentCard(
        id=DocumentId(text(row, "id")),
        base_id=BaseId(text(row, "base_id")),
        batch_id=BatchId(text(row, "batch_id")),
        source_type=SourceType(text(row, "source_type")),
        source_identifier=text(row, "source_identifier"),
        title=text(row, "title"),
        status=DocumentStatus(text(row, "status")),
        progress_done=integer(row, "progress_done"),
        progress_total=integer(row, "progress_total"),
        waits_for_service=bool(row["waits_for_service"]),
        error_code=text_or_none(row, "error_code"),
        error_params=parts(row, "error_params"),
        language=text_or_none(row, "language"),
        pages=integer_or_none(row, "pages"),
        pages_without_text=tuple(page for page in items(row, "pages_without_text") if isinstance(page, int)),
        chunks=integer(row, "chunks"),
        seconds=number_or_none(row, "seconds"),
        created_at=datetime.fromisoformat(text(row, "created_at")),
        expires_at=moment_or_none(row, "expires_at"),
        chat_id=_chat(row, "chat_id"),
        message_id=_message(row, "message_id"),
        medium=Medium(text(row, "medium")),
        duration_s=number_or_none(row, "duration_s"),
        parts=integer_or_none(row, "parts"),
        unread=tuple(map(UnreadPart.from_json, items(row, "unread"))),
        searchable=integer(row, "searchable"),
        ahead=integer(row, "ahead"),
        version=integer(row, "version"),
        author=text_or_none(row, "author"),
        sent_by=UserId(integer(row, "user_id")),
        sender=text_or_none(row, "sender"),
        published_at=moment_or_none(row, "published_at"),
        url=text_or_none(row, "url"),
        kept_file=_file(row),
        size_bytes=integer_or_none(row, "size_bytes"),
        next_failure=_failing(row),
    )


def _file(row: Row) -> FileId | None:
    name = text_or_none(row, "kept_file")
    return FileId(name) if name else None


def _failing(row: Row) -> Failing | None:
    if row["next_failure"] is None:
        return None
    failure = parts(row, "next_failure")
    return Failing(code=text(failure, "code"), params=parts(failure, "params"))


def notice(row: Row) -> Notice:
    """A row of `due_notices`. If its documents cannot be read, `problem` says why: the other notices still go out."""
    thread, (documents, problem) = integer_or_none(row, "thread_id"), _cards_of(row)
    return Notice(
        batch_id=BatchId(text(row, "batch_id")),
        chat_id=ChatId(integer(row, "chat_id")),
        thread_id=None if thread is None else ThreadId(thread),
        reply_to=_message(row, "reply_to"),
        message_id=_message(row, "message_id"),
        language=text(row, "language"),
        revision=integer(row, "revision"),
        removed=integer(row, "removed"),
        elsewhere=_elsewhere(row),
        documents=documents,
        problem=problem,
    )


def _elsewhere(row: Row) -> ListedBase | None:
    if row["elsewhere"] is None:
        return None
    base = parts(row, "elsewhere")
    name, owner = text_or_none(base, "name"), text_or_none(base, "owner")
    return ListedBase(id=BaseId(text(base, "id")), name=name, role=None, owner_name=owner)


def _cards_of(row: Row) -> tuple[tuple[DocumentCard, ...], str | None]:
    try:
        return tuple(document_card(card) for card in items(row, "documents") if isinstance(card, dict)), None
    except (KeyError, TypeError, ValueError) as error:
        return (), f"{type(error).__name__}: {error}"


def claimed_document(row: Row) -> ClaimedDocument:
    """A row of `claim_documents`."""
    return ClaimedDocument(
        id=DocumentId(text(row, "id")),
        base_id=BaseId(text(row, "base_id")),
        lease=LeaseId(text(row, "lease")),
        attempt=integer(row, "attempts"),
        source=Source(
            type=SourceType(text(row, "source_type")),
            identifier=text(row, "source_identifier"),
            title=text_or_none(row, "source_title"),
            text=text_or_none(row, "source_text"),
            file_id=text_or_none(row, "file_id"),
            kept_file=_file(row),
            size_bytes=integer_or_none(row, "size_bytes"),
            media_type=text_or_none(row, "media_type"),
            author=text_or_none(row, "author"),
            published_at=moment_or_none(row, "published_at"),
            url=text_or_none(row, "source_url"),
            lane=Lane(text(row, "lane")),
            edition=_edition(row),
        ),
        is_known=bool(row["is_known"]),
        full_at=integer_or_none(row, "full_at"),
    )


def _edition(row: Row) -> Edition | None:
    """Only of a version that the base holds (it has a hash): what this attempt alone has seen does not spare
    reading."""
    kept = row.get("edition")
    if not isinstance(kept, dict) or not kept.get("content_hash"):
        return None
    return Edition(
        url=text(kept, "url"),
        etag=text_or_none(kept, "etag"),
        modified=text_or_none(kept, "modified"),
        content_hash=text(kept, "content_hash"),
    )


def source(row: Row) -> Source:
    """A row of `refresh_document`."""
    return Source(
        type=SourceType(text(row, "type")),
        identifier=text(row, "identifier"),
        title=text_or_none(row, "title"),
        file_id=text_or_none(row, "file_id"),
        kept_file=_file(row),
        size_bytes=integer_or_none(row, "size_bytes"),
        media_type=text_or_none(row, "media_type"),
        url=text_or_none(row, "url"),
        lane=Lane(text(row, "lane")),
    )


def published_document(row: Row) -> PublishedDocument:
    """A row of `publish_document` or `record_content`."""
    twin, namesake = text_or_none(row, "duplicate_of"), text_or_none(row, "namesake")
    return PublishedDocument(
        duplicate_of=DocumentId(twin) if twin else None,
        namesake=DocumentId(namesake) if namesake else None,
    )


def known_reading(row: Row, blocks: Sequence[Block]) -> Document:
    """A row of `known_reading` with the blocks of that document, without its caption, which is not the file's."""
    caption = text_or_none(row, "source_text")
    is_captioned = caption is not None and blocks[:1] and blocks[0].text == caption
    return Document(
        title=text(row, "title"),
        blocks=_without_first(blocks) if is_captioned else blocks,
        pages=integer_or_none(row, "pages"),
        pages_without_text=tuple(page for page in items(row, "pages_without_text") if isinstance(page, int)),
        language=text_or_none(row, "language"),
        author=text_or_none(row, "author"),
        published_at=moment_or_none(row, "published_at"),
        medium=Medium(text(row, "medium")),
        duration_s=number_or_none(row, "duration_s"),
        parts=integer_or_none(row, "parts"),
        unread=tuple(map(UnreadPart.from_json, items(row, "unread"))),
    )


def _without_first(blocks: Sequence[Block]) -> Sequence[Block]:
    spool = Spool(None, BLOCKS)
    for each in islice(blocks, 1, None):
        spool.append(each, size=len(each.text))
    return spool.finish()


def block(row: Row) -> Block:
    """A row of `read_blocks`."""
    return Block(
        kind=BlockKind(text(row, "kind")),
        text=text(row, "text"),
        locator=Locator.from_json(parts(row, "locator")),
        level=integer_or_none(row, "level"),
    )


def passage(row: Row) -> Passage:
    """A row of `passages`."""
    return Passage(
        chunk_id=ChunkId(integer(row, "chunk_id")),
        document_id=DocumentId(text(row, "document_id")),
        ordinal=integer(row, "ordinal"),
        title=visible(text(row, "title")),
        source_type=SourceType(text(row, "source_type")),
        source_identifier=text(row, "source_identifier"),
        text=visible(text(row, "text")),
        locator=_locator(row),
        published_at=moment_or_none(row, "published_at"),
        url=text_or_none(row, "url"),
        author=text_or_none(row, "author"),
        sender=text_or_none(row, "sender"),
        document_status=DocumentStatus(text(row, "document_status")),
        searchable=integer(row, "searchable"),
        progress_total=integer(row, "progress_total"),
        opening=text_or_none(row, "opening") or "",
    )


def document_match(row: Row) -> DocumentMatch:
    """A row of `find_documents`."""
    return DocumentMatch(
        id=DocumentId(text(row, "id")),
        title=text(row, "title"),
        file_name=text(row, "known_as"),
        source_type=SourceType(text(row, "source_type")),
        published_at=moment_or_none(row, "published_at"),
        pages=integer_or_none(row, "pages"),
        passages=integer(row, "passages"),
        score=number_or_none(row, "score") or 0.0,
        opening=text_or_none(row, "opening") or "",
    )


def _locator(row: Row) -> Locator:
    """An empty locator is shared: making one takes a quarter of a passage's time, and a note has none."""
    place = parts(row, "locator")
    return Locator.from_json(place) if place else _NOWHERE


def candidates(found: Sequence[Row]) -> list[Candidate]:
    """Rows of `search`. `rarities` are the same in all rows that have them, and are read once."""
    told = next((row for row in found if row["rarities"] is not None), None)
    rarities = () if told is None else tuple(_numbers(told, "rarities"))
    return [
        Candidate(
            passage=passage(row),
            similarity=number_or_none(row, "similarity"),
            bm25=number_or_none(row, "bm25"),
            rarities=() if row["rarities"] is None else rarities,
            inherited=() if row["inherited"] is None else tuple(_numbers(row, "inherited")),
        )
        for row in found
    ]


def _numbers(row: Row, name: str) -> list[float]:
    return [float(value) for value in items(row, name) if isinstance(value, (int, float))]


def exchange(row: Row) -> Exchange:
    """A row of `recollect` or `unsummarised_pairs`."""
    return Exchange(question=text(row, "question"), answer=text(row, "answer"))


def past_session(row: Row) -> PastSession:
    """A row of `list_sessions`."""
    return PastSession(
        id=SessionId(text(row, "session_id")),
        title=text_or_none(row, "title") or "",
        exchanges=integer(row, "exchanges"),
    )


def said_message(row: Row) -> SaidMessage:
    """A row of `list_messages`."""
    return SaidMessage(
        id=integer(row, "id"),
        role=text(row, "role"),
        content=text(row, "content"),
        sources=tuple(items(row, "sources")),
        context_used=tuple(items(row, "context_used")),
        created_at=datetime.fromisoformat(text(row, "created_at")),
    )


def removed(row: Row) -> Removed:
    """A row of `count_base` or `clean_base`."""
    return Removed(**{name: integer(row, name) for name in ("documents", "chunks", "waiting", "failed")})


def _chat(row: Row, name: str) -> ChatId | None:
    value = integer_or_none(row, name)
    return None if value is None else ChatId(value)


def _message(row: Row, name: str) -> MessageId | None:
    value = integer_or_none(row, name)
    return None if value is None else MessageId(value)
