"""Doubles for ingestion: a resolver, connectors, and the ports of the pipeline and the worker.

In: scripts. Out: what was asked of them, as plain lists. The queue is in `tests.fakes.stores` where a contract counts;
here is the smallest one that shows what a worker did.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count, islice, takewhile
from pathlib import Path, PurePath

import httpcore

from domain.documents import ANY_LANE, DocumentStatus, Lane, SourceType
from domain.ids import BaseId, DocumentId, LeaseId
from ingestion.chunking.passages import Passages, PassageSizes, cut_passages
from ingestion.errors import FailureCode, ServiceError, SourceError, WindowTooLarge
from ingestion.parsers.process import FileParser, ParseProcess
from ingestion.pipeline import IngestionPipeline
from ingestion.ports import Outcome, WorkMeter
from ingestion.progress import Progress
from ingestion.reading.reader import Allowance, FileReader
from ingestion.records import (
    Block,
    BlockKind,
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


class FakeResolver:
    """Answers names from a table, turn by turn, the last turn for ever."""

    def __init__(self, answers: Mapping[str, list[list[str]]], *, otherwise: list[str] | None = None) -> None:
        self._answers = {host: list(turns) for host, turns in answers.items()}
        self._otherwise = otherwise or []
        self.asked: list[str] = []

    def answer(self, host: str, *turns: list[str]) -> None:
        """Script a host."""
        self._answers[host] = list(turns)

    async def __call__(self, host: str, port: int) -> list[str]:
        """The next answer for this host."""
        self.asked.append(host)
        turns = self._answers.get(host)
        if not turns:
            return self._otherwise
        return turns.pop(0) if len(turns) > 1 else turns[0]


class UnreachableConnector(httpcore.AsyncNetworkBackend):
    """Fails the test when anything tries to connect."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Never right."""
        raise AssertionError(f"a connection to {host}:{port} was asked for")


class LoopbackConnector(httpcore.AsyncNetworkBackend):
    """Leads every connection to one port of this machine, and remembers where it was meant to go."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._real = httpcore.AnyIOBackend()
        self.connected: list[str] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the scripted server instead."""
        self.connected.append(f"{host}:{port}")
        return await self._real.connect_tcp("127.0.0.1", self._port, timeout, local_address, socket_options)


BASE = BaseId("b1")


def claimed(source: Source, *, attempt: int = 1, document: str = "d1") -> ClaimedDocument:
    """A document as the queue hands it out."""
    return ClaimedDocument(id=DocumentId(document), base_id=BASE, lease=LeaseId("l1"), attempt=attempt, source=source)


def note(text: str = "Слова заметки.", *, title: str = "Заметка") -> Source:
    """A note, the source that needs nothing from outside."""
    return Source(type=SourceType.NOTE, identifier=title, title=title, text=text)


