"""The records that go from stage to stage of ingestion.

In: nothing. Out: frozen, keyword-only values with real names. They hold data and no behaviour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from domain.documents import Lane, Medium, SourceType, UnreadPart
from domain.ids import BaseId, ChatId, DocumentId, LeaseId, MessageId, ThreadId, UserId
from domain.locator import JsonValue, Locator

Vector = list[float]
"""An embedding of at most 1024 numbers, L2-normalised; stores pad it with zeros."""


@dataclass(frozen=True, kw_only=True)
class Edition:
    """What a server calls the state of a page or file: said again, it is answered by "not modified" (RFC 9110, 13)."""

    url: str  # after redirects
    etag: str | None = None
    modified: str | None = None  # the Last-Modified header as it was
    content_hash: str | None = None  # of what the base made of it; None while that is not known


@dataclass(frozen=True, kw_only=True)
class Source:
    """One thing to read, as it was sent: what is needed to fetch it again after a crash."""

    type: SourceType
    identifier: str  # file name, URL, absolute path, or the note's title
    title: str | None = None
    text: str | None = None  # the words of a note, or those written under a file
    file_id: str | None = None  # Telegram's handle of the file
    size_bytes: int | None = None
    media_type: str | None = None  # as the sender claims; the content decides
    author: str | None = None
    published_at: datetime | None = None
    url: str | None = None  # where the original can be seen: a public channel's post
    lane: Lane = Lane.QUICK
    edition: Edition | None = None  # of an address that is read anew: the one that the base holds


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What came in one message: its sources share one live message and one receipt, with all others of its album."""

    base_id: BaseId
    user_id: UserId
    sender: str | None = None  # their name, in a group
    language: str = "ru"  # of the interface
    chat_id: ChatId | None = None  # None: nobody waits for a notice (command line)
    thread_id: ThreadId | None = None
    message_id: MessageId | None = None
    media_group: str | None = None  # Telegram's name of the album that the message is part of
    stays_s: int | None = None  # its documents are removed so many seconds after they came; None: they stay
    sources: tuple[Source, ...]


@dataclass(frozen=True, kw_only=True)
class ClaimedDocument:
    """A document that this worker holds until its lease runs out."""

    id: DocumentId
    base_id: BaseId
    lease: LeaseId
    attempt: int  # 1 the first time
    source: Source
    is_known: bool = False  # what its file says may be in the base already: see `WorkQueue.known_reading`
    full_at: int | None = None  # its base holds so many passages, and may hold no more; None: there is room


@dataclass(frozen=True, kw_only=True)
class About:
    """What the place that a file came from says of it; the file's own words go before it."""

    title: str | None = None
    author: str | None = None
    published_at: datetime | None = None
    site: str | None = None
    medium: Medium | None = None  # of a video's captions: what they are the words of
    duration_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class FetchedFile:
    """Bytes on disk, hashed and within the size limit. The caller deletes the file."""

    path: Path
    name: str  # with its ending when known, for choosing a parser
    media_type: str | None  # declared by the server or sender
    size_bytes: int
    sha256: str  # hex
    url: str | None = None  # where it finally came from, after redirects
    about: About | None = None
    edition: Edition | None = None  # when the server names it
    attached: tuple["FetchedFile", ...] = ()  # files that the pages of a section link to, each with its `url`


class BlockKind(StrEnum):
    """What a block is; the chunker never cuts inside a table row or a code block that fits."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, kw_only=True)
class Block:
    """A piece of a document that belongs together. Tables are Markdown rows, code keeps its line breaks."""

    kind: BlockKind
    text: str
    locator: Locator = field(default_factory=Locator)
    level: int | None = None  # of a heading, 1 the outermost


@dataclass(frozen=True, kw_only=True)
class NameLine:
    """What a document is called, in its own words or by its file's name, for search alone."""

    text: str
    terms: Mapping[str, int]  # lexical term -> how often


@dataclass(frozen=True, kw_only=True)
class Document:
    """A parsed source: its blocks in reading order."""

    title: str
    blocks: Sequence[Block]  # a tuple, but of a long document (`ingestion.spool`)
    pages: int | None = None
    pages_without_text: tuple[int, ...] = ()
    language: str | None = None  # ISO 639-1 of most of the text
    author: str | None = None
    published_at: datetime | None = None
    medium: Medium = Medium.TEXT
    duration_s: float | None = None  # of a recording
    parts: int | None = None  # files of an archive, pages of a site
    unread: tuple[UnreadPart, ...] = ()
    names: tuple[NameLine, ...] = ()  # by which its passages are found too, once they are chosen


@dataclass(frozen=True, kw_only=True)
class Span:
    """Characters [start, end) of the document's text: its blocks joined by BLOCK_SEPARATOR."""

    start: int
    end: int


BLOCK_SEPARATOR = "\n\n"


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A passage: what is searched, quoted and cited."""

    ordinal: int  # from 0, in reading order
    text: str  # the document's own in `span`; before it, when a table goes on, the table's header once more
    span: Span
    locator: Locator

    @property
    def unnamed_headings(self) -> tuple[str, ...]:
        """The headings that the passage stands under and does not name itself, outermost first."""
        return tuple(dict.fromkeys(heading for heading in self.locator.headings if heading not in self.text))

    @property
    def text_under_headings(self) -> str:
        """What is embedded: the text with those headings before it."""
        return "\n".join([*self.unnamed_headings, self.text])


@dataclass(frozen=True, kw_only=True)
class Window:
    """Neighbouring chunks of one document that are embedded together (late chunking).

    `chunks[own_start:own_end]` get their vectors here; the ones around them are context, and get theirs next door.
    """

    chunks: tuple[Chunk, ...]
    own_start: int
    own_end: int

    @property
    def own(self) -> tuple[Chunk, ...]:
        """The chunks whose vectors this window yields."""
        return self.chunks[self.own_start : self.own_end]


@dataclass(frozen=True, kw_only=True)
class IndexedChunk:
    """A chunk with all that search needs."""

    chunk: Chunk
    terms: Mapping[str, int]  # lexical term -> how often in the chunk's own text
    length: int  # of that text in terms, for BM25
    vector: Vector  # empty: without a model there is nothing to compare
    model: str  # that made the vector
    titled: Mapping[str, int] = field(default_factory=dict)  # the same of the title and headings above the text


@dataclass(frozen=True, kw_only=True)
class PublishedDocument:
    """What publishing says: ready, or stopped by a document that was there first."""

    duplicate_of: DocumentId | None = None
    namesake: DocumentId | None = None  # it waits until the person has said what becomes of it and of this one


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a document could not be read, as a key of the locales and its values."""

    code: str
    params: Mapping[str, JsonValue] = field(default_factory=dict)
    detail: str = ""  # for the database, never shown to the person


@dataclass(frozen=True, kw_only=True)
class EnqueuedDocument:
    """The answer of the queue to one source."""

    id: DocumentId
    source: Source
    created: bool  # False: this very message and source had been enqueued before (a redelivery)
