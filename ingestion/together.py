"""Takes several small documents of one base through all stages at once.

In: the documents of one claim. Out: which of them have ended: ready, or stopped by a document that was there first. A
small document costs more in calls of the database and in processes than in reading; together they share both. Whatever
does not go smoothly, such as a file that is damaged, slow, a scan or not small after all, is left for
`IngestionPipeline.run`, which does it alone.
"""

import asyncio
from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

from domain.documents import SourceType
from domain.ids import DocumentId
from ingestion.about import hash_note, read_note, with_about, with_source
from ingestion.chunking.passages import Passages, PassageSizes, cut_passages
from ingestion.computing import SHORT_CHARS
from ingestion.errors import HoldsLink, ServiceError, SourceError, Unchanged
from ingestion.indexing import CHUNKS_A_BATCH, Indexer
from ingestion.ports import Outcome, WorkMeter, WorkQueue
from ingestion.progress import Progress
from ingestion.records import Block, ClaimedDocument, Document, FetchedFile, WholeDocument
from ingestion.scratch import document_folder

_FILES = frozenset({SourceType.FILE, SourceType.PATH})


class SharedParser(Protocol):
    """See `ingestion.parsers.process.SharedProcess`."""

    async def parse(self, file: FetchedFile, progress: Progress) -> Document:
        """The file's text. Raises SourceError."""
        ...

    async def cut(self, blocks: Sequence[Block], sizes: PassageSizes, folder: Path) -> Passages:
        """The passages of a text. Raises SourceError."""
        ...


class Parser(Protocol):
    """See `ingestion.parsers.process.ParseProcess`."""

    def shared(self, folder: Path) -> AbstractAsyncContextManager[SharedParser]:
        """One process for the files in `folder`."""
        ...


class Fetch(Protocol):
    """See `ingestion.fetch.fetchers.Fetchers`."""

    async def fetch(self, document: ClaimedDocument, folder: Path, progress: Progress) -> FetchedFile:
        """Write the bytes to `folder`. Raises SourceError, ServiceError, Unchanged, HoldsLink."""
        ...


class Read(Protocol):
    """See `ingestion.reading.reader.FileReader`."""

    async def read_plain(self, file: FetchedFile, progress: Progress, parser: SharedParser) -> Document | None:
        """The text of the file, where a parser alone can read it. Raises SourceError."""
        ...


@dataclass(frozen=True, kw_only=True)
class _Cut:
    """A document that has been read and cut."""

    document: ClaimedDocument
    parsed: Document
    passages: Passages


class SmallDocuments:
    """Runs the stages on all documents at once; `run` has one line for each."""

    def __init__(
        self,
        *,
        fetchers: Fetch,
        reader: Read,
        parser: Parser,
        indexer: Indexer,
        queue: WorkQueue,
        sizes: PassageSizes,
        scratch: Path,
        meter: WorkMeter,
    ) -> None:
        self._fetchers = fetchers
        self._reader = reader
        self._parser = parser
        self._indexer = indexer
        self._queue = queue
        self._sizes = sizes
        self._scratch = scratch
        self._meter = meter

    async def run(self, documents: Sequence[ClaimedDocument]) -> Collection[DocumentId]:
        """The documents that have ended. Raises ServiceError, DatabaseAway."""
        able = [each for each in documents if each.attempt == 1 and not each.is_known and each.full_at is None]
        with document_folder(self._scratch.absolute()) as folder:
            fetched = await self._fetch_all(able, folder)
            going_on = await self._queue.record_contents(fetched)
            ended = {document.id: False for document, _ in fetched if document.id not in going_on}
            async with self._parser.shared(folder) as parser:
                notes = [(each, None) for each in able if each.source.type is SourceType.NOTE]
                files = [(each, file) for each, file in fetched if each.id in going_on]
                cut = [done for each, file in (*notes, *files) if (done := await self._read(each, file, parser))]
            ended |= await self._queue.publish_together(await self._index(cut))
        for is_ready in ended.values():
            self._meter.document_ended(Outcome.READY if is_ready else Outcome.KNOWN)
        return ended.keys()

    async def _fetch_all(
        self, documents: Sequence[ClaimedDocument], folder: Path
    ) -> list[tuple[ClaimedDocument, FetchedFile]]:
        files = [each for each in documents if each.source.type in _FILES]
        folders = [folder / each.id for each in files]
        for own in folders:
            own.mkdir(mode=0o700)
        fetched = await asyncio.gather(*map(self._fetch, files, folders))
        return [(each, file) for each, file in zip(files, fetched, strict=True) if file is not None]

    async def _fetch(self, document: ClaimedDocument, folder: Path) -> FetchedFile | None:
        try:
            return await self._fetchers.fetch(document, folder, self._progress(document))
        except (SourceError, ServiceError, HoldsLink, Unchanged):
            return None

    async def _read(self, document: ClaimedDocument, file: FetchedFile | None, parser: SharedParser) -> _Cut | None:
        """None when that is not so simple."""
        try:
            if file is None:
                parsed: Document | None = read_note(document.source)
            else:
                parsed = await self._reader.read_plain(file, self._progress(document), parser)
                parsed = with_about(parsed, file) if parsed else None
            if parsed is None:
                return None
            parsed = with_source(parsed, document.source)
            passages = await self._cut(parsed, parser)
        except (SourceError, ServiceError):
            return None
        is_small = 0 < len(passages.chunks) <= CHUNKS_A_BATCH
        return _Cut(document=document, parsed=parsed, passages=passages) if is_small else None

    async def _cut(self, parsed: Document, parser: SharedParser) -> Passages:
        beginning = islice(parsed.blocks, SHORT_CHARS)  # no block is empty
        if sum(len(block.text) for block in beginning) <= SHORT_CHARS:
            return cut_passages(parsed.blocks, self._sizes, folder=self._scratch)
        return await parser.cut(parsed.blocks, self._sizes, self._scratch)

    async def _index(self, cut: Sequence[_Cut]) -> list[WholeDocument]:
        indexed = await self._indexer.index_together(
            [(each.document.source, each.parsed, each.passages) for each in cut]
        )
        return [
            WholeDocument(
                document=each.document,
                parsed=parsed,
                chunks=chunks,
                content_hash=hash_note(each.document.source) if each.document.source.type is SourceType.NOTE else None,
            )
            for each, (parsed, chunks) in zip(cut, indexed, strict=True)
        ]

    def _progress(self, document: ClaimedDocument) -> Progress:
        """Nothing here takes long enough to be told."""
        return Progress(self._queue, document).muted()