class FakeQueue:
    """A queue in memory for one worker: what is waiting, and what was done with it."""

    def __init__(self, *waiting: ClaimedDocument) -> None:
        self.waiting = list(waiting)
        self.trouble: list[Exception] = []  # raised by the next calls of `claim` and `renew`, one each
        self.renewals: list[int] = []
        self.given_back: list[DocumentId] = []
        self.reported: list[tuple[DocumentStatus, int, int]] = []
        self.known_hashes: dict[str, DocumentId] = {}
        self.hashes: list[str] = []
        self.sizes: list[int | None] = []
        self.reading: Document | None = None  # that the base holds of any known file
        self.parsed: Document | None = None
        self.expected = 0
        self.chunks: dict[int, IndexedChunk] = {}
        self.batches: list[int] = []
        self.published: list[int] = []
        self.together: list[list[DocumentId]] = []
        self.postponed: list[tuple[str, float]] = []
        self.failed: list[Failure] = []

    async def claim(
        self,
        *,
        worker: str,
        lease_s: int,
        most: int = 1,
        only: Collection[DocumentId] = (),
        lanes: Mapping[Lane, int] = ANY_LANE,
    ) -> list[ClaimedDocument]:
        """The next one with small ones as far as they wait one after the other, or those asked for; a postponed
        document waits at the end."""
        self._stumble()
        claimed = [each for each in self.waiting if each.id in only]
        if not only and (first := next((each for each in self.waiting if each.source.lane in lanes), None)):
            following = self.waiting[self.waiting.index(first) + 1 :]
            small = takewhile(lambda each: self._are_small(first, each), following)
            claimed = [first, *islice(small, most - 1)]
        self.waiting = [each for each in self.waiting if each not in claimed]
        return claimed

    @staticmethod
    def _are_small(*documents: ClaimedDocument) -> bool:
        return len({each.source.lane for each in documents} | {Lane.SMALL}) == 1

    async def renew(self, document: ClaimedDocument, *, lease_s: int) -> None:
        """Remembered."""
        self._stumble()
        self.renewals.append(lease_s)

    async def give_back(self, document: ClaimedDocument) -> None:
        """Back to the end of the queue, no attempt older."""
        self._stumble()
        self.given_back.append(document.id)
        self.waiting.append(document)

    def _stumble(self) -> None:
        if self.trouble:
            raise self.trouble.pop(0)

    async def report(self, document: ClaimedDocument, *, status: DocumentStatus, done: int, total: int) -> None:
        """Remembered."""
        self.reported.append((status, done, total))

    async def record_content(
        self,
        document: ClaimedDocument,
        *,
        content_hash: str,
        size_bytes: int | None = None,
        media_type: str | None = None,
    ) -> DocumentId | None:
        """A duplicate when the hash is known."""
        self.hashes.append(content_hash)
        self.sizes.append(size_bytes)
        return self.known_hashes.get(content_hash)

    async def record_contents(self, contents: Sequence[tuple[ClaimedDocument, FetchedFile]]) -> Collection[DocumentId]:
        """One after the other."""
        return [
            document.id
            for document, file in contents
            if await self.record_content(document, content_hash=file.sha256, size_bytes=file.size_bytes) is None
        ]

    async def become_link(self, document: ClaimedDocument, *, link: Source) -> None:
        """Back into the queue, as a link."""
        self.waiting.append(
            replace(
                document, source=replace(document.source, type=link.type, identifier=link.identifier, lane=link.lane)
            )
        )

    async def known_reading(self, document: ClaimedDocument) -> Document | None:
        """As scripted."""
        return self.reading

    async def store_blocks(self, document: ClaimedDocument, *, parsed: Document, chunks: int) -> int:
        """Remembered."""
        self.parsed, self.expected = parsed, chunks
        return len(self.chunks)

    async def keep_chunks(self, document: ClaimedDocument, *, model: str, digests: Sequence[str]) -> Collection[int]:
        """As PostgreSQL's md5."""
        wanted = {(model, digest, ordinal) for ordinal, digest in enumerate(digests)}
        self.chunks = {
            ordinal: indexed
            for ordinal, indexed in self.chunks.items()
            if (indexed.model, hashlib.md5(indexed.chunk.text.encode()).hexdigest(), ordinal) in wanted
        }
        return set(self.chunks)

    async def add_chunks(self, document: ClaimedDocument, *, chunks: Sequence[IndexedChunk]) -> None:
        """The same ordinal again replaces."""
        self.batches.append(len(chunks))
        self.chunks |= {indexed.chunk.ordinal: indexed for indexed in chunks}

    async def publish(
        self,
        document: ClaimedDocument,
        *,
        chunks: int,
        last: Sequence[IndexedChunk] = (),
        parsed: Document | None = None,
        content_hash: str | None = None,
    ) -> DocumentId | None:
        """Refuses when a chunk is missing, as the database does."""
        stopped = content_hash and await self.record_content(document, content_hash=content_hash)
        if stopped:
            return stopped
        if parsed is not None:
            await self.store_blocks(document, parsed=parsed, chunks=chunks)
        self.chunks |= {indexed.chunk.ordinal: indexed for indexed in last}
        if not all(ordinal in self.chunks for ordinal in range(chunks)):
            raise AssertionError("published with chunks missing")
        self.published.append(chunks)
        return None

    async def publish_together(self, whole: Sequence[WholeDocument]) -> Mapping[DocumentId, bool]:
        """Remembered as one call."""
        self.together.append([each.document.id for each in whole])
        return {each.document.id: each.content_hash not in self.known_hashes for each in whole}

    async def postpone(self, document: ClaimedDocument, *, failure: Failure, delay_s: float) -> None:
        """Back to the end of the queue, one attempt older."""
        self.postponed.append((failure.code, delay_s))
        self.waiting.append(replace(document, attempt=document.attempt + 1))

    async def fail(self, document: ClaimedDocument, *, failure: Failure) -> None:
        """Remembered."""
        self.failed.append(failure)


def progress_of(queue: FakeQueue) -> Progress:
    """Of a document that nobody waits for, told to `queue` without a pause between reports."""
    ticks = count(step=60)
    return Progress(queue, claimed(note()), clock=lambda: float(next(ticks)))


