"""Embeds the windows of a document, stores chunks with vectors and terms in batches, moves bases to another model.

In: the passages of one document; bases whose passages another model embedded. Out: `WorkQueue.add_chunks` calls, or the
chunks of a document that is small enough to be stored together with its publication; the same passages with vectors of
this embedder, while the old ones are still searched. Of a large document, chunks that an earlier attempt stored with
the same text and model are not embedded again. It publishes nothing. A base switches over at one moment, once no vector
is missing; an interrupted run resumes from what is stored. Pure work is computed in a thread where it is long, and one
piece ahead of its consumer.
"""

import asyncio
import hashlib
import re
from collections import Counter
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import PurePath
from typing import Protocol, TypeVar

from domain.documents import DocumentStatus, SourceType, known_as
from domain.ids import BaseId, ChunkId, DocumentId
from ingestion.chunking.passages import Passages
from ingestion.chunking.windows import split_into_windows, split_window
from ingestion.errors import WindowTooLarge
from ingestion.ports import Embedder, TermAnalyzer, WorkQueue
from ingestion.progress import Progress
from ingestion.records import Chunk, ClaimedDocument, Document, IndexedChunk, NameLine, Source, Vector, Window

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


class Indexer:
    """Embeds, analyses and stores the chunks of a document."""

    def __init__(self, *, embedder: Embedder, analyzer: TermAnalyzer, queue: WorkQueue) -> None:
        self._embedder = embedder
        self._analyzer = analyzer
        self._queue = queue

    def with_names(self, parsed: Document, source: Source) -> Document:
        """The document with the names that its passages are found by: a person may ask for a file by its file name.

        The title comes first and the file name last.
        """
        is_file = source.type in (SourceType.FILE, SourceType.PATH)
        shown = known_as(source.type, parsed.title, source.identifier)
        stem = PurePath(shown).stem if is_file else parsed.title
        opening = " ".join(block.text for block in islice(parsed.blocks, OPENING_BLOCKS))[:OPENING_CHARS]
        names = dict.fromkeys((parsed.title, *spelled_out(stem, opening), stem))
        lines = (NameLine(text=name, terms=count_terms(self._analyzer, name)) for name in names if name)
        return replace(parsed, names=tuple(lines))

    async def index_together(
        self, documents: Sequence[tuple[Source, Document, Passages]]
    ) -> list[tuple[Document, list[IndexedChunk]]]:
        """Of small documents each with its names, and all its indexed chunks, for the caller to store. Raises
        ServiceError."""
        windows = [[passages.window(place) for place in passages.windows] for _, _, passages in documents]
        every = [window for own in windows for window in own]
        embedded = iter([vectors for group in in_groups(every) for vectors in await embed(self._embedder, group)])
        vectors = [[vector for _ in own for vector in next(embedded)] for own in windows]

        def combine() -> list[tuple[Document, list[IndexedChunk]]]:
            named = [self.with_names(parsed, source) for source, parsed, _ in documents]
            return [
                (parsed, self._combine(list(passages.chunks), own, [name.text for name in parsed.names]))
                for parsed, (_, _, passages), own in zip(named, documents, vectors, strict=True)
            ]

        return await compute(combine, characters=sum(len(chunk.text) for window in every for chunk in window.own))

    async def index(
        self,
        document: ClaimedDocument,
        passages: Passages,
        progress: Progress,
        *,
        names: Sequence[NameLine],
        stored: int,
    ) -> None:
        """Index and store every passage; `names` are document names by which each can be found too.

        `stored` is how many chunks earlier attempts have left. Raises ServiceError, LeaseLost, DatabaseAway.
        """
        chunks = passages.chunks
        kept = await self._keep(document, chunks) if stored else ()
        missing = [place for place in passages.windows if not all(own in kept for own in range(place.own, place.end))]
        done = len(chunks) - sum(place.end - place.own for place in missing)
        made = (self._index([passages.window(place) for place in group], names) for group in in_groups(missing))
        async with aclosing(one_ahead(made)) as groups:
            async for indexed in groups:
                done += await self._store(document, indexed)
                await progress.report(DocumentStatus.EMBEDDING, done=done, total=len(chunks))

    async def _keep(self, document: ClaimedDocument, chunks: Sequence[Chunk]) -> Collection[int]:
        """Ordinals of stored chunks that need not be embedded again."""
        digests = await asyncio.to_thread(lambda: [_md5(chunk.text) for chunk in chunks])
        return await self._queue.keep_chunks(document, model=self._embedder.model, digests=digests)

    async def _index(self, windows: Sequence[Window], names: Sequence[NameLine]) -> list[IndexedChunk]:
        vectors = [vector for own in await embed(self._embedder, windows) for vector in own]
        chunks = [chunk for window in windows for chunk in window.own]
        characters = sum(len(chunk.text) for chunk in chunks)
        return await compute(
            lambda: self._combine(chunks, vectors, [name.text for name in names]), characters=characters
        )

    async def _store(self, document: ClaimedDocument, indexed: Sequence[IndexedChunk]) -> int:
        for first in range(0, len(indexed), CHUNKS_A_CALL):
            await self._queue.add_chunks(document, chunks=indexed[first : first + CHUNKS_A_CALL])
        return len(indexed)

    def _combine(self, chunks: Sequence[Chunk], vectors: Sequence[Vector], names: Sequence[str]) -> list[IndexedChunk]:
        counted = cache(lambda above: count_terms(self._analyzer, above))  # neighbouring chunks share headings
        return [self._indexed(chunk, vector, names, counted) for chunk, vector in zip(chunks, vectors, strict=True)]

    def _indexed(
        self, chunk: Chunk, vector: Vector, names: Sequence[str], counted: Callable[[str], Mapping[str, int]]
    ) -> IndexedChunk:
        # A question names the document or its section («договор аренды») more often than the passage itself does.
        above = [line for line in (*names, *chunk.locator.headings) if line not in chunk.text]
        terms = self._analyzer.terms(chunk.text)
        return IndexedChunk(
            chunk=chunk,
            terms=Counter(terms),
            length=length_of(self._analyzer, chunk.text, terms),
            vector=vector,
            model=self._embedder.model,
            titled=counted("\n".join(dict.fromkeys(above))),
        )


