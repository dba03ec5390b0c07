"""From a claimed document to published passages, stage by stage.

In: a `ClaimedDocument`. Out: nothing but what the queue stores; the document ends ready or as a duplicate. Errors go to
the worker, which decides their fate: SourceError, ServiceError, LeaseLost, DatabaseAway. An attempt after a crash
begins anew, and pays again for no vector that an earlier one has stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from domain.documents import DocumentStatus, SourceType
from ingestion.chunking.chunker import chunk_document
from ingestion.chunking.windows import split_into_windows
from ingestion.computing import compute
from ingestion.errors import FailureCode, SourceError
from ingestion.fetch.media import HTML_TYPE
from ingestion.indexing import Indexer
from ingestion.note import hash_note, hash_words, read_note
from ingestion.ports import Embedder, TermAnalyzer, WorkQueue
from ingestion.progress import Progress
from ingestion.records import (
    BLOCK_SEPARATOR,
    Block,
    BlockKind,
    Chunk,
    ClaimedDocument,
    Document,
    FetchedFile,
    Source,
    Window,
)
from ingestion.scratch import document_folder

_WORDLESS = frozenset({FailureCode.FILE_EMPTY, FailureCode.FILE_WITHOUT_TEXT})


class Fetch(Protocol):
    """`ingestion.fetch.fetchers.Fetchers`."""

    async def fetch(self, document: ClaimedDocument, folder: Path) -> FetchedFile:
        """Bytes on disk, in `folder`."""
        ...


class Parse(Protocol):
    """`ingestion.parsers.process.ParseProcess`."""

    async def parse(self, file: FetchedFile) -> Document:
        """What the file says. Raises SourceError."""
        ...


@dataclass(frozen=True, kw_only=True)
class ChunkLimits:
    """Sizes of passages."""

    chunk_tokens: int
    overlap_tokens: int


class IngestionPipeline:
    """The stages, one line each in `run`."""

    def __init__(
        self,
        *,
        fetchers: Fetch,
        parser: Parse,
        embedder: Embedder,
        analyzer: TermAnalyzer,
        queue: WorkQueue,
        limits: ChunkLimits,
        scratch: Path,
    ) -> None:
        self._fetchers = fetchers
        self._parser = parser
        self._window_tokens = embedder.window_tokens
        self._indexer = Indexer(embedder=embedder, analyzer=analyzer, queue=queue)
        self._queue = queue
        self._limits = limits
        self._scratch = scratch

    async def run(self, document: ClaimedDocument) -> None:
        """Read the document to its end. Raises SourceError, ServiceError, LeaseLost, DatabaseAway."""
        progress = Progress(self._queue, document)
        parsed = await self._read(document, progress)
        if parsed is None:
            return
        await self._queue.store_blocks(document, parsed=parsed)
        chunks, windows = await self._chunk(document, parsed)
        await self._indexer.index(document, windows, progress, title=parsed.title)
        await self._queue.publish(document, chunks=len(chunks))

    async def _read(self, document: ClaimedDocument, progress: Progress) -> Document | None:
        """What the source says; None when the base holds the same content already."""
        source = document.source
        is_note = source.type is SourceType.NOTE
        if is_note and await self._is_known(document, hash_note(source)):
            return None
        parsed = read_note(source) if is_note else await self._read_file(document, progress)
        return None if parsed is None else _with_source(parsed, source)

    async def _read_file(self, document: ClaimedDocument, progress: Progress) -> Document | None:
        """Fetch and parse."""
        with document_folder(self._scratch) as folder:
            file = await self._fetchers.fetch(document, folder)
            if not _is_page(file) and await self._is_known(document, file.sha256):
                return None
            await progress.report(DocumentStatus.PARSING)
            parsed = await self._parse(file)
        if _is_page(file) and await self._is_known(document, _hash_of_text(parsed)):
            return None
        return parsed

    async def _parse(self, file: FetchedFile) -> Document:
        try:
            return await self._parser.parse(file)
        except SourceError as error:
            if not _is_page(file) or error.code not in _WORDLESS:
                raise
            host = urlsplit(file.url or "").hostname
            raise SourceError(FailureCode.PAGE_WITHOUT_TEXT, host=host, detail=error.detail) from error

    async def _is_known(self, document: ClaimedDocument, content_hash: str) -> bool:
        return await self._queue.record_content(document, content_hash=content_hash) is not None

    async def _chunk(self, document: ClaimedDocument, parsed: Document) -> tuple[Sequence[Chunk], Sequence[Window]]:
        limits = self._limits

        def work() -> tuple[Sequence[Chunk], Sequence[Window]]:
            chunks = chunk_document(parsed, chunk_tokens=limits.chunk_tokens, overlap_tokens=limits.overlap_tokens)
            return chunks, split_into_windows(chunks, window_tokens=self._window_tokens)

        chunks, windows = await compute(work, characters=sum(len(block.text) for block in parsed.blocks))
        if not chunks:
            raise SourceError(FailureCode.FILE_WITHOUT_TEXT, name=document.source.identifier)
        return chunks, windows


def _is_page(file: FetchedFile) -> bool:
    """Pages are compared by their text: their markup changes at every visit."""
    return file.url is not None and file.media_type == HTML_TYPE


def _hash_of_text(parsed: Document) -> str:
    return hash_words(BLOCK_SEPARATOR.join(block.text for block in parsed.blocks))


def _with_source(parsed: Document, source: Source) -> Document:
    """What the sender said of it: the title of a note, the author of a forward, the caption of a file."""
    title = source.title if source.type is SourceType.NOTE else None
    caption = source.text if source.type is SourceType.FILE else None
    opening = (Block(kind=BlockKind.PARAGRAPH, text=caption),) if caption else ()
    return replace(
        parsed,
        title=title or parsed.title,
        author=parsed.author or source.author,
        published_at=parsed.published_at or source.published_at,
        blocks=(*opening, *parsed.blocks),
    )
