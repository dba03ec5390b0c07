"""What models have read out of documents: of its base alone, bounded, and gone with the documents it is of."""

import psycopg
import pytest

from adapters.database.postgres import PostgresTransport
from adapters.database.stores import Stores
from domain.ids import BaseId, DocumentId
from rag.records import KeptReading
from tests.integration.adapters.database.stores.material import open_base, publish

ASKED = "сколько договоров"


def reading(*documents: DocumentId, key: str = "часть 1", content: str = '{"rows": []}') -> KeptReading:
    return KeptReading(key=key, documents=documents, content=content)


async def kept(stores: Stores, base: BaseId) -> list[KeptReading]:
    return await stores.kept_readings.recall(base, ASKED)


async def test_replies_come_back_in_the_order_in_which_they_were_kept(stores: Stores) -> None:
    base = await open_base(stores)
    one, other = await publish(stores, base, "Аренда"), await publish(stores, base, "Поставка")
    first, second = reading(one), reading(one, other, key="часть 2")
    for each in (first, second):
        await stores.kept_readings.keep(base, ASKED, each)
    assert await kept(stores, base) == [first, second]
    assert await stores.kept_readings.recall(base, "что-то другое") == []


async def test_what_is_read_anew_takes_the_place_of_what_was_kept(stores: Stores) -> None:
    base = await open_base(stores)
    document = await publish(stores, base, "Аренда")
    for content in ("раньше", "теперь"):
        await stores.kept_readings.keep(base, ASKED, reading(document, content=content))
    assert [each.content for each in await kept(stores, base)] == ["теперь"]


async def test_another_base_neither_has_it_nor_keeps_what_was_read_here(stores: Stores) -> None:
    base = await open_base(stores)
    document = await publish(stores, base, "Аренда")
    await stores.kept_readings.keep(base, ASKED, reading(document))
    other = await stores.people.open_named_base("other")
    await stores.kept_readings.keep(other, ASKED, reading(document))
    assert await kept(stores, other) == []


@pytest.mark.over_rest
async def test_it_goes_with_any_document_whose_words_it_holds(stores: Stores) -> None:
    base = await open_base(stores)
    one, other = await publish(stores, base, "Аренда"), await publish(stores, base, "Поставка")
    await stores.kept_readings.keep(base, ASKED, reading(one))
    await stores.kept_readings.keep(base, ASKED, reading(one, other, key="часть 2"))
    assert await stores.library.delete(base, other)
    assert [each.key for each in await kept(stores, base)] == ["часть 1"]
    await stores.library.clean_base(base)
    assert await kept(stores, base) == []


async def test_nothing_is_kept_of_a_document_that_is_gone_meanwhile(stores: Stores) -> None:
    base = await open_base(stores)
    document = await publish(stores, base, "Аренда")
    await stores.library.delete(base, document)
    await stores.kept_readings.keep(base, ASKED, reading(document))
    assert await kept(stores, base) == []


async def test_what_is_a_month_old_is_read_anew(postgres_transport: PostgresTransport, database_url: str) -> None:
    stores = Stores(postgres_transport)
    base = await open_base(stores)
    await stores.kept_readings.keep(base, ASKED, reading(await publish(stores, base, "Аренда")))
    for days, is_known in ((29, True), (31, False)):
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute("update kept_readings set kept_at = now() - make_interval(days => %s)", [days])
        assert bool(await kept(stores, base)) is is_known


async def test_the_oldest_make_room(postgres_transport: PostgresTransport, database_url: str) -> None:
    stores = Stores(postgres_transport)
    base = await open_base(stores)
    document = await publish(stores, base, "Аренда")
    await stores.kept_readings.keep(base, ASKED, reading(document, content="x" * 70_000))
    assert await kept(stores, base) == []  # too long
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "insert into kept_readings (base_id, request, key, documents, content) "
            "select %s::uuid, 'r', n::text, array[%s::uuid], 'x' from generate_series(1, 2100) n",
            [base, document],
        )
        await stores.kept_readings.keep(base, ASKED, reading(document))
        assert connection.execute("select count(*) from kept_readings").fetchone() == (1950,)
    assert [each.key for each in await kept(stores, base)] == ["часть 1"]