class FakeEmbedder:
    """A vector for each chunk that says its ordinal; windows of more than `most_chunks` are refused."""

    model = "fake"

    def __init__(self, *, window_tokens: int = 1000, most_chunks: int = 1000) -> None:
        self.window_tokens = window_tokens
        self._most_chunks = most_chunks
        self.windows: list[Window] = []
        self.trouble: list[Exception] = []  # raised by the next calls, one each
        self.after_windows: int | None = None  # go away after so many

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        """In order."""
        if self.trouble:
            raise self.trouble.pop(0)
        if any(len(window.chunks) > self._most_chunks for window in windows):
            raise WindowTooLarge
        if self.after_windows is not None and len(self.windows) >= self.after_windows:
            raise ServiceError(FailureCode.SERVICE_AWAY, service="fake")
        self.windows.extend(windows)
        return [[[float(chunk.ordinal)] for chunk in window.own] for window in windows]


_TROUBLE = {
    "БОМБА": FailureCode.FILE_TOO_HEAVY,
    "ОБРЫВ": FailureCode.FILE_DAMAGED,
    "ШИФР": FailureCode.FILE_ENCRYPTED,
    "БИНАР": FailureCode.FILE_UNSUPPORTED,
}


class CutHere(ParseProcess):
    """Cuts texts of any length in this process, and stands for a shared process."""

    def __init__(self) -> None:
        """It has no pool."""

    @asynccontextmanager
    async def shared(self, folder: Path) -> "AsyncIterator[CutHere]":
        """Itself."""
        yield self

    async def parse(self, file: FetchedFile, progress: Progress, sizes: PassageSizes | None = None) -> Document:
        """A paragraph; a file that says one of _TROUBLE's words cannot be read."""
        text = file.path.read_text(encoding="utf-8")
        for word, code in _TROUBLE.items():
            if word in text:
                raise SourceError(code, name=file.name)
        return Document(title=file.name, blocks=(Block(kind=BlockKind.PARAGRAPH, text=text),))

    async def cut(self, blocks: Sequence[Block], sizes: PassageSizes, folder: Path) -> Passages:
        """At once."""
        return cut_passages(blocks, sizes)


class WordAnalyzer:
    """Words in small letters."""

    def terms(self, text: str) -> tuple[str, ...]:
        """Split at white space."""
        return tuple(text.lower().split())


class PlainReader(FileReader):
    """Paragraphs of a UTF-8 file, or the error it was given."""

    def __init__(self, error: Exception | None = None, *, title: str | None = None) -> None:
        self._error = error
        self._title = title
        self.files: list[FetchedFile] = []

    async def read(self, file: FetchedFile, progress: Progress, allowance: Allowance | None = None) -> Document:
        """One block a paragraph."""
        self.files.append(file)
        if self._error is not None:
            raise self._error
        paragraphs = file.path.read_text(encoding="utf-8").split("\n\n")
        blocks = tuple(Block(kind=BlockKind.PARAGRAPH, text=text) for text in paragraphs if text.strip())
        return Document(title=self._title or PurePath(file.name).stem, blocks=blocks)

    async def read_plain(self, file: FetchedFile, progress: Progress, parser: FileParser) -> Document | None:
        """What the parser makes of it; None of a file that says «скан»."""
        return None if "скан" in file.path.read_text(encoding="utf-8") else await parser.parse(file, progress)


class ScriptedPipeline(IngestionPipeline):
    """Ends each run as scripted, the last way for ever: an error is raised, an event waited for, None is success."""

    def __init__(self, *outcomes: Exception | asyncio.Event | None) -> None:
        self._outcomes = list(outcomes)
        self.begun: list[ClaimedDocument] = []
        self.done: list[DocumentId] = []
        self.together: list[list[DocumentId]] = []
        self.smooth: Callable[[DocumentId], bool] = bool  # whether a document can be worked together with others
        self.refused: dict[DocumentId, Failure | None] = {}

    async def run_together(self, documents: Sequence[ClaimedDocument]) -> Mapping[DocumentId, Failure | None]:
        """The smooth ones, and what is in their way."""
        self.together.append([document.id for document in documents])
        smooth = [document.id for document in documents if self.smooth(document.id)]
        return dict.fromkeys(smooth) | self.refused

    async def run(self, document: ClaimedDocument) -> None:
        """One run."""
        self.begun.append(document)
        outcome = self._outcomes.pop(0) if len(self._outcomes) > 1 else self._outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        if outcome is not None:
            await outcome.wait()
        self.done.append(document.id)


class HeardMeter(WorkMeter):
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.stages: list[DocumentStatus] = []
        self.outcomes: list[tuple[str, str]] = []

    def stage_ended(self, status: DocumentStatus, seconds: float) -> None:
        """Remembered."""
        assert seconds >= 0
        self.stages.append(status)

    def document_ended(self, outcome: Outcome, code: str = "") -> None:
        """Remembered."""
        self.outcomes.append((outcome.value, code))