def length_of(analyzer: TermAnalyzer, text: str, terms: Sequence[str]) -> int:
    """Of a text with these terms, without the numbers of its tables: they would thin out the words beside them."""
    return len(terms) - len(analyzer.terms("\n".join(_NUMBER_CELL.findall(text))))


def count_terms(analyzer: TermAnalyzer, text: str) -> Counter[str]:
    """Lexical term -> how often it occurs in the text."""
    return Counter(analyzer.terms(text))


def spelled_out(name: str, opening: str) -> list[str]:
    """What a file name writes in one word and the opening of its text in several: "American Express" of
    `AMERICANEXPRESS_2022_10K`, in small letters."""
    joined = set(_LETTERS.findall(name.casefold()))
    words = _LETTERS.findall(opening.casefold())
    runs = (words[at : at + size] for size in range(2, LONGEST_NAME + 1) for at in range(len(words) - size + 1))
    return list(dict.fromkeys(" ".join(run) for run in runs if "".join(run) in joined))


async def embed(embedder: Embedder, windows: Sequence[Window]) -> list[list[Vector]]:
    """For each window the vectors of its own chunks; windows that the embedder finds too large are split.

    Raises ServiceError; WindowTooLarge when even a single chunk is refused.
    """
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


def _md5(text: str) -> str:
    """The same as PostgreSQL's `md5(text)`; it compares texts and is no security measure."""
    return hashlib.md5(text.encode(errors="replace"), usedforsecurity=False).hexdigest()


async def compute(work: Callable[[], T], *, characters: int) -> T:
    """The result of `work`, which is pure and takes time in proportion to `characters`."""
    return work() if characters <= SHORT_CHARS else await asyncio.to_thread(work)


async def one_ahead(works: Iterable[Coroutine[None, None, T]]) -> AsyncGenerator[T, None]:
    """The results in order. While the consumer uses one, the next is being computed, and no more than that.

    Raises what the works raise. Close the generator (`aclosing`) to cancel the work it has started.
    """
    waiting = iter(works)
    begun = _begin(waiting)
    try:
        while begun is not None:
            made = await begun
            begun = _begin(waiting)
            yield made
    finally:
        if begun is not None:
            begun.cancel()
            await asyncio.gather(begun, return_exceptions=True)


def _begin(waiting: Iterator[Coroutine[None, None, T]]) -> asyncio.Task[T] | None:
    work = next(waiting, None)
    return None if work is None else asyncio.create_task(work)


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
        ...

    async def outdated_documents(self, base: BaseId, model: str) -> list[DocumentId]:
        """Ready documents with passages without a vector of `model`, at most a few hundred; empty when none is left."""
        ...

    async def chunks(self, base: BaseId, document: DocumentId, model: str) -> list[StoredChunk]:
        """All chunks of a document, in order."""
        ...

    async def store(self, base: BaseId, model: str, vectors: Sequence[tuple[ChunkId, Vector]]) -> None:
        """Store vectors beside the old ones; those of passages that are gone are dropped."""
        ...

    async def switch(self, base: BaseId, model: str) -> bool:
        """Switch the base over in one transaction; False, changing nothing, when vectors are missing."""
        ...


class Reindexer:
    """Embeds existing passages with another model."""

    def __init__(self, store: VectorStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    async def outdated(self, name: str | None = None) -> list[OutdatedBase]:
        """Bases to move. Raises DatabaseAway."""
        return await self._store.outdated_bases(self._embedder.model, name=name)

    async def move(self, base: OutdatedBase, report: Callable[[int], None]) -> None:
        """Move one base; `report` gets, now and then, how many of its passages have a vector of the model.

        Documents that become ready meanwhile are moved too, so the number may exceed what the base had. Raises
        ServiceError, WindowTooLarge, DatabaseAway.
        """
        done = base.passages - base.waiting
        report(done)
        while not await self._store.switch(base.id, self._embedder.model):
            for document in await self._store.outdated_documents(base.id, self._embedder.model):
                async for embedded in self._embed_document(base.id, document):
                    done += embedded
                    report(done)

    async def _embed_document(self, base: BaseId, document: DocumentId) -> AsyncIterator[int]:
        """Embed in the same windows as ingestion would cut, so that the vectors are those of a document read anew.

        Yields how many passages each store call added.
        """
        model = self._embedder.model
        stored = await self._store.chunks(base, document, model)
        waiting = {each.chunk.ordinal: each.id for each in stored if not each.embedded}
        windows = split_into_windows([each.chunk for each in stored], window_tokens=self._embedder.window_tokens)
        for group in in_groups([window for window in windows if any(chunk.ordinal in waiting for chunk in window.own)]):
            vectors = [vector for own in await embed(self._embedder, group) for vector in own]
            chunks = [chunk for window in group for chunk in window.own]
            made = [
                (waiting[chunk.ordinal], vector)
                for chunk, vector in zip(chunks, vectors, strict=True)
                if chunk.ordinal in waiting
            ]
            await self._store.store(base, model, made)
            yield len(made)
