"""The doors that ingestion needs, as small Protocols; `adapters` meets them by shape.

In and out: records of `ingestion.records`. Store calls raise `domain.errors.DatabaseAway` when the
database does not answer; calls under a lease raise `ingestion.errors.LeaseLost` when it is no longer ours.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from domain.documents import DocumentStatus
from domain.ids import BaseId, DocumentId
from ingestion.records import (
    Batch,
    Block,
    ClaimedDocument,
    Document,
    EnqueuedDocument,
    Failure,
    IndexedChunk,
    PublishedDocument,
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


class IntakeQueue(Protocol):
    """Where the bot leaves what was sent."""

    async def enqueue(self, batch: Batch, *, hold_s: int = 0) -> list[EnqueuedDocument]:
        """Store all sources of a batch in one transaction. Sending the same (chat, message, source) again changes
        nothing. With `hold_s`, only `claim(only=...)` can take them during that many seconds."""
        ...


class WorkQueue(Protocol):
    """What a worker does with documents. Everything but `claim` is refused (LeaseLost) without the lease."""

    async def claim(self, *, worker: str, lease_s: int, only: DocumentId | None = None) -> ClaimedDocument | None:
        """The next document whose turn it is, or one whose worker has gone silent; None when there is none."""
        ...

    async def renew(self, document: ClaimedDocument, *, lease_s: int) -> None:
        """Hold the document for that long from now."""
        ...

    async def report(self, document: ClaimedDocument, *, status: DocumentStatus, done: int, total: int) -> None:
        """Say which stage it is in and how far."""
        ...

    async def record_content(self, document: ClaimedDocument, *, content_hash: str) -> PublishedDocument | None:
        """Note the content's hash (hex). When the base holds the same content ready, this document becomes its
        DUPLICATE and that is returned; else None."""
        ...

    async def store_blocks(self, document: ClaimedDocument, *, parsed: Document) -> None:
        """Store title, language, pages and all blocks, replacing what an earlier attempt left."""
        ...

    async def stored_chunks(self, document: ClaimedDocument, *, model: str) -> Mapping[int, str]:
        """Ordinal -> md5 (hex) of the text, of the chunks that an earlier attempt stored with this model."""
        ...

    async def add_chunks(self, document: ClaimedDocument, *, chunks: Sequence[IndexedChunk]) -> None:
        """Store a batch in one call; the same ordinal again replaces. Nobody sees them before `publish`."""
        ...

    async def publish(self, document: ClaimedDocument, *, chunks: int) -> PublishedDocument:
        """Make the first `chunks` ordinals searchable, drop any others, in one transaction."""
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
