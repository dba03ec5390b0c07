"""Segments of large bases: what comes after one is made, what leaves, bases without vectors."""

import psycopg
import pytest

from adapters.database.stores import Stores
from adapters.database.stores.search import NextVectorStore, SearchStore
from adapters.database.transport import Transport
from domain.ids import BaseId, DocumentId
from ingestion.indexing import Reindexer
from rag.records import SearchFilter, SearchQuery
from tests.integration.adapters.database.stores.material import EAST, MODEL, NORTH, ask, open_base, publish
from tests.integration.adapters.database.stores.test_functions import set_number
from tests.integration.adapters.database.stores.test_reindexing import EastEmbedder

LIMIT = 20  # passages; more is a large base
MANY_SMALL = (
    "insert into documents (base_id, batch_id, position, user_id, source_type, source_identifier, title, status, "
    "chunks) select d.base_id, d.batch_id, n, 1, 'note', n, n, 'ready', 1 from documents d, generate_series(1, 5000) n",
    "analyze documents",
)
LOOKED_FOR = b"explain (analyze, buffers, format json) select * from baza_internal.vector_segment_wanted()"


@pytest.fixture(autouse=True)
def small_is_large(database_url: str) -> None:
    set_number(database_url, "exact_scan_limit", LIMIT)


async def base_in_segment(stores: Stores, transport: Transport) -> tuple[BaseId, list[DocumentId]]:
    base = await open_base(stores)
    documents = [
        await publish(stores, base, *(f"{number} слово{place}" for place in range(6)), name=f"{number}")
        for number in range(5)
    ]
    assert await SearchStore(transport).ensure_index()
    return base, documents


async def found(stores: Stores, base: BaseId, *, limit: int = 30, only: SearchFilter | None = None) -> set[str]:
    query = SearchQuery(base_id=base, vector=NORTH, model=MODEL, terms=(), limit=limit, only=only)
    return {each.passage.text for each in await stores.search.search(query)}


async def test_what_came_since_is_found_beside_it(transport: Transport) -> None:
    stores = Stores(transport)
    base, _ = await base_in_segment(stores, transport)
    await publish(stores, base, "пришло потом", name="потом")
    assert len(await found(stores, base, limit=31)) == 31


async def test_what_left_since_is_not_found(transport: Transport) -> None:
    stores = Stores(transport)
    base, documents = await base_in_segment(stores, transport)
    await stores.library.delete(base, documents[0])
    assert {text[0] for text in await found(stores, base, limit=24)} == {"1", "2", "3", "4"}


async def test_a_segment_that_is_dropped_while_it_is_searched_is_not_missed(
    transport: Transport, database_url: str
) -> None:
    """A search sees the base as it was when it began, and tables as they are now."""
    stores = Stores(transport)
    base, _ = await base_in_segment(stores, transport)
    ((segment,),) = ask(database_url, "select name from vector_segments")
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f"drop table segments.{segment}".encode())
    assert len(await found(stores, base)) == 30


async def test_documents_of_small_bases_are_not_read_for_segments(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base = await open_base(stores)
    await publish(stores, base, "слова")
    with psycopg.connect(database_url, autocommit=True) as connection:
        for query in MANY_SMALL:
            connection.execute(query.encode())
        plans = [next(connection.execute(LOOKED_FOR))[0][0]["Plan"] for _ in range(2)]
    assert plans[-1]["Shared Hit Blocks"] + plans[-1]["Shared Read Blocks"] < 50


async def test_a_filter_holds_on_the_segment(transport: Transport) -> None:
    stores = Stores(transport)
    base, documents = await base_in_segment(stores, transport)
    for count in (1, 4):
        only = SearchFilter(documents=tuple(documents[:count]))
        assert len(await found(stores, base, limit=count * 6, only=only)) == count * 6


async def test_a_segment_that_fell_behind_takes_more(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base, _ = await base_in_segment(stores, transport)
    await publish(stores, base, *(f"потом {place}" for place in range(6)), name="потом")
    assert await SearchStore(transport).ensure_index()
    assert ask(database_url, "select passages from vector_segments") == [(36,)]
    assert ask(database_url, "select count(*) from documents where not in_segment") == [(0,)]
    assert len(await found(stores, base, limit=36)) == 36


async def test_what_left_is_taken_from_it(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base, documents = await base_in_segment(stores, transport)
    await stores.library.delete(base, documents[0])
    await publish(stores, base, *(f"потом {place}" for place in range(3)), name="потом")
    await stores.library.delete(base, documents[1])
    assert await SearchStore(transport).ensure_index()
    assert ask(database_url, "select passages from vector_segments") == [(21,)]
    assert not await SearchStore(transport).ensure_index()
    assert len(await found(stores, base, limit=21)) == 21


async def test_those_that_left_take_no_places(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base, documents = await base_in_segment(stores, transport)
    bits = "baza_internal.quantised(c.embedding, s.thresholds)"
    weighed = f"baza_internal.scan_segment(s.base_id, s.name, {bits}, c.embedding, s.model, null, 3, 3)"
    asked = f"select count(*) from vector_segments s, (select embedding from documents_chunks limit 1) c, {weighed}"
    for document in documents[:-1]:
        await stores.library.delete(base, document)
    assert ask(database_url, asked) == [(3,)]


@pytest.mark.over_rest
async def test_what_another_model_embedded_is_found_once_it_is_moved(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base, _ = await base_in_segment(stores, transport)
    await publish(stores, base, *(f"потом {place}" for place in range(6)), name="потом")
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("update documents_chunks set model = 'the one between' where text like 'потом%'")
    assert await SearchStore(transport).ensure_index()  # it passes over what it cannot compare
    reindexer = Reindexer(NextVectorStore(transport), EastEmbedder(model=MODEL))
    for outdated in await reindexer.store.outdated_bases(MODEL, name=None):
        await reindexer.move(outdated, lambda _: None)
    query = SearchQuery(base_id=base, vector=EAST, model=MODEL, terms=(), limit=6)
    assert {each.passage.text[:5] for each in await stores.search.search(query)} == {"потом"}


async def test_in_a_base_that_was_emptied_nothing_is_found(transport: Transport) -> None:
    stores = Stores(transport)
    base, documents = await base_in_segment(stores, transport)
    for document in documents:
        await stores.library.delete(base, document)
    assert await found(stores, base) == set()


async def test_a_large_base_without_vectors_is_left_alone(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base, _ = await base_in_segment(stores, transport)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("update documents_chunks set embedding = null")
        connection.execute("delete from vector_segments")
    assert await SearchStore(transport).ensure_index()
    assert not await SearchStore(transport).ensure_index()
    assert await found(stores, base) == set()


async def test_a_base_that_became_small_has_none(transport: Transport, database_url: str) -> None:
    stores = Stores(transport)
    base, documents = await base_in_segment(stores, transport)
    for document in documents[1:]:
        await stores.library.delete(base, document)
    for _ in range(2):  # the table is left for those who are reading it, until the next time
        await SearchStore(transport).ensure_index()
    tables = "select count(*) from pg_class where relnamespace = 'segments'::regnamespace and relkind = 'r'"
    assert ask(database_url, tables) == [(0,)]
    assert len(await found(stores, base)) == 6
