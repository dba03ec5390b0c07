"""The doors that ingestion needs, as small Protocols; `adapters` meets them by shape.

In and out: records of `ingestion.records`. Store calls raise `domain.errors.DatabaseAway` when the
database does not answer; calls under a lease raise `ingestion.errors.LeaseLost` when it is no longer ours.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from domain.documents import DocumentStatus, Lane
from domain.ids import BaseId, DocumentId
from ingestion.metering import Outcome
from ingestion.records import (
    Batch,
    Block,
    ClaimedDocument,
    Document,
    Edition,
    EnqueuedDocument,
    Failure,
    IndexedChunk,
    PublishedDocument,
    Source,
    Vector,
    Window,
)


class Embedder(Protocol):
    """Turns windows of one document into vectors (late chunking)."""

    @property
    def model(self) -> str:
        """Name under which the vectors are stored; vectors of different models are never compared."""
        ...

    @property
    def window_tokens(self) -> int:
        """How many tokens (see `ingestion.chunking.tokens`) one window may hold at the most."""
        ...

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        """For each window, a vector for each of its OWN chunks, in order.

        Raises WindowTooLarge (split and ask again), ServiceError (refused or away).
        """
        ...


class TermAnalyzer(Protocol):
    """Turns text into the terms of the lexical index; the same one serves documents and questions."""

    def terms(self, text: str) -> tuple[str, ...]:
        """Terms in order of appearance, repeated as often as they occur."""
        ...


class TelegramFiles(Protocol):
    """Downloads a file that was sent to the bot."""

    async def download(self, file_id: str, target: Path, *, limit_bytes: int) -> None:
        """Write the file to `target`. Raises SourceError (too large, gone) or ServiceError."""
        ...


class Recognizer(Protocol):
    """Reads the words in a picture (OCR)."""

    async def recognise(self, picture: bytes) -> list[Block]:
        """`picture` is a PNG or JPEG, upright, of at most 4,000 pixels a side. Blocks in reading order without
        locators; none when the picture holds no words. Raises ServiceError (away or refused)."""
        ...


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
    language: str | None  # ISO 639-1, as it was heard
    has_picture: bool  # a video, and not sound alone
    title: str | None = None  # as the recording's own tags say


class Transcriber(Protocol):
    """Turns speech into text."""

    async def transcribe(
        self, path: Path, *, name: str, heard: Callable[[float, float], Awaitable[None]]
    ) -> Transcript:
        """`heard(done_s, total_s)` is called as the work goes on. `name` is for the error's sentence.

        Raises SourceError (damaged, without sound, too long) or ServiceError (the model cannot be loaded, it died).
        """
        ...


class IntakeQueue(Protocol):
    """Where the bot leaves what was sent."""

    async def enqueue(self, batch: Batch, *, hold_s: int = 0) -> list[EnqueuedDocument]:
        """Store all sources of a batch in one transaction. Sending the same (chat, message, source) again changes
        nothing. With `hold_s`, only `claim(only=...)` can take them during that many seconds."""
        ...

    async def join(self, batch: Batch, *, hold_s: int = 0) -> EnqueuedDocument | None:
        """Telegram cuts a long text into messages: add the one note of this message to the note that was cut.

        That is the note that the same person sent to the same chat one or two messages before, while it is held (see
        `enqueue`); it is held for `hold_s` more, and keeps the title of its first part. None when there is no such
        note: enqueue it then. The same message again changes nothing (`created` is False).
        """
        ...

    async def refresh(self, batch: Batch, document: DocumentId) -> EnqueuedDocument | None:
        """Read the source of a ready document anew; what has changed takes its place without asking. What could not be
        read is tried again as it is, in one step, so that nothing can lose it.

        `batch` says who asked and where the live message goes; its sources do not count, and its message may be that of
        the button. While the source is being read already, that is the answer (`created` is False). None when the base
        holds no such document, or nothing that can be read anew (a note, what was cancelled).
        """
        ...


class WorkQueue(Protocol):
    """What a worker does with documents. Everything but `claim` is refused (LeaseLost) without the lease."""

    async def claim(
        self, *, worker: str, lease_s: int, only: DocumentId | None = None, lanes: Collection[Lane] = tuple(Lane)
    ) -> ClaimedDocument | None:
        """The next document of these lanes whose turn it is, or one whose worker has gone silent; None when there is
        none. `only` asks for one document, whatever its lane and its hour."""
        ...

    async def renew(self, document: ClaimedDocument, *, lease_s: int) -> None:
        """Hold the document for that long from now."""
        ...

    async def give_back(self, document: ClaimedDocument) -> None:
        """The worker has to stop: as if it had not been claimed, but what is stored of it is kept."""
        ...

    async def report(self, document: ClaimedDocument, *, status: DocumentStatus, done: int, total: int) -> None:
        """Say which stage it is in and how far."""
        ...

    async def record_content(
        self,
        document: ClaimedDocument,
        *,
        content_hash: str,
        size_bytes: int | None = None,
        media_type: str | None = None,
        edition: Edition | None = None,
    ) -> PublishedDocument | None:
        """Note the content's hash (hex), and what else is known of it now. None: go on.

        The edition comes back with the claim of the document that reads the same source anew.

        When the base holds the same content ready, this document becomes its DUPLICATE; when it holds other content
        under the same file name, CHOOSING until the person has said what becomes of the two.
        """
        ...

    async def become_link(self, document: ClaimedDocument, *, link: Source) -> None:
        """The file held nothing but this address: the document waits for its turn as if the link had been sent, with
        what is written under it."""
        ...

    async def known_reading(self, document: ClaimedDocument) -> Document | None:
        """What was read in the ready version with the same content, without the words under it: those are all that is
        new in a file that `record_content` has put back into the queue. None when there is no such version."""
        ...

    async def store_blocks(self, document: ClaimedDocument, *, parsed: Document, chunks: int) -> int:
        """Store title, figures and all blocks, replacing what an earlier attempt left, and begin EMBEDDING.

        `chunks` is how many there will be. Returns how many chunks earlier attempts have left (see `keep_chunks`).
        Raises SourceError (BASE_WITHOUT_ROOM) when the base may not hold so many more; else room is kept for them.
        """
        ...

    async def keep_chunks(self, document: ClaimedDocument, *, model: str, digests: Sequence[str]) -> Collection[int]:
        """Drop what earlier attempts stored, but for the chunks with this model and these digests; the ordinals kept.

        `digests` are the md5 (hex) of the texts of all chunks, by ordinal.
        """
        ...

    async def add_chunks(self, document: ClaimedDocument, *, chunks: Sequence[IndexedChunk]) -> None:
        """Store a batch in one call; the same ordinal again replaces.

        They can be found from now on, unless they would stand beside an earlier version or the same content.
        """
        ...

    async def publish(
        self,
        document: ClaimedDocument,
        *,
        chunks: int,
        last: Sequence[IndexedChunk] = (),
        parsed: Document | None = None,
    ) -> PublishedDocument:
        """Store the last batch and make the document ready with the first `chunks` ordinals, in one transaction.

        With `parsed`, which is what `store_blocks` takes, a document that is one batch needs no call before this one.
        Any others are dropped; an earlier version leaves search at the same moment. It may end as a DUPLICATE or
        CHOOSING as in `record_content`, when another document became ready meanwhile. Raises SourceError
        (BASE_WITHOUT_ROOM) when the base may not hold so many more; nothing of the call is stored then.
        """
        ...

    async def postpone(self, document: ClaimedDocument, *, failure: Failure, delay_s: float) -> None:
        """Give it back to the queue for a later try; the person is told that a service is away."""
        ...

    async def fail(self, document: ClaimedDocument, *, failure: Failure) -> None:
        """Give up; what was stored of it is removed in the same transaction."""
        ...


class DocumentText(Protocol):
    """Reads back what was parsed (`baza show`)."""

    async def blocks(self, base: BaseId, document: DocumentId) -> list[Block]:
        """All blocks in order; empty when the base holds no such document."""
        ...


class WorkMeter(Protocol):
    """Watches over the work; `ingestion.metering.Unmetered` where nobody does."""

    def stage_ended(self, status: DocumentStatus, seconds: float) -> None:
        """A document was in this stage for so long; also when it ended there."""
        ...

    def document_ended(self, outcome: Outcome, code: str = "") -> None:
        """An attempt has ended; `code` says why one failed or is made again later (`FailureCode`)."""
        ...
