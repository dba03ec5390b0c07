"""Moves bases to another embedding model while the old vectors are still searched.

In: bases whose passages another model embedded. Out: the same passages with vectors of this embedder. A base switches
over at one moment, once no vector is missing. A run that was interrupted at any point resumes from what is stored.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.ids import BaseId, ChunkId, DocumentId
from ingestion.chunking.windows import split_into_windows
from ingestion.indexing import embed, in_groups
from ingestion.ports import Embedder
from ingestion.records import Chunk, Vector


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
