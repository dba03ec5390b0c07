"""Embeds the windows of a document, stores chunks with vectors and terms in batches, moves bases to another model.

In: the passages of one document; bases whose passages another model embedded. Out: `WorkQueue.add_chunks` calls, or the
chunks of a small document, stored with its publication; new vectors beside the old ones, which are searched until a
base switches over at one moment. Pure work that is long is computed in a thread, one piece ahead of its consumer.
"""

import asyncio
import hashlib
import re
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import PurePath
from typing import Protocol, TypeVar

from domain.documents import DocumentStatus, SourceType, known_as
from domain.ending import end
from domain.ids import BaseId, ChunkId, DocumentId
from ingestion.about import hash_note
from ingestion.chunking.passages import Passages, in_windows
from ingestion.chunking.windows import split_window
from ingestion.errors import WindowTooLarge
from ingestion.ports import Embedder, TermAnalyzer, WorkQueue
from ingestion.progress import Progress
from ingestion.records import (
    Chunk,
    ClaimedDocument,
    Document,
    IndexedChunk,
    NameLine,
    Source,
    Vector,
    WholeDocument,
    Window,
)

WINDOWS_AT_ONCE = 4  # per call of the embedder, which may split the call into several requests
OPENING_BLOCKS, OPENING_CHARS = 100, 5000  # where a document gives the full form of what its name joins
LONGEST_NAME = 3  # words
CHUNKS_A_BATCH = 64  # of documents that are stored in one call
CHUNKS_A_CALL = 128  # a group of windows fits; 0.5 MB of vectors of 1024 numbers, 1.2 MB as text over PostgREST
SHORT_CHARS = 5_000
"""A few milliseconds of chunking or analysing; a Telegram message holds 4096. A hop to a thread and back costs about as
much as splitting a note does, so what is short is computed in the event loop."""

_NUMBER_CELL = re.compile(r"\|[ \xa0($€₽£+−–-]*+\d[\d \xa0.,]*+[)% \xa0]*+(?=\|)")  # of a table
_LETTERS = re.compile(r"[^\W\d_]+")

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class CutDocument:
    """A document that has been read and cut."""

    document: ClaimedDocument
    parsed: Document
    passages: Passages

    @property
    def is_small(self) -> bool:
        """It is stored in one call."""
        return len(self.passages.chunks) <= CHUNKS_A_BATCH

    @property
    def note_hash(self) -> str | None:
        """None of a file, whose hash is known sooner."""
        source = self.document.source
        return hash_note(source) if source.type is SourceType.NOTE else None


