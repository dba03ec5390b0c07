"""How fast files become searchable, over the whole path into an embedded PostgreSQL, and which stage takes the time.

In: files (`python -m benchmarks.ingestion ../shared/data/pdf/*.pdf`). Out: pages, MB and passages a second, seconds of
each stage, peak memory of the worker and of the largest parsing process. One document at a time, so that the stages
add up; the rest of the time needs no parser, model or database (chunking, terms).
"""

import argparse
import asyncio
import os
import resource
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from adapters.database.stores import Stores
from adapters.database.transport import Argument, Row, Transport
from adapters.lexical import RussianEnglishAnalyzer
from benchmarks.hashed import OfflineEmbedder
from bot.app import open_transport
from bot.home import configure_logging
from bot.settings import Settings
from domain.documents import DocumentCard, SourceType
from domain.ids import BaseId, UserId
from ingestion.chunking.passages import Passages, PassageSizes
from ingestion.errors import SourceError
from ingestion.fetch.download import DownloadLimits
from ingestion.fetch.fetchers import Fetchers, open_downloader
from ingestion.parsers.codec import Listing
from ingestion.parsers.process import FileParser, ParseProcess
from ingestion.pipeline import IngestionPipeline
from ingestion.progress import Progress
from ingestion.reading.reader import FileReader
from ingestion.records import Batch, Block, ClaimedDocument, Document, FetchedFile, Source, Vector, Window

STAGES = ("fetch", "parse", "cut", "embed", "store")
MEGABYTE = 1e6
KILOBYTES_A_MEGABYTE = 1024  # of ru_maxrss


@dataclass(frozen=True, kw_only=True)
class Clock:
    """Seconds spent in each stage."""

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time until the end of the block."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - began


@dataclass(frozen=True, kw_only=True)
class TimedTransport:
    """Meets `adapters.database.transport.Transport`."""

    inner: Transport
    clock: Clock

    async def call(self, function: str, *, timeout_s: float | None = None, **arguments: Argument) -> list[Row]:
        """As the real one."""
        with self.clock.stage("store"):
            return await self.inner.call(function, timeout_s=timeout_s, **arguments)


@dataclass(frozen=True, kw_only=True)
class TimedFetchers(Fetchers):
    """Passed through."""

    clock: Clock

    async def fetch(self, document: ClaimedDocument, folder: Path, progress: Progress) -> FetchedFile:
        """As the real ones."""
        with self.clock.stage("fetch"):
            return await super().fetch(document, folder, progress)


@dataclass(frozen=True, kw_only=True)
class TimedParser(ParseProcess):
    """Passed through."""

    inner: ParseProcess
    clock: Clock

    async def parse(self, file: FetchedFile, progress: Progress, sizes: PassageSizes | None = None) -> Document:
        """As the real one."""
        with self.clock.stage("parse"):
            return await self.inner.parse(file, progress, sizes)

    async def unpack(self, file: FetchedFile, folder: Path, *, members: int, total_bytes: int) -> Listing:
        """As the real one."""
        return await self.inner.unpack(file, folder, members=members, total_bytes=total_bytes)


@dataclass(frozen=True, kw_only=True)
class TimedCutter(ParseProcess):
    """Passed through."""

    inner: ParseProcess
    clock: Clock

    async def cut(self, blocks: Sequence[Block], sizes: PassageSizes, folder: Path) -> Passages:
        """As the real one."""
        with self.clock.stage("cut"):
            return await self.inner.cut(blocks, sizes, folder)

    @asynccontextmanager
    async def shared(self, folder: Path) -> AsyncIterator[FileParser]:
        """Not timed: a document that is asked for by itself does without it."""
        async with self.inner.shared(folder) as parser:
            yield parser


@dataclass(frozen=True, kw_only=True)
class TimedEmbedder:
    """Meets `ingestion.ports.Embedder`."""

    inner: OfflineEmbedder
    clock: Clock

    @property
    def model(self) -> str:
        """As the real one."""
        return self.inner.model

    @property
    def window_tokens(self) -> int:
        """As the real one."""
        return self.inner.window_tokens

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        """As the real one."""
        with self.clock.stage("embed"):
            return await self.inner.embed_windows(windows)


@dataclass(frozen=True, kw_only=True)
class Total:
    """What was read."""

    cards: Sequence[DocumentCard]
    size_bytes: int
    seconds: float


