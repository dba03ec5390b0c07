"""Shelves of large bases: what comes after one is made, what leaves, where calls are cut off after seconds."""

import psycopg
import pytest

from adapters.database.postgres import open_postgres
from adapters.database.stores.search import SearchStore
from adapters.database.transport import Transport
from domain.ids import BaseId, DocumentId
from rag.records import SearchFilter, SearchQuery
from tests.integration.adapters.database.stores.conftest import DatabaseStores
from tests.integration.adapters.database.stores.material import MODEL, NORTH, ask, open_base, publish

LIMIT = 20  # passages; more is a large base


@pytest.fixture(autouse=True)
def small_is_large(database_url: str) -> None:
    body = f"language sql immutable set search_path = public as 'select {LIMIT}'"
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f"create or replace function exact_scan_limit() returns int {body}".encode())


async def shelved_base(stores: DatabaseStores, transport: Transport) -> tuple[BaseId, list[DocumentId]]:
    base = await open_base(stores)
    documents = [
        await publish(stores, base, *(f"{number} слово{place}" for place in range(6)), name=f"{number}")
        for number in range(5)
    ]
    assert await SearchStore(transport).ensure_index()
    return base, documents


async def found(stores: DatabaseStores, base: BaseId, *, limit: int = 30, only: SearchFilter | None = None) -> set[str]:
    query = SearchQuery(base_id=base, vector=NORTH, model=MODEL, terms=(), limit=limit, only=only)
    return {each.passage.text for each in await stores.search.search(query)}


async def test_what_came_since_is_found_beside_it(transport: Transport) -> None:
    stores = DatabaseStores(transport)
    base, _ = await shelved_base(stores, transport)
    await publish(stores, base, "пришло потом", name="потом")
    assert len(await found(stores, base, limit=31)) == 31


async def test_what_left_since_is_not_found(transport: Transport) -> None:
    stores = DatabaseStores(transport)
    base, documents = await shelved_base(stores, transport)
    await stores.library.delete(base, documents[0])
    assert {text[0] for text in await found(stores, base, limit=24)} == {"1", "2", "3", "4"}


async def test_a_filter_holds_on_the_shelf(transport: Transport) -> None:
    stores = DatabaseStores(transport)
    base, documents = await shelved_base(stores, transport)
    for count in (1, 4):
        only = SearchFilter(documents=tuple(documents[:count]))
        assert len(await found(stores, base, limit=count * 6, only=only)) == count * 6


async def test_a_shelf_that_fell_behind_takes_more(transport: Transport, database_url: str) -> None:
    stores = DatabaseStores(transport)
    base, _ = await shelved_base(stores, transport)
    await publish(stores, base, *(f"потом {place}" for place in range(6)), name="потом")
    assert await SearchStore(transport).ensure_index()
    assert ask(database_url, "select passages from vector_shelves") == [(36,)]
    assert ask(database_url, "select count(*) from documents where not shelved") == [(0,)]
    assert len(await found(stores, base, limit=36)) == 36


async def test_where_calls_are_cut_off_it_is_filled_step_by_step(database_url: str) -> None:
    hurried = f"{database_url}?options=-c%20statement_timeout%3D8s"
    async with open_postgres(hurried, pool_size=2, timeout_s=20) as transport:
        stores = DatabaseStores(transport)
        base, _ = await shelved_base(stores, transport)
        assert ask(database_url, "select passages from vector_shelves") == [(30,)]
        assert len(await found(stores, base)) == 30


async def test_a_base_that_became_small_has_none(transport: Transport, database_url: str) -> None:
    stores = DatabaseStores(transport)
    base, documents = await shelved_base(stores, transport)
    for document in documents[1:]:
        await stores.library.delete(base, document)
    for _ in range(2):  # the table is left for those who are reading it, until the next time
        await SearchStore(transport).ensure_index()
    tables = "select count(*) from pg_class where relnamespace = 'shelves'::regnamespace and relkind = 'r'"
    assert ask(database_url, tables) == [(0,)]
    assert len(await found(stores, base)) == 6
