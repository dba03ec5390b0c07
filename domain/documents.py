"""What the base holds, as the library, the receipts and tables under answers show it.

In: rows of `documents` and `batches`. Out: frozen records, also of what comes over HTTP to be added. It holds no text
of documents and no rules of ingestion.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import PurePath
from types import MappingProxyType

from domain.bases import ListedBase
from domain.ids import BaseId, BatchId, ChatId, DocumentId, FileId, MessageId, ThreadId, UserId
from domain.locator import JsonValue
from domain.visible import readable_address

OPENING_CHARS = 200


class SourceType(StrEnum):
    """Where a document came from; the sign and the wording of a citation depend on it."""

    NOTE = "note"  # text typed or pasted in База
    FILE = "file"  # a file sent to the bot
    LINK = "link"  # a web page, a file behind an address, or a video of a host we know
    SITE = "site"  # a page with the pages below it («Добавить весь раздел»)
    PATH = "path"  # a file of this machine, added by `baza add`; never made from a message


class Medium(StrEnum):
    """What a document is made of, by its content; its sign in lists and citations depends on it."""

    TEXT = "text"
    IMAGE = "image"  # a photo or a scan: its words were recognised
    AUDIO = "audio"
    VIDEO = "video"


class Lane(StrEnum):
    """Which queue a document waits in (SQL: `lane_of`), so that a note does not stand behind an hour of video."""

    SHORT = "short"  # notes that no parser touches
    SMALL = "small"  # small files of text
    QUICK = "quick"
    LONG = "long"  # recordings, video hosts and whole sites


ANY_LANE: Mapping[Lane, int] = MappingProxyType(dict.fromkeys(Lane, 1_000))
"""Every lane, with more places than any worker has."""


class Choice(StrEnum):
    """What happens to a document whose name the base has with other content (UX: «Заменить / Оставить оба …»)."""

    REPLACE = "replace"
    KEEP_BOTH = "keep_both"
    SKIP = "skip"


def known_as(source_type: SourceType, title: str, identifier: str) -> str:
    """The name that the person knows a source by, never empty while it has any. A file keeps its file name (parsers
    find titles such as "Microsoft Word - Document1"), a page has its title, and one without is called by its
    address."""
    if source_type in (SourceType.LINK, SourceType.SITE) and title in ("", identifier):
        return readable_address(identifier)
    if title == identifier:  # the person renamed it: what looks like a path in it is none
        return title
    name = PurePath(identifier).name
    if source_type in (SourceType.FILE, SourceType.PATH) and "." in name:
        return name
    return title or identifier


def opening_line(text: str) -> str:
    """How a document begins, in one line of whole words: party, number and day tell documents of one form apart."""
    line = " ".join(text[: 2 * OPENING_CHARS].split())
    return line if len(line) <= OPENING_CHARS else line[: OPENING_CHARS + 1].rpartition(" ")[0]


def title_beside(name: str, title: str) -> str:
    """The title, to be shown beside the name of `known_as`; empty if it says no more than that."""
    said = title.casefold()
    return "" if said in (name.casefold(), PurePath(name).stem.casefold()) else title


class DocumentStatus(StrEnum):
    """The life of a document. Readers find all of it in READY, what is stored in EMBEDDING."""

    QUEUED = "queued"
    CHOOSING = "choosing"  # the base has this name with other content: the person decides what becomes of both
    FETCHING = "fetching"
    PARSING = "parsing"
    RECOGNISING = "recognising"  # words in pictures of pages
    LISTENING = "listening"  # speech
    EMBEDDING = "embedding"
    READY = "ready"
    FAILED = "failed"
    DUPLICATE = "duplicate"  # the base holds the same content already; error_params says where
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"  # a newer version took its place

    @property
    def is_final(self) -> bool:
        """True when neither a worker nor an answer of the person can move it on."""
        return self in (self.READY, self.FAILED, self.DUPLICATE, self.CANCELLED, self.SUPERSEDED)


@dataclass(frozen=True, kw_only=True)
class UnreadPart:
    """A file of an archive, a page of a site, an attachment that could not be read."""

    name: str
    code: str | None = None  # why, see ingestion.errors; None: not known


@dataclass(frozen=True, kw_only=True)
class Failing:
    """Why something was not read."""

    code: str  # a key of the locales, see ingestion.errors
    params: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DocumentCard:
    """One document of a base, without its text."""

    id: DocumentId
    base_id: BaseId
    batch_id: BatchId | None
    source_type: SourceType
    source_identifier: str  # file name, URL, path or the note's title
    title: str
    status: DocumentStatus
    progress_done: int  # units of the stage: pages (parsing, recognising), seconds (listening), passages (embedding)
    progress_total: int  # 0 while unknown
    waits_for_service: bool  # queued again because a service was away; the person was promised a message
    error_code: str | None  # a key of the locales, see ingestion.errors
    error_params: Mapping[str, JsonValue] = field(default_factory=dict)
    language: str | None  # ISO 639-1
    pages: int | None
    pages_without_text: tuple[int, ...] = ()
    chunks: int  # passages; 0 until ready
    seconds: float | None  # from the first claim to ready
    created_at: datetime
    expires_at: datetime | None = None  # it was sent to be read now, and is removed then; None: it stays
    chat_id: ChatId | None = None
    message_id: MessageId | None = None  # the person's own message that brought it
    medium: Medium = Medium.TEXT
    duration_s: float | None = None  # of a recording
    parts: int | None = None  # files of an archive, pages of a site
    unread: tuple[UnreadPart, ...] = ()
    searchable: int = 0  # passages that can be found: the ones stored so far while it is read, then all
    ahead: int = 0  # documents of its lane that are processed before it, while it is queued
    version: int = 1  # 2 and more: it replaced an earlier one
    author: str | None = None
    sent_by: UserId | None = None
    sender: str | None = None  # their name, in a group
    published_at: datetime | None = None
    url: str | None = None  # where the original can be seen
    kept_file: FileId | None = None  # the original, where Baza keeps it itself
    size_bytes: int | None = None  # of the original
    next_failure: Failing | None = None  # of a later attempt to replace it: its source was read anew in vain

    @property
    def name(self) -> str:
        """What the person calls it."""
        return known_as(self.source_type, self.title, self.source_identifier)


@dataclass(frozen=True, kw_only=True)
class Notice:
    """A batch whose live message is older than the state of its documents."""

    batch_id: BatchId
    chat_id: ChatId
    thread_id: ThreadId | None
    reply_to: MessageId | None
    message_id: MessageId | None  # the live message; None when it has not been sent yet
    language: str
    revision: int  # to be confirmed once shown
    removed: int = 0  # documents of the batch that were removed from the base
    elsewhere: ListedBase | None = None  # their base, where it is not the one that is open there
    documents: tuple[DocumentCard, ...]


@dataclass(frozen=True, kw_only=True)
class Removed:
    """What a base holds, or a clean-up took away."""

    documents: int = 0  # that are ready
    chunks: int = 0
    messages: int = 0
    choosing: int = 0  # documents that wait for the person's choice
    waiting: int = 0  # documents that are being read, or will be
    failed: int = 0  # documents that could not be read

    @property
    def others(self) -> int:
        """Documents that are listed and not ready."""
        return self.choosing + self.waiting + self.failed


class Refusal(StrEnum):
    """Why nothing was added."""

    OTHER_CONTENT = "other_content"  # the Idempotency-Key came with other content before
    MISSING = "missing"  # the base has no document that could be replaced
    BEING_READ = "being_read"  # a version of it is, and which is the newer one would be chance


@dataclass(frozen=True, kw_only=True)
class Once:
    """A request that may be repeated: within a day the same key gives the same answer."""

    key: str  # Idempotency-Key
    digest: str  # SHA-256 (hex) of all that was sent with it


Added = DocumentCard | Refusal


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """An address that is told when a document ends."""

    id: str
    url: str
    created_at: datetime
    problem: str | None  # why the last try failed; None: it did not


@dataclass(frozen=True, kw_only=True)
class SourcedTable:
    """Every row has as many cells as there are columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