async def ingest(settings: Settings, files: Sequence[Path], clock: Clock) -> Total:
    """Every file into one new base, in turn."""
    worker = settings.worker
    analyzer = RussianEnglishAnalyzer()
    embedder = OfflineEmbedder(analyzer)
    sizes = PassageSizes(
        chunk_tokens=worker.chunk_tokens, overlap_tokens=worker.overlap_tokens, window_tokens=embedder.window_tokens
    )
    limits = DownloadLimits(
        total_s=worker.fetch_s, page_bytes=worker.page_mb * 2**20, file_bytes=worker.file_mb * 2**20
    )
    async with (
        open_transport(settings) as transport,
        open_downloader(limits) as downloader,
        ParseProcess(timeout_s=worker.parse_s, memory_mb=worker.parse_mb) as parser,
    ):
        stores = Stores(TimedTransport(inner=transport, clock=clock))
        pipeline = IngestionPipeline(
            fetchers=TimedFetchers(downloader=downloader, clock=clock),
            reader=FileReader(
                parser=TimedParser(inner=parser, clock=clock), pictures=None, recordings=None, sizes=sizes
            ),
            cutter=TimedCutter(inner=parser, clock=clock),
            embedder=TimedEmbedder(inner=embedder, clock=clock),
            analyzer=analyzer,
            queue=stores.work,
            sizes=sizes,
            scratch=settings.home / "scratch",
        )
        base = await stores.people.open_named_base("benchmark")
        clock.seconds.clear()
        began = time.perf_counter()
        for file in files:
            await _ingest_one(stores, pipeline, base, file)
        seconds = time.perf_counter() - began
        cards = await stores.library.documents(base, limit=len(files))
    return Total(cards=cards, size_bytes=sum(file.stat().st_size for file in files), seconds=seconds)


async def _ingest_one(stores: Stores, pipeline: IngestionPipeline, base: BaseId, file: Path) -> None:
    source = Source(type=SourceType.PATH, identifier=str(file), title=file.name)
    (enqueued,) = await stores.intake.enqueue(Batch(base_id=base, user_id=UserId(0), sources=(source,)), hold_s=60)
    (document,) = await stores.work.claim(worker="benchmark", lease_s=3600, only=[enqueued.id])
    try:
        await pipeline.run(document)
    except SourceError as error:
        print(f"not read: {file.name}: {error.code}")
        await stores.work.fail(document, failure=error.failure)


def report(total: Total, clock: Clock) -> None:
    """Print the table."""
    pages = sum(card.pages or 0 for card in total.cards)
    passages = sum(card.chunks for card in total.cards)
    megabytes = total.size_bytes / MEGABYTE
    print(
        f"{len(total.cards)} documents, {pages} pages, {megabytes:.1f} MB, {passages} passages: {total.seconds:.1f} s"
    )
    print(
        f"{pages / total.seconds:.1f} pages/s, {megabytes / total.seconds:.2f} MB/s, "
        f"{passages / total.seconds:.0f} passages/s"
    )
    stages = {name: clock.seconds[name] for name in STAGES}
    stages["chunk, terms"] = total.seconds - sum(stages.values())
    for name, seconds in stages.items():
        print(f"{name:13} {seconds:7.2f} s {seconds / total.seconds:6.0%}")
    worker_mb, parsing_mb = _peak_mb(resource.RUSAGE_SELF), _peak_mb(resource.RUSAGE_CHILDREN)
    print(f"peak memory: worker {worker_mb:.0f} MB, parsing {parsing_mb:.0f} MB")
    print(f"user time: worker {resource.getrusage(resource.RUSAGE_SELF).ru_utime:.1f} s, load {os.getloadavg()[0]:.1f}")


def _peak_mb(who: int) -> float:
    return resource.getrusage(who).ru_maxrss / KILOBYTES_A_MEGABYTE


def main() -> None:
    """Read the files given, in a throw-away folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    files: list[Path] = [file.absolute() for file in parser.parse_args().files]
    clock = Clock()
    with tempfile.TemporaryDirectory(prefix="baza-benchmark-") as folder:
        settings = Settings.read({"BAZA_HOME": folder})
        configure_logging(settings.home / "log", level="WARNING", style="text", destination="file")
        report(asyncio.run(ingest(settings, files, clock)), clock)


if __name__ == "__main__":
    main()