@dataclass(frozen=True, kw_only=True)
class Indexer:
    """Embeds, analyses and stores the chunks of a document."""

    embedder: Embedder
    analyzer: TermAnalyzer
    queue: WorkQueue

    def with_names(self, parsed: Document, source: Source) -> Document:
        """The document with the names that its passages are found by, the title first and the file name last."""
        is_file = source.type in (SourceType.FILE, SourceType.PATH)
        shown = known_as(source.type, parsed.title, source.identifier)
        stem = PurePath(shown).stem if is_file else parsed.title
        opening = " ".join(block.text for block in islice(parsed.blocks, OPENING_BLOCKS))[:OPENING_CHARS]
        names = dict.fromkeys((parsed.title, *spelled_out(stem, opening), stem))
        lines = (NameLine(text=name, terms=Counter(self.analyzer.terms(name))) for name in names if name)
        return replace(parsed, names=tuple(lines))

    async def analyse(self, cut: CutDocument) -> WholeDocument:
        """A small document with its names and all its chunks, without vectors."""
        chunks = list(cut.passages.chunks)

        def analysed() -> WholeDocument:
            parsed = self.with_names(cut.parsed, cut.document.source)
            indexed = self._analyse(chunks, [name.text for name in parsed.names])
            return WholeDocument(document=cut.document, parsed=parsed, chunks=indexed, content_hash=cut.note_hash)

        return await compute(analysed, characters=sum(len(chunk.text) for chunk in chunks))

    async def embed_together(self, documents: Sequence[tuple[CutDocument, WholeDocument]]) -> list[WholeDocument]:
        """Analysed documents with vectors, for the caller to store. Raises ServiceError."""
        windows = [cut.passages.window(place) for cut, _ in documents for place in cut.passages.windows]
        embedded = [own for group in in_groups(windows) for own in await embed(self.embedder, group)]
        vectors = iter([vector for own in embedded for vector in own])
        return [
            replace(whole, chunks=[replace(chunk, vector=next(vectors)) for chunk in whole.chunks])
            for _, whole in documents
        ]

    async def index(self, cut: CutDocument, progress: Progress, *, stored: int) -> None:
        """Index and store every passage of a document that has its names; `stored` is how many chunks earlier attempts
        have left: those with the same text and model are not embedded again. Raises ServiceError, LeaseLost,
        DatabaseAway."""
        document, passages, names = cut.document, cut.passages, cut.parsed.names
        chunks = passages.chunks
        kept: Collection[int] = ()
        if stored:
            texts = (chunk.text.encode(errors="replace") for chunk in chunks)
            # The same as PostgreSQL's `md5(text)`; it compares texts and is no security measure.
            hashed = (hashlib.md5(text, usedforsecurity=False).hexdigest() for text in texts)
            digests = await asyncio.to_thread(list, hashed)
            kept = await self.queue.keep_chunks(document, model=self.embedder.model, digests=digests)
        missing = [place for place in passages.windows if not all(own in kept for own in range(place.own, place.end))]
        done = len(chunks) - sum(place.end - place.own for place in missing)
        made = (self._index([passages.window(place) for place in group], names) for group in in_groups(missing))
        async with aclosing(one_ahead(made)) as groups:
            async for indexed in groups:
                for first in range(0, len(indexed), CHUNKS_A_CALL):
                    await self.queue.add_chunks(document, chunks=indexed[first : first + CHUNKS_A_CALL])
                done += len(indexed)
                await progress.report(DocumentStatus.EMBEDDING, done=done, total=len(chunks))

    async def _index(self, windows: Sequence[Window], names: Sequence[NameLine]) -> list[IndexedChunk]:
        vectors = [vector for own in await embed(self.embedder, windows) for vector in own]
        chunks = [chunk for window in windows for chunk in window.own]
        named = [name.text for name in names]
        analysed = await compute(
            lambda: self._analyse(chunks, named), characters=sum(len(chunk.text) for chunk in chunks)
        )
        return [replace(chunk, vector=vector) for chunk, vector in zip(analysed, vectors, strict=True)]

    def _analyse(self, chunks: Sequence[Chunk], names: Sequence[str]) -> list[IndexedChunk]:
        counted = cache(lambda above: Counter(self.analyzer.terms(above)))  # neighbouring chunks share headings
        indexed = []
        for chunk in chunks:
            # A question names the document or its section («договор аренды») more often than the passage itself does.
            above = [line for line in (*names, *chunk.locator.headings) if line not in chunk.text]
            terms = self.analyzer.terms(chunk.text)
            indexed.append(
                IndexedChunk(
                    chunk=chunk,
                    terms=Counter(terms),
                    length=length_of(self.analyzer, chunk.text, terms),
                    model=self.embedder.model,
                    titled=counted("\n".join(dict.fromkeys(above))),
                )
            )
        return indexed


def length_of(analyzer: TermAnalyzer, text: str, terms: Sequence[str]) -> int:
    """Of a text with these terms, without the numbers of its tables: they would thin out the words beside them."""
    cells = _NUMBER_CELL.findall(text)
    return len(terms) - len(analyzer.terms("\n".join(cells))) if cells else len(terms)


def spelled_out(name: str, opening: str) -> list[str]:
    """What a file name writes in one word and the opening of its text in several: "American Express" of
    `AMERICANEXPRESS_2022_10K`, in small letters."""
    joined = set(_LETTERS.findall(name.casefold()))
    words = _LETTERS.findall(opening.casefold())
    beginnings = {name[:end] for name in joined for end in range(1, len(name))}
    begun = [at for at, word in enumerate(words) if word in beginnings]
    runs = (words[at : at + size] for size in range(2, LONGEST_NAME + 1) for at in begun if at + size <= len(words))
    return list(dict.fromkeys(" ".join(run) for run in runs if "".join(run) in joined))


async def embed(embedder: Embedder, windows: Sequence[Window]) -> list[list[Vector]]:
    """For each window the vectors of its own chunks; windows that the embedder finds too large are split. Raises
    ServiceError; WindowTooLarge when even a single chunk is refused."""
    try:
        return await embedder.embed_windows(windows)
    except WindowTooLarge:
        if len(windows) > 1:
            return [vectors for window in windows for vectors in await embed(embedder, [window])]
    parts = [vectors for part in split_window(windows[0]) for vectors in await embed(embedder, [part])]
    return [[vector for vectors in parts for vector in vectors]]


