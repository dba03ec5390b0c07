"""What happens at once, step by step: one call has not ended yet when the next one comes."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import psycopg

from adapters.database.postgres import PostgresTransport
from adapters.database.stores import Stores
from domain.ids import BaseId, SessionId
from ingestion.errors import LeaseLost
from rag.records import Exchange
from tests.integration.adapters.database.stores.material import (
    ANNA,
    COUNTED,
    ORPHANS,
    RECOUNTED,
    ask,
    claim_new,
    enqueue,
    hash_of,
    indexed,
    open_base,
    publish,
    read,
)

SESSION = SessionId("5f0c1c5e-0000-4000-8000-000000000001")
MOMENT_S = 0.3  # in which a call that need not wait would long be through


@asynccontextmanager
async def unfinished(url: str, call: str, *arguments: object) -> AsyncIterator[None]:
    """Another session has made this call and commits it only when the context ends."""
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute(call.encode(), arguments)
        yield


async def test_the_second_of_two_twins_waits_for_the_first_and_is_its_duplicate(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores = Stores(postgres_transport)
    base = await open_base(stores)
    twins = [await claim_new(stores, base, name) for name in ("первая", "вторая")]
    for held in twins:
        await stores.work.record_content(held, content_hash=hash_of("слова"))
        await stores.work.add_chunks(held, chunks=[indexed(0, "слова")])
    first, second = twins
    async with unfinished(database_url, "select publish_document(%s, %s, 1)", first.id, first.lease):
        publication = asyncio.create_task(stores.work.publish(second, chunks=1))
        done, _ = await asyncio.wait([publication], timeout=MOMENT_S)
        assert not done
    assert await publication == first.id


async def test_the_second_of_two_exchanges_waits_for_the_first(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores = Stores(postgres_transport)
    base = await open_base(stores)
    said = Exchange(question="Второй?", answer="Второй.")
    call = "select insert_and_trim_pairs(%s, %s, %s, 'Первый?', 'Первый.')"
    async with unfinished(database_url, call, ANNA, SESSION, base):
        append = asyncio.create_task(_append(stores, base, said))
        done, _ = await asyncio.wait([append], timeout=MOMENT_S)
        assert not done
    await append
    assert list((await stores.dialogue.recollect(ANNA, SESSION, pairs=15, terms=(), recalled=0)).window) == [said]


async def test_a_document_that_is_being_claimed_is_passed_over(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores = Stores(postgres_transport)
    base = await open_base(stores)
    (first,), (second,) = await enqueue(stores, base, "первая"), await enqueue(stores, base, "вторая")
    async with unfinished(database_url, "select claim_documents('another', 60, array[%s])", first):
        async with asyncio.timeout(30):
            claimed = await stores.work.claim(worker="a worker", lease_s=60)
    assert [each.id for each in claimed] == [second]


async def test_a_clean_base_waits_for_the_publication_under_way(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores = Stores(postgres_transport)
    base = await open_base(stores)
    await publish(stores, base, "первые слова")
    held = await claim_new(stores, base)
    await stores.work.add_chunks(held, chunks=[indexed(0, "слова")])
    async with unfinished(database_url, "select publish_document(%s, %s, 1)", held.id, held.lease):
        clean = asyncio.create_task(stores.library.clean_base(base))
        await asyncio.wait([clean], timeout=MOMENT_S)
    assert (await clean).chunks == 2
    assert ask(database_url, COUNTED) == [(0, 0)]


async def test_workers_and_people_at_once_never_lock_each_other_out(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores = Stores(postgres_transport)
    rounds = (read_until_removed(stores, number) for number in range(6))
    await asyncio.gather(*rounds, *(clean_now_and_then(stores, seed) for seed in range(2)))
    assert ask(database_url, COUNTED) == ask(database_url, RECOUNTED)
    assert ask(database_url, ORPHANS) == [(0,)]


async def read_until_removed(stores: Stores, reader: int) -> None:
    base = await open_base(stores)
    for turn in range(6):
        (document,) = await enqueue(stores, base, f"{reader} {turn}")
        held = await stores.work.claim(worker=str(reader), lease_s=60, only=[document])
        if not held:
            continue  # removed before it was read
        with suppress(LeaseLost):
            await read(stores, held[0], f"слово {reader} {turn}", "и ещё одно")
        if turn % 2:
            await stores.library.delete(base, document)


async def clean_now_and_then(stores: Stores, seed: int) -> None:
    base = await open_base(stores)
    pauses = random.Random(seed)
    for _ in range(5):
        await asyncio.sleep(pauses.uniform(0, 0.1))
        await stores.library.clean_base(base)


async def _append(stores: Stores, base: BaseId, said: Exchange) -> None:
    await stores.dialogue.append(ANNA, SESSION, base=base, exchange=said, question_terms=(), answer_terms=(), keep=2)
