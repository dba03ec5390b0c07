"""Moving a base to another model: searched all the time, resumed where it was cut short."""

import asyncio
from collections.abc import Sequence

import pytest

from adapters.database.stores import Stores
from adapters.database.stores.search import NextVectorStore
from adapters.database.transport import Transport
from domain.ids import BaseId, UserId
from ingestion.errors import FailureCode, ServiceError
from ingestion.indexing import Reindexer
from ingestion.records import Vector, Window
from rag.records import Candidate, SearchQuery
from tests.integration.adapters.database.stores.material import EAST, MODEL, NORTH, ask, open_base, publish

NEW = "another-model"
TEXTS = [f"слово номер{number} " + "и ещё много слов " * 20 for number in range(12)]


class EastEmbedder:
    """Another model: everything lies to the east. Fails at the call after `calls`."""

    window_tokens = 200

    def __init__(self, calls: int = 1000, model: str = NEW) -> None:
        self.left = calls
        self.model = model
        self.embedded: list[str] = []

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        await asyncio.sleep(0.01)
        if self.left == 0:
            raise ServiceError(FailureCode.SERVICE_AWAY)
        self.left -= 1
        self.embedded += [chunk.text for window in windows for chunk in window.own]
        return [[EAST for _ in window.own] for window in windows]


async def by_vector(stores: Stores, base: BaseId, model: str, vector: Sequence[float]) -> list[Candidate]:
    query = SearchQuery(base_id=base, vector=list(vector), model=model, terms=(), limit=30)
    return await stores.search.search(query)


async def move(transport: Transport, embedder: EastEmbedder) -> None:
    reindexer = Reindexer(NextVectorStore(transport), embedder)
    for base in await reindexer.store.outdated_bases(embedder.model, name=None):
        await reindexer.move(base, lambda _: None)


async def test_searching_finds_everything_at_every_moment(transport: Transport) -> None:
    stores = Stores(transport)
    base = await open_base(stores)
    for number in range(4):
        await publish(stores, base, *(f"{number} {text}" for text in TEXTS[:5]), name=f"{number}")
    moving = asyncio.create_task(move(transport, EastEmbedder()))
    seen: list[tuple[int, int, int]] = []
    while not moving.done() or not seen:
        words = SearchQuery(base_id=base, vector=NORTH, model=MODEL, terms=("слово",), limit=30)
        found = await stores.search.search(words)
        old = sum(one.similarity is not None for one in found)
        seen.append((len(found), old, len(await by_vector(stores, base, NEW, EAST))))
    await moving
    assert {found for found, _, _ in seen} == {20}
    assert {old for _, old, _ in seen} <= {0, 20}  # all at once
    assert {new for _, _, new in seen} <= {0, 20}
    assert len(await by_vector(stores, base, NEW, EAST)) == 20


async def test_what_was_cut_short_goes_on_where_it_was(transport: Transport) -> None:
    stores = Stores(transport)
    base = await open_base(stores)
    await publish(stores, base, *TEXTS)
    first, second = EastEmbedder(calls=1), EastEmbedder()
    with pytest.raises(ServiceError):
        await move(transport, first)
    assert len(await by_vector(stores, base, MODEL, NORTH)) == len(TEXTS)
    await move(transport, second)
    assert sorted(first.embedded + second.embedded) == sorted(TEXTS)
    assert len(await by_vector(stores, base, NEW, EAST)) == len(TEXTS)


async def test_what_the_old_model_read_meanwhile_is_moved_too(transport: Transport) -> None:
    stores = Stores(transport)
    base = await open_base(stores)
    await publish(stores, base, "было раньше", name="раньше")

    class Interrupted(EastEmbedder):
        async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
            if not self.embedded:
                await publish(stores, base, "пришло потом", name="потом")
            return await super().embed_windows(windows)

    embedder = Interrupted()
    await move(transport, embedder)
    assert sorted(embedder.embedded) == ["было раньше", "пришло потом"]
    assert len(await by_vector(stores, base, NEW, EAST)) == 2


async def test_one_base_is_moved_and_no_other(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    mine, other = await open_base(stores), await open_base(stores, UserId(202))
    await publish(stores, mine, "моё")
    await publish(stores, other, "чужое")
    reindexer = Reindexer(NextVectorStore(transport), EastEmbedder())
    [base] = [each for each in await reindexer.store.outdated_bases(NEW, name=None) if each.id == mine]
    await reindexer.move(base, lambda _: None)
    assert ask(database_url, "select text, model from documents_chunks order by text") == [
        ("моё", NEW),
        ("чужое", MODEL),
    ]
    assert ask(database_url, "select count(*) from next_vectors") == [(0,)]