def in_groups(windows: Sequence[T]) -> list[Sequence[T]]:
    """Groups of windows of the size that the embedder gets per call."""
    return [windows[first : first + WINDOWS_AT_ONCE] for first in range(0, len(windows), WINDOWS_AT_ONCE)]


async def compute(work: Callable[[], T], *, characters: int) -> T:
    """The result of `work`, which is pure and takes time in proportion to `characters`."""
    return work() if characters <= SHORT_CHARS else await asyncio.to_thread(work)


async def one_ahead(works: Iterable[Coroutine[None, None, T]]) -> AsyncGenerator[T, None]:
    """The results in order. While the consumer uses one, the next is being computed, and no more than that. Raises what
    the works raise. Close the generator (`aclosing`) to cancel the work it has started."""
    begun = map(asyncio.create_task, works)
    ahead = next(begun, None)
    try:
        while ahead is not None:
            made = await ahead
            ahead = next(begun, None)
            yield made
    finally:
        if ahead is not None:
            await end(ahead)


@dataclass(frozen=True, kw_only=True)
class OutdatedBase:
    """A base with passages of another model."""

    id: BaseId
    name: str | None  # of bases that the command line made
    passages: int  # in the whole base
    waiting: int  # passages without a vector of the model; fewer after an interrupted run


@dataclass(frozen=True, kw_only=True)
class StoredChunk:
    """A chunk as the database holds it."""

    id: ChunkId
    chunk: Chunk
    embedded: bool  # the model has a vector for it already


class VectorStore(Protocol):
    """Stores old and new vectors. Calls raise DatabaseAway."""

    async def outdated_bases(self, model: str, *, name: str | None) -> list[OutdatedBase]:
        """Bases with passages of another model, at most a few hundred; `name` asks for one."""

    async def outdated_documents(self, base: BaseId, model: str) -> list[DocumentId]:
        """Ready documents with passages without a vector of `model`, at most a few hundred."""

    async def chunks(self, base: BaseId, document: DocumentId, model: str) -> list[StoredChunk]:
        """All chunks of a document, in order."""

    async def store(self, base: BaseId, model: str, vectors: Sequence[tuple[ChunkId, Vector]]) -> None:
        """Store vectors beside the old ones; those of passages that are gone are dropped."""

    async def switch(self, base: BaseId, model: str) -> bool:
        """Switch the base over in one transaction; False, changing nothing, when vectors are missing."""


@dataclass(frozen=True)
class Reindexer:
    """Embeds existing passages with another model."""

    store: VectorStore
    embedder: Embedder

    async def move(self, base: OutdatedBase, report: Callable[[int], None]) -> None:
        """Move one base; `report` gets, now and then, how many of its passages have a vector of the model: documents
        that become ready meanwhile count too. Raises ServiceError, WindowTooLarge, DatabaseAway."""
        done = base.passages - base.waiting
        report(done)
        while not await self.store.switch(base.id, self.embedder.model):
            for document in await self.store.outdated_documents(base.id, self.embedder.model):
                async for embedded in self._embed_document(base.id, document):
                    done += embedded
                    report(done)

    async def _embed_document(self, base: BaseId, document: DocumentId) -> AsyncIterator[int]:
        """Embed in the same windows as ingestion would; yields how many passages each store call added."""
        model = self.embedder.model
        stored = await self.store.chunks(base, document, model)
        waiting = {each.chunk.ordinal: each.id for each in stored if not each.embedded}
        passages = in_windows([each.chunk for each in stored], window_tokens=self.embedder.window_tokens)
        windows = map(passages.window, passages.windows)
        for group in in_groups([window for window in windows if any(chunk.ordinal in waiting for chunk in window.own)]):
            vectors = [vector for own in await embed(self.embedder, group) for vector in own]
            chunks = [chunk for window in group for chunk in window.own]
            made = [
                (waiting[chunk.ordinal], vector)
                for chunk, vector in zip(chunks, vectors, strict=True)
                if chunk.ordinal in waiting
            ]
            await self.store.store(base, model, made)
            yield len(made)
