"""The ports of ingestion, as small Protocols; `adapters` implements them structurally.

In and out: records of `ingestion.records`. Store calls raise `domain.errors.DatabaseAway` when the database does not
answer; calls under a lease raise `ingestion.errors.LeaseLost` when the lease is no longer ours.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import Protocol

from domain.documents import ANY_LANE, DocumentStatus, Lane
from domain.ids import BaseId, DocumentId, FileId
from ingestion.records import (
    Block,
    ClaimedDocument,
    Document,
    Failure,
    FetchedFile,
    IndexedChunk,
    Source,
    Vector,
    WholeDocument,
    Window,
)


class Outcome(StrEnum):
    """How one attempt at a document ended."""

    READY = "ready"
    KNOWN = "known"  # the base has its content or its name, or it was a saved link: nothing was read
    FAILED = "failed"
    POSTPONED = "postponed"


class Embedder(Protocol):
    """Turns windows of one document into vectors (late chunking)."""

    @property
    def model(self) -> str:
        """Name under which the vectors are stored; vectors of different models are never compared."""

    @property
    def window_tokens(self) -> int:
        """The largest window, in tokens (see `ingestion.chunking.windows`)."""

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        """For each window, the vectors of its OWN chunks, in order. Raises WindowTooLarge, ServiceError."""


class TermAnalyzer(Protocol):
    """Turns text into terms of the lexical index; documents and questions use the same one."""

    def terms(self, text: str) -> tuple[str, ...]:
        """Terms in order of appearance, repeated as often as they occur."""


class TelegramFiles(Protocol):
    """Downloads a file that was sent to the bot."""

    async def download(self, file_id: str, target: Path, *, limit_bytes: int) -> None:
        """Write the file to `target`. Raises SourceError (too large, gone) or ServiceError."""


class KeptFiles(Protocol):
    """Where the files are that came over HTTP."""

    def read(self, base: BaseId, file: FileId) -> AsyncIterator[bytes]:
        """Its bytes in pieces. Raises SourceError FILE_GONE, ServiceError when the storage is away."""

    async def copy(self, base: BaseId, file: FileId, to: BaseId, copy: FileId) -> None:
        """The same content for another base. Raises as `read` does."""


class Recognizer(Protocol):
    """Reads the words in a picture (OCR)."""

    async def recognise(self, picture: bytes) -> list[Block]:
        """Blocks in reading order without locators; `picture` is a PNG or JPEG, upright, of at most 4,000 pixels a
        side. Raises ServiceError."""


@dataclass(frozen=True, kw_only=True)
class Utterance:
    """What was said from `start_s` to `end_s`, seconds from the beginning of the recording."""

    start_s: float
    end_s: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """A whole recording in words."""

    utterances: tuple[Utterance, ...]
    duration_s: float
    language: str | None  # ISO 639-1, as detected from the speech
    has_picture: bool  # True: a video; False: sound alone
    title: str | None = None  # from the recording's own tags


class Transcriber(Protocol):
    """Turns speech into text."""

    async def transcribe(
        self, path: Path, *, name: str, heard: Callable[[float, float], Awaitable[None]]
    ) -> Transcript:
        """`heard(done_s, total_s)` is called as the work goes on. Raises SourceError (damaged, without sound, too long)
        or ServiceError (the model cannot be loaded, or died)."""


class WorkQueue(Protocol):
    """A worker's operations on documents. Without the lease, all but `claim` raise LeaseLost."""

    async def claim(
        self,
        *,
        worker: str,
        lease_s: int,
        most: int = 1,
        only: Collection[DocumentId] = (),
        lanes: Mapping[Lane, int] = ANY_LANE,
    ) -> list[ClaimedDocument]:
        """The next document of these lanes that is due, or whose lease has expired; of notes and small files up to
        `most` of one person and base that nobody has tried yet. A lane comes with the number of this worker's places in
        it that one person, or base, may hold; `only`, of one base, are claimed whatever their lane and time."""
        ...

    async def renew(self, document: ClaimedDocument, *, lease_s: int) -> None:
        """Extend the lease to `lease_s` seconds from now."""

    async def give_back(self, document: ClaimedDocument) -> None:
        """Put the document back as if unclaimed; what is stored of it stays."""

    async def report(self, document: ClaimedDocument, *, status: DocumentStatus, done: int, total: int) -> None:
        """Record the stage and its progress."""

    async def record_content(
        self,
        document: ClaimedDocument,
        *,
        content_hash: str,
        size_bytes: int | None = None,
        media_type: str | None = None,
    ) -> DocumentId | None:
        """Record the content's hash (hex), and what else is known of it by now. None: go on; else the document that was
        there first: this one has become a DUPLICATE of the same content, or CHOOSING until the person has chosen
        between two of the same file name."""

    async def record_contents(self, contents: Sequence[tuple[ClaimedDocument, FetchedFile]]) -> Collection[DocumentId]:
        """`record_content` for the files of one claim: those with which the work goes on."""

    async def become_link(self, document: ClaimedDocument, *, link: Source) -> None:
        """The file held nothing but this address: back into the queue as if the link had been sent."""

    async def known_reading(self, document: ClaimedDocument) -> Document | None:
        """What was parsed for the ready version with the same content, without its caption, which alone is new."""

    async def store_blocks(self, document: ClaimedDocument, *, parsed: Document, chunks: int) -> int:
        """Store title, metadata and all blocks, reserve room for so many chunks, and begin EMBEDDING. Returns how many
        chunks earlier attempts have left. Raises SourceError (BASE_WITHOUT_ROOM)."""

    async def keep_chunks(self, document: ClaimedDocument, *, model: str, digests: Sequence[str]) -> Collection[int]:
        """Drop the chunks of earlier attempts, except those with this model and these digests (md5 of their texts in
        hex, by ordinal); return the ordinals kept."""

    async def add_chunks(self, document: ClaimedDocument, *, chunks: Sequence[IndexedChunk]) -> None:
        """Store a batch in one call; a repeated ordinal overwrites. They can be found at once, unless an earlier
        version or the same content is being searched already."""

    async def publish(
        self,
        document: ClaimedDocument,
        *,
        chunks: int,
        last: Sequence[IndexedChunk] = (),
        parsed: Document | None = None,
        content_hash: str | None = None,
    ) -> DocumentId | None:
        """Store the last batch and make the document ready with the first `chunks` ordinals, in one transaction, in
        which an earlier version leaves search. With `parsed` (see `store_blocks`) and `content_hash` a document of one
        batch needs no earlier call. May end as `record_content` does. Raises SourceError (BASE_WITHOUT_ROOM),
        DatabaseError when not all `chunks` are stored."""

    async def publish_together(self, whole: Sequence[WholeDocument]) -> Mapping[DocumentId, bool]:
        """`publish` for documents of one claim: whether they are ready now. One that is missing had no room, or is no
        longer ours."""

    async def postpone(self, document: ClaimedDocument, *, failure: Failure, delay_s: float) -> None:
        """Put it back into the queue for a later retry; the person is told that a service is away."""

    async def fail(self, document: ClaimedDocument, *, failure: Failure) -> None:
        """Mark it failed; what was stored of it is removed in the same transaction."""


class DocumentText(Protocol):
    """Reads back the parsed blocks (`baza show`, the entity enricher)."""

    async def blocks(self, base: BaseId, document: DocumentId, *, most_chars: float = inf) -> Sequence[Block]:
        """All blocks in order (of a long document a spool), or those that begin within `most_chars`."""


class WorkMeter:
    """Counts the work for metrics; this one counts nothing."""

    def stage_ended(self, status: DocumentStatus, seconds: float) -> None:
        """A document spent this many seconds in this stage, whether it went on or ended there."""

    def document_ended(self, outcome: Outcome, code: str = "") -> None:
        """An attempt has ended; `code` says why it failed or was postponed (`FailureCode`)."""


Charged = Callable[[BaseId, Sequence[DocumentId]], AbstractAsyncContextManager[None]]
"""Open while documents of a base are worked on: what models cost then is told to somebody."""


def for_nothing(_base: BaseId, _documents: Sequence[DocumentId]) -> AbstractAsyncContextManager[None]:
    """Nobody is told."""
    return nullcontext()
