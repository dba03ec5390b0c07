"""The records that the stages of ingestion pass to each other.

In: nothing. Out: frozen, keyword-only values. They hold data and almost no behaviour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from domain.documents import Lane, Medium, SourceType, UnreadPart
from domain.ids import BaseId, ChatId, DocumentId, FileId, LeaseId, MessageId, ThreadId, UserId
from domain.locator import JsonValue, Locator

Vector = Sequence[float]
"""An embedding of at most 1024 numbers, L2-normalised; stores pad it with zeros. Embedders give an `array`: a list
takes eight times the memory, and its numbers are made and packed one by one."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """One thing to read, as it was sent, with all that is needed to fetch it again after a crash."""

    type: SourceType
    identifier: str  # file name, URL, absolute path, or the note's title
    title: str | None = None
    text: str | None = None  # a note's text, or a file's caption
    file_id: str | None = None  # Telegram's handle of the file
    kept_file: FileId | None = None  # our own, of a file that came over HTTP
    size_bytes: int | None = None
    media_type: str | None = None  # as the sender claims; the content decides
    author: str | None = None
    published_at: datetime | None = None
    url: str | None = None  # where the original can be seen, such as a public channel's post
    lane: Lane = Lane.QUICK


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The sources of one message. They share one live message and one receipt, as do all batches of one album."""

    base_id: BaseId
    user_id: UserId
    sender: str | None = None  # their name, in a group chat
    language: str = "ru"  # of the bot's interface
    chat_id: ChatId | None = None  # None: nobody waits for a notice (command line)
    thread_id: ThreadId | None = None
    message_id: MessageId | None = None
    media_group: str | None = None  # Telegram's id of the album that the message belongs to
    ttl_s: int | None = None  # its documents are removed this many seconds after they came; None: they stay
    sources: tuple[Source, ...]


@dataclass(frozen=True, kw_only=True)
class ClaimedDocument:
    """A document that this worker holds until its lease runs out."""

    id: DocumentId
    base_id: BaseId
    lease: LeaseId
    attempt: int  # 1 the first time
    source: Source
    is_known: bool = False  # the base may have its text already, see `WorkQueue.known_reading`
    full_at: int | None = None  # the base is full, and this is its limit of passages; None: there is room


@dataclass(frozen=True, kw_only=True)
class About:
    """Metadata from the place a file came from; the file's own metadata takes precedence."""

    title: str | None = None
    author: str | None = None
    published_at: datetime | None = None
    medium: Medium | None = None  # of a video's captions: the medium of what they transcribe
    duration_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class FetchedFile:
    """A file on disk, hashed and within the size limit. The caller deletes it."""

    path: Path
    name: str  # with its extension if known, to choose a parser
    media_type: str | None  # declared by the server or sender
    size_bytes: int
    sha256: str  # hex
    url: str | None = None  # the final address, after redirects
    about: About | None = None
    attached: tuple["FetchedFile", ...] = ()  # files that the pages of a section link to, each with its `url`


class BlockKind(StrEnum):
    """What a block is. The chunker never cuts a table row or a code block that fits a passage."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"


LARGEST_BLOCK_CHARS = 50_000
"""Of the text of a block that a parser yields: what touches one block at a time then needs little memory."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A unit of a document, such as a paragraph. Tables are Markdown rows; code keeps its line breaks."""

    kind: BlockKind
    text: str
    locator: Locator = field(default_factory=Locator)
    level: int | None = None  # of a heading; 1 is the outermost


@dataclass(frozen=True, kw_only=True)
class NameLine:
    """A name of the document, from its text or its file name; used for search only."""

    text: str
    terms: Mapping[str, int]  # lexical term -> how often


@dataclass(frozen=True, kw_only=True)
class Document:
    """A parsed source: its blocks in reading order."""

    title: str
    blocks: Sequence[Block]  # a tuple; for a long document a spool (`ingestion.spool`)
    pages: int | None = None
    pages_without_text: tuple[int, ...] = ()
    language: str | None = None  # ISO 639-1 of most of the text
    author: str | None = None
    published_at: datetime | None = None
    medium: Medium = Medium.TEXT
    duration_s: float | None = None  # of a recording
    parts: int | None = None  # files of an archive, pages of a site
    unread: tuple[UnreadPart, ...] = ()
    names: tuple[NameLine, ...] = ()  # its passages are found by these names too; set by `Indexer.with_names`


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
    text: str  # the document's own text in `span`; in a continued table, the table's header comes before it
    span: Span
    locator: Locator

    @property
    def text_under_headings(self) -> str:
        """The text to embed, below the headings that it does not contain, outermost first."""
        unnamed = dict.fromkeys(heading for heading in self.locator.headings if heading not in self.text)
        return "\n".join([*unnamed, self.text])


@dataclass(frozen=True, kw_only=True)
class Window:
    """Neighbouring chunks of one document that are embedded together (late chunking): `chunks[own_start:own_end]` get
    their vectors, the others are context. `line` is how the document begins: whose clause it is stands nowhere else."""

    chunks: tuple[Chunk, ...]
    own_start: int
    own_end: int
    line: str = ""

    @property
    def texts_alone(self) -> list[str]:
        """Of each own chunk the text to embed where no neighbours are seen."""
        return [self._below_line(chunk) for chunk in self.own]

    @property
    def texts_together(self) -> list[str]:
        """Of all chunks the texts to embed in one context, which begins with the line or with the document itself."""
        first, *others = self.chunks
        return [self._below_line(first), *(chunk.text_under_headings for chunk in others)]

    def _below_line(self, chunk: Chunk) -> str:
        return f"{self.line}\n{chunk.text_under_headings}" if chunk.ordinal and self.line else chunk.text_under_headings

    @property
    def own(self) -> tuple[Chunk, ...]:
        """The chunks whose vectors this window yields."""
        return self.chunks[self.own_start : self.own_end]


@dataclass(frozen=True, kw_only=True)
class IndexedChunk:
    """A chunk with everything that search needs."""

    chunk: Chunk
    terms: Mapping[str, int]  # lexical term -> how often in the chunk's own text
    length: int  # number of terms in that text, for BM25
    vector: Vector = ()  # empty without an embedding model
    model: str  # the model that made the vector
    titled: Mapping[str, int] = field(default_factory=dict)  # like `terms`, of the names and headings above the text


@dataclass(frozen=True, kw_only=True)
class WholeDocument:
    """A small document with all that is stored of it."""

    document: ClaimedDocument
    parsed: Document
    chunks: Sequence[IndexedChunk]
    content_hash: str | None = None  # of a note, whose hash nobody was told before


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a document could not be read: a key of the locales and its parameters."""

    code: str
    params: Mapping[str, JsonValue] = field(default_factory=dict)
    detail: str = ""  # for the database, never shown to the person


@dataclass(frozen=True, kw_only=True)
class EnqueuedDocument:
    """The answer of the queue to one source."""

    id: DocumentId
    source: Source
    created: bool  # False: a redelivery, this message and source were enqueued before
