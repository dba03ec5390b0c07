"""Takes claimed documents through all stages to published passages: one alone, or several small ones at once.

In: a `ClaimedDocument`, or those of one claim. Out: what the queue stores: a document ends ready, as a duplicate, or
waiting for the person's choice. A retry starts from the beginning, but does not embed again what an earlier attempt
stored. Small documents share calls and a process; whatever does not go smoothly with one of them is done alone.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from domain.documents import DocumentStatus, Medium, SourceType, UnreadPart
from domain.ending import end
from domain.ids import DocumentId
from ingestion.about import hash_page, read_note, with_about, with_source
from ingestion.chunking.passages import CutBlocks, Passages, PassageSizes, cut_passages
from ingestion.errors import FailureCode, LeaseLost, ServiceError, SourceError
from ingestion.fetch.download import HTML_TYPE
from ingestion.fetch.fetchers import Fetchers
from ingestion.files import SITE_TYPE, document_folder
from ingestion.indexing import SHORT_CHARS, CutDocument, Indexer, compute
from ingestion.parsers.outline import choose_title
from ingestion.parsers.process import REFUSALS, FileParser, ParseProcess
from ingestion.ports import Embedder, Outcome, TermAnalyzer, WorkMeter, WorkQueue
from ingestion.progress import Progress
from ingestion.reading.reader import FileReader
from ingestion.records import Block, ClaimedDocument, Document, Failure, FetchedFile, Source, WholeDocument

_WORDLESS = frozenset({FailureCode.FILE_EMPTY, FailureCode.FILE_WITHOUT_TEXT})
_SILENT = {
    FailureCode.FILE_UNSUPPORTED: Medium.TEXT,
    FailureCode.FILE_WITHOUT_WORDS: Medium.IMAGE,
    FailureCode.FILE_NEEDS_RECOGNITION: Medium.IMAGE,
    FailureCode.FILE_WITHOUT_SPEECH: Medium.AUDIO,
    FailureCode.FILE_NEEDS_HEARING: Medium.AUDIO,
}
"""Failure codes of files that are kept for their caption alone -> the medium of such a file."""

_UNREADABLE = REFUSALS | {FailureCode.FILE_NEEDS_RECOGNITION, FailureCode.FILE_DAMAGED}
_WALLS = frozenset({FailureCode.FILE_NEEDS_SCRIPT, FailureCode.FILE_NEEDS_LOGIN})
_PAGE_TYPES = frozenset({HTML_TYPE, SITE_TYPE})

_FILES = frozenset({SourceType.FILE, SourceType.PATH})
_Read = CutDocument | bool | Failure | None


@dataclass(kw_only=True)
class IngestionPipeline:
    """Runs the stages in order, on one document (`run`) or on all of several small ones at once (`run_together`)."""

    fetchers: Fetchers
    reader: FileReader
    cutter: ParseProcess
    embedder: Embedder
    analyzer: TermAnalyzer
    queue: WorkQueue
    sizes: PassageSizes
    scratch: Path
    meter: WorkMeter = field(default_factory=WorkMeter)

    def __post_init__(self) -> None:
        self._indexer = Indexer(embedder=self.embedder, analyzer=self.analyzer, queue=self.queue)

    async def run_together(self, documents: Sequence[ClaimedDocument]) -> Mapping[DocumentId, Failure | None]:
        """Run all stages on small documents; returned are those that have ended, and those that cannot be read with the
        reason. The others are to be run alone. Raises ServiceError, DatabaseAway."""
        able = [each for each in documents if each.attempt == 1 and not each.is_known and each.full_at is None]
        with document_folder(self.scratch.absolute()) as folder:
            fetched = await self.fetchers.fetch_files([each for each in able if each.source.type in _FILES], folder)
            going_on = await self.queue.record_contents(fetched)
            ended = {document.id: False for document, _ in fetched if document.id not in going_on}
            async with self.cutter.shared(folder) as parser:
                notes = [(each, None) for each in able if each.source.type is SourceType.NOTE]
                files = [(each, file) for each, file in fetched if each.id in going_on]
                done, analysed = await self._read_all([*notes, *files], parser)
            ended |= await self.queue.publish_together(await self._indexer.embed_together(analysed))
        ended |= {document: is_new for document, is_new in done.items() if isinstance(is_new, bool)}
        for is_ready in ended.values():
            self.meter.document_ended(Outcome.READY if is_ready else Outcome.KNOWN)
        return dict.fromkeys(ended) | {document: each for document, each in done.items() if isinstance(each, Failure)}

    async def run(self, document: ClaimedDocument) -> None:
        """Run all stages on the document. Raises SourceError, ServiceError, LeaseLost, DatabaseAway, HoldsLink."""
        if document.full_at is not None:
            raise SourceError(FailureCode.BASE_FULL, most=document.full_at)
        with closing(Progress(self.queue, document, meter=self.meter)) as progress:
            parsed = await self._read(document, progress)
            is_new = False
            if parsed is not None:
                passages = await _cut(parsed.blocks, self.sizes, self.cutter, self.scratch)
                if not passages.chunks:
                    raise SourceError(FailureCode.FILE_WITHOUT_TEXT, name=document.source.identifier)
                is_new = await self._store(CutDocument(document=document, parsed=parsed, passages=passages), progress)
            self.meter.document_ended(Outcome.READY if is_new else Outcome.KNOWN)

    async def _store_large(self, cut: CutDocument) -> bool | None:
        """None where it meets trouble: run alone it tells why."""
        progress = Progress(self.queue, cut.document, meter=self.meter)
        with suppress(SourceError, ServiceError, LeaseLost), closing(progress):
            return await self._store(cut, progress)
        return None

    async def _store(self, cut: CutDocument, progress: Progress) -> bool:
        """Index and publish; False where the base already has the content. A document of one batch is stored and
        published in a single call, which also records the hash of a note."""
        document, chunks = cut.document, len(cut.passages.chunks)
        if cut.is_small:
            progress.entered(DocumentStatus.EMBEDDING)
            (whole,) = await self._indexer.embed_together([(cut, await self._indexer.analyse(cut))])
            first = await self.queue.publish(
                document, chunks=chunks, last=whole.chunks, parsed=whole.parsed, content_hash=whole.content_hash
            )
            return first is None
        if cut.note_hash is not None and await self._is_known(document, cut.note_hash):
            return False
        cut = replace(cut, parsed=self._indexer.with_names(cut.parsed, document.source))
        stored = await self.queue.store_blocks(document, parsed=cut.parsed, chunks=chunks)
        progress.entered(DocumentStatus.EMBEDDING)
        await self._indexer.index(cut, progress, stored=stored)
        return await self.queue.publish(document, chunks=chunks) is None

    async def _read(self, document: ClaimedDocument, progress: Progress) -> Document | None:
        """The parsed source; None when work stops because the base already has this content or this file name."""
        source = document.source
        if source.type is SourceType.NOTE:
            return with_source(read_note(source), source)
        if document.is_known and (known := await self.queue.known_reading(document)) is not None:
            return with_source(known, source)
        with document_folder(self.scratch) as folder:
            file = await self.fetchers.fetch(document, folder, progress)
            if not _is_page(file) and await self._is_known(document, file.sha256, file):
                return None
            await progress.report(DocumentStatus.PARSING)
            parsed = await self._parse_or_caption(document.source, file, progress)
        if _is_page(file):  # hashed in a thread if it is long: 10 MB take seconds
            characters = sum(len(block.text) for block in parsed.blocks)
            page_hash = await compute(lambda: hash_page(parsed), characters=characters)
            if await self._is_known(document, page_hash, file):
                return None
        return with_source(with_about(parsed, file), source)

    async def _parse_or_caption(self, source: Source, file: FetchedFile, progress: Progress) -> Document:
        """Parse; a photo without words, a silent recording or a program is kept for its caption, if it has one."""
        try:
            return await self.reader.read(file, progress)
        except SourceError as error:
            if _is_page(file) and error.code in _WORDLESS | _WALLS:
                raise _of_page(error, file) from error
            medium = _SILENT.get(error.code)
            if medium is None or source.type is not SourceType.FILE or not source.text:
                raise
            unread = UnreadPart(name=file.name, code=error.code)
            return Document(title=choose_title(None, (), name=file.name), blocks=(), medium=medium, unread=(unread,))

    async def _is_known(self, document: ClaimedDocument, content_hash: str, file: FetchedFile | None = None) -> bool:
        first = await self.queue.record_content(
            document,
            content_hash=content_hash,
            size_bytes=file.size_bytes if file else None,
            media_type=file.media_type if file else None,
        )
        return first is not None

    async def _read_all(
        self, files: Sequence[tuple[ClaimedDocument, FetchedFile | None]], parser: FileParser
    ) -> tuple[dict[DocumentId, _Read], list[tuple[CutDocument, WholeDocument]]]:
        """What became of each, and those that were cut, analysed: one, while the next is being read."""
        done: dict[DocumentId, _Read] = {}
        analysing: list[tuple[CutDocument, asyncio.Task[WholeDocument]]] = []
        try:
            for document, file in files:
                done[document.id] = cut = await self._read_small(document, file, parser)
                if isinstance(cut, CutDocument):
                    analysing.append((cut, asyncio.create_task(self._indexer.analyse(cut))))
            return done, [(cut, await task) for cut, task in analysing]
        finally:
            await end(*(task for _, task in analysing))

    async def _read_small(self, document: ClaimedDocument, file: FetchedFile | None, parser: FileParser) -> _Read:
        """A document of one batch, cut; of one with more passages, which is stored at once, whether it is new; None:
        it is to be run alone."""
        try:
            if file is None:
                parsed: Document | None = read_note(document.source)
            else:
                untold = Progress(self.queue, document, is_muted=True)  # nothing here takes long
                parsed = await self.reader.read_plain(file, untold, parser)
                parsed = with_about(parsed, file) if parsed else None
            if parsed is None:
                return None
            parsed = with_source(parsed, document.source)
            passages = await _cut(parsed.blocks, self.sizes, parser, self.scratch)
        except SourceError as error:
            is_kept = error.code in _SILENT and document.source.text
            return error.failure if error.code in _UNREADABLE and not is_kept else None
        except ServiceError:
            return None
        cut = CutDocument(document=document, parsed=parsed, passages=passages) if passages.chunks else None
        return await self._store_large(cut) if cut and not cut.is_small else cut


async def _cut(blocks: Sequence[Block], sizes: PassageSizes, cutter: FileParser, folder: Path) -> Passages:
    """A file's text has mostly been cut where it was read. A note is cut here; a long text elsewhere, where neither its
    length nor what is written in it can stop us."""
    if isinstance(blocks, CutBlocks) and blocks.sizes == sizes:
        return blocks.passages
    beginning = islice(blocks, SHORT_CHARS)  # no block is empty
    if sum(len(block.text) for block in beginning) <= SHORT_CHARS:
        return cut_passages(blocks, sizes)
    return await cutter.cut(blocks, sizes, folder)


def _is_page(file: FetchedFile) -> bool:
    """Whether to compare by text instead of bytes: a page's markup changes at every visit."""
    return file.url is not None and file.media_type in _PAGE_TYPES


def _of_page(error: SourceError, file: FetchedFile) -> SourceError:
    """The same failure worded for a site: its host tells the person more than a file name."""
    host = urlsplit(file.url or "").hostname
    if error.code in _WALLS:
        return SourceError(error.code, name=host, detail=error.detail)
    code = FailureCode.SITE_WITHOUT_TEXT if file.media_type == SITE_TYPE else FailureCode.PAGE_WITHOUT_TEXT
    return SourceError(code, host=host, detail=error.detail)
