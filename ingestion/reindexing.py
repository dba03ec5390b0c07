"""Moves bases to another embedding model while they are searched by the one they have.

In: bases whose passages another model embedded. Out: the same passages with vectors of this embedder. A base changes
over in one moment, when none is missing. Cut short at any point, it goes on from what is stored when it is run again.
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
    name: str | None  # of the command line's bases
    passages: int  # all of it
    waiting: int  # that the model has no vector for yet; fewer when it was cut short before


@dataclass(frozen=True, kw_only=True)
class StoredChunk:
    """A chunk as it was cut."""

    id: ChunkId
    chunk: Chunk
    embedded: bool  # the model has a vector for it already


class VectorStore(Protocol):
    """Where old and new vectors lie. Calls raise DatabaseAway."""

    async def outdated_bases(self, model: str, *, name: str | None) -> list[OutdatedBase]:
        """Those with passages of another model, at most a few hundred; `name` asks for one."""
        ...

    async def outdated_documents(self, base: BaseId, model: str) -> list[DocumentId]:
        """Ready ones with passages that `model` has no vector for, at most a few hundred; empty when none is left."""
        ...

    async def chunks(self, base: BaseId, document: DocumentId, model: str) -> list[StoredChunk]:
        """All of a document, in order."""
        ...

    async def store(self, base: BaseId, model: str, vectors: Sequence[tuple[ChunkId, Vector]]) -> None:
        """Lay vectors beside the old ones; for passages that are gone nothing is stored."""
        ...

    async def switch(self, base: BaseId, model: str) -> bool:
        """Change the base over in one transaction; False when vectors are missing, and then nothing is changed."""
        ...


class Reindexer:
    """Embeds what is there anew."""

    def __init__(self, store: VectorStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    async def outdated(self, name: str | None = None) -> list[OutdatedBase]:
        """Bases that are to be moved. Raises DatabaseAway."""
        return await self._store.outdated_bases(self._embedder.model, name=name)

    async def move(self, base: OutdatedBase, report: Callable[[int], None]) -> None:
        """Move one base; `report` is told, now and then, how many of its passages have a vector of the model.

        What becomes ready meanwhile is moved too, so that there may be more of them than the base had. Raises
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
        """In the windows that its reading would cut, so that the vectors are those of a document read anew.

        Yields how many passages were stored, each time that some were.
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
