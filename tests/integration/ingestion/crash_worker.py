"""The worker process that the crash tests kill: everything is real but the embedder and the listener, and it can be
told to hang.

Run as `python -m tests.integration.ingestion.crash_worker URL FOLDER STAGE [HOST]`, where HOST ("127.0.0.1:8000") is
the one inside address that links may lead to. Reaching STAGE it writes FOLDER/reached
and waits for its end; with STAGE `none` it works until SIGTERM. What it embeds it adds to FOLDER/embedded.
"""

import asyncio
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from adapters.database.postgres import open_postgres
from adapters.database.stores.work import WorkStore
from adapters.tesseract import TesseractRecognizer, find_tesseract
from domain.ids import DocumentId
from ingestion.chunking.passages import PassageSizes
from ingestion.errors import FailureCode, ServiceError
from ingestion.fetch.download import DownloadLimits
from ingestion.fetch.fetchers import Fetchers, open_downloader
from ingestion.parsers.codec import Listing
from ingestion.parsers.process import ParseProcess
from ingestion.pipeline import IngestionPipeline
from ingestion.ports import Transcript
from ingestion.progress import Progress
from ingestion.reading.pictures import PictureReader
from ingestion.reading.reader import FileReader
from ingestion.records import (
    ClaimedDocument,
    Document,
    FetchedFile,
    IndexedChunk,
    Vector,
    WholeDocument,
    Window,
)
from ingestion.worker import Worker
from tests.fakes.ingestion import FakeEmbedder, WordAnalyzer
from tests.fakes.speech import FakeTranscriber, said

LEASE_S = 60  # of a worker alone: the test ends it with the worker
STORM_LEASE_S = 1  # with a HOST: the next worker waits for its end
WINDOW_TOKENS = 1000
PARSE_S, PARSE_MB = 300, 1024
SPEECH = "Арендатор вносит плату не позднее пятого числа. " * 20
SIZES = PassageSizes(chunk_tokens=100, overlap_tokens=20, window_tokens=WINDOW_TOKENS)
AWAY = "away"  # the file that makes the embedding service not answer
UP = "up"  # the file that says that SIGTERM is heard
FETCHING, PARSING, EMBEDDING, PUBLISHING, NONE = "fetching", "parsing", "embedding", "publishing", "none"


class Fault:
    """Hangs for ever at one stage."""

    def __init__(self, stage: str, folder: Path) -> None:
        self._stage = stage
        self._reached = folder / "reached"

    async def at(self, stage: str) -> None:
        """Say that the stage is reached, and wait to be killed."""
        if stage == self._stage:
            self._reached.touch()
            await asyncio.Event().wait()


class HangingFetchers(Fetchers):
    """Hangs when the file is on disk."""

    def __init__(self, fetchers: Fetchers, fault: Fault) -> None:
        self._fetchers = fetchers
        self._fault = fault

    async def fetch(self, document: ClaimedDocument, folder: Path, progress: Progress) -> FetchedFile:
        """As the real ones."""
        file = await self._fetchers.fetch(document, folder, progress)
        await self._fault.at(FETCHING)
        return file


class HangingParser(ParseProcess):
    """Hangs when the document is parsed."""

    def __init__(self, parser: ParseProcess, fault: Fault) -> None:
        self._parser = parser
        self._fault = fault

    async def parse(self, file: FetchedFile, progress: Progress, sizes: PassageSizes | None = None) -> Document:
        """As the real one."""
        document = await self._parser.parse(file, progress, sizes)
        await self._fault.at(PARSING)
        return document

    async def unpack(self, file: FetchedFile, folder: Path, *, members: int, total_bytes: int) -> Listing:
        """As the real one."""
        return await self._parser.unpack(file, folder, members=members, total_bytes=total_bytes)


class HangingEmbedder(FakeEmbedder):
    """Hangs between batches: the first call is answered, the second is not."""

    def __init__(self, fault: Fault, journal: Path) -> None:
        super().__init__(window_tokens=WINDOW_TOKENS)
        self._fault = fault
        self._journal = journal

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        """Notes the ordinals that were paid for. While FOLDER/away is there the service does not answer."""
        if self._journal.with_name(AWAY).exists():
            raise ServiceError(FailureCode.SERVICE_AWAY, service="Jina", retry_after_s=1)
        if self.windows:
            await self._fault.at(EMBEDDING)
        vectors = await super().embed_windows(windows)
        ordinals = [str(chunk.ordinal) for window in windows for chunk in window.own]
        with self._journal.open("a") as journal:
            journal.write("\n".join(ordinals) + "\n")
        return vectors


class HangingQueue(WorkStore):
    """Hangs before the document is published."""

    fault: Fault

    async def publish(
        self,
        document: ClaimedDocument,
        *,
        chunks: int,
        last: Sequence[IndexedChunk] = (),
        parsed: Document | None = None,
        content_hash: str | None = None,
    ) -> DocumentId | None:
        """As the real one."""
        await self.fault.at(PUBLISHING)
        return await super().publish(document, chunks=chunks, last=last, parsed=parsed, content_hash=content_hash)

    async def publish_together(self, whole: Sequence[WholeDocument]) -> Mapping[DocumentId, bool]:
        """As the real one."""
        await self.fault.at(PUBLISHING)
        return await super().publish_together(whole)


async def _reader(parser: ParseProcess, fault: Fault, stack: AsyncExitStack) -> FileReader:
    """With tesseract where it is installed; what is said in recordings is known."""
    tesseract = find_tesseract(("rus", "eng"))
    recognizer = TesseractRecognizer(tesseract=tesseract, page_s=PARSE_S) if tesseract else None
    if recognizer is not None:
        await stack.enter_async_context(recognizer)
    heard = Transcript(utterances=said((0, 60, SPEECH)), duration_s=60, language="ru", has_picture=False)
    return FileReader(
        parser=HangingParser(parser, fault),
        pictures=PictureReader(parser, recognizer, pages=10, concurrency=1) if recognizer else None,
        recordings=FakeTranscriber(heard),
        sizes=SIZES,
    )


async def work(url: str, folder: Path, stage: str, hosts: frozenset[str]) -> None:
    """Compose a worker as the application does, and run it until SIGTERM."""
    fault = Fault(stage, folder)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    (folder / UP).touch()
    async with AsyncExitStack() as stack:
        queue = HangingQueue(await stack.enter_async_context(open_postgres(url, pool_size=4, timeout_s=20)))
        queue.fault = fault
        limits = DownloadLimits(total_s=60, page_bytes=10**6, file_bytes=10**7)
        parser = await stack.enter_async_context(ParseProcess(timeout_s=PARSE_S, memory_mb=PARSE_MB))
        downloader = await stack.enter_async_context(open_downloader(limits, allow_hosts=hosts))
        pipeline = IngestionPipeline(
            fetchers=HangingFetchers(Fetchers(downloader=downloader), fault),
            reader=await _reader(parser, fault, stack),
            cutter=parser,
            embedder=HangingEmbedder(fault, folder / "embedded"),
            analyzer=WordAnalyzer(),
            queue=queue,
            sizes=SIZES,
            scratch=folder / "scratch",
        )
        lease_s = STORM_LEASE_S if hosts else LEASE_S
        worker = Worker(
            queue=queue,
            pipeline=pipeline,
            name=stage,
            concurrency=1,
            lease_s=lease_s,
            poll_s=0.1,
            attempts=8,
            backoff_s=1,
        )
        await worker.run(stop)


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], Path(sys.argv[2]), sys.argv[3], frozenset(sys.argv[4:])))
