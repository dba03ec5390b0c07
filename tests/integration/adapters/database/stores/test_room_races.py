"""Two workers and the last room of a base: while one of them makes up its mind the other waits, and is refused."""

import asyncio

import pytest

from adapters.database.postgres import PostgresTransport
from adapters.database.stores import Stores
from adapters.database.stores.work import WorkStore
from ingestion.errors import SourceError
from tests.integration.adapters.database.stores.material import claim_new, find, indexed, open_base, parsed
from tests.integration.adapters.database.stores.test_races import MOMENT_S, unfinished

MOST = 3
PARSED = '{"title": "т", "names": [], "medium": "text", "unread": [], "pages_without_text": [], "blocks": []}'
STORED = f"select store_blocks(%s, %s, '{PARSED}', 2, {MOST})"
PUBLISHED = f"select publish_document(%s, %s, 2, p_base_passages => {MOST})"


async def test_two_that_fit_each_alone_are_not_promised_the_same_room(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores, work = Stores(postgres_transport), WorkStore(postgres_transport, base_passages=MOST)
    base = await open_base(stores)
    first, second = await claim_new(stores, base, "первая"), await claim_new(stores, base, "вторая")
    async with unfinished(database_url, STORED, first.id, first.lease):
        storing = asyncio.create_task(work.store_blocks(second, parsed=parsed("три", "четыре"), chunks=2))
        done, _ = await asyncio.wait([storing], timeout=MOMENT_S)
        assert not done
    with pytest.raises(SourceError, match="base-without-room"):
        await storing


async def test_two_that_are_one_batch_each_do_not_both_come_in(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores, work = Stores(postgres_transport), WorkStore(postgres_transport, base_passages=MOST)
    base = await open_base(stores)
    first, second = await claim_new(stores, base, "первая"), await claim_new(stores, base, "вторая")
    await stores.work.keep_chunks(first, model="", digests=())
    await stores.work.add_chunks(first, chunks=[indexed(0, "раз"), indexed(1, "два")])
    last = [indexed(0, "три"), indexed(1, "четыре")]
    async with unfinished(database_url, PUBLISHED, first.id, first.lease):
        publication = asyncio.create_task(work.publish(second, chunks=2, last=last, parsed=parsed("три", "четыре")))
        done, _ = await asyncio.wait([publication], timeout=MOMENT_S)
        assert not done
    with pytest.raises(SourceError, match="base-without-room"):
        await publication
    assert set(await find(stores, base, "раз два три четыре")) == {"раз", "два"}


async def test_many_workers_at_once_fill_a_base_and_no_more(postgres_transport: PostgresTransport) -> None:
    stores, work = Stores(postgres_transport), WorkStore(postgres_transport, base_passages=7)
    base = await open_base(stores)
    held = [await claim_new(stores, base, f"заметка {number}") for number in range(8)]

    async def work_on(number: int) -> bool:
        texts = [f"слово{number} первое", f"слово{number} второе"]
        document = held[number]
        try:
            await work.store_blocks(document, parsed=parsed(*texts), chunks=2)
            await work.add_chunks(document, chunks=[indexed(0, texts[0])])
            await work.add_chunks(document, chunks=[indexed(1, texts[1])])
            await work.publish(document, chunks=2)
        except SourceError as error:
            await work.fail(document, failure=error.failure)
            return False
        return True

    assert sum(await asyncio.gather(*map(work_on, range(8)))) == 3
    assert len(await find(stores, base, "первое второе")) == 6
