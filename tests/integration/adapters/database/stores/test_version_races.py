"""Versions and partial documents while others search, choose, publish and remove at the same time."""

import asyncio
import random
from contextlib import suppress
from itertools import count

import psycopg
import pytest

from adapters.database.postgres import PostgresTransport
from adapters.database.stores import Stores
from adapters.database.transport import DatabaseError
from domain.documents import Choice
from domain.ids import BaseId, DocumentId, UserId
from ingestion.errors import LeaseLost
from ingestion.records import ClaimedDocument
from tests.integration.adapters.database.stores.material import (
    COUNTED,
    NORTH,
    ORPHANS,
    RECOUNTED,
    ask,
    batch_of,
    card_of,
    claim,
    claim_new,
    claim_source,
    file,
    find,
    hash_of,
    indexed,
    open_base,
    parsed,
    read,
    read_source,
)
from tests.integration.adapters.database.stores.test_races import MOMENT_S, unfinished

PLAN = file("План.docx")
PASSAGES = 40
CHOICES = tuple(Choice)


async def test_the_second_of_two_namesakes_waits_for_the_first_and_is_asked_about(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores = Stores(postgres_transport)
    base = await open_base(stores)
    first, second = [await claim_source(stores, base, PLAN) for _ in range(2)]
    for held, words in ((first, "один"), (second, "два")):
        await stores.work.record_content(held, content_hash=hash_of(words))
        await stores.work.add_chunks(held, chunks=[indexed(0, words)])
    async with unfinished(database_url, "select publish_document(%s, %s, 1)", first.id, first.lease):
        publication = asyncio.create_task(stores.work.publish(second, chunks=1))
        done, _ = await asyncio.wait([publication], timeout=MOMENT_S)
        assert not done
    assert (await publication) == first.id


async def test_a_publication_never_takes_the_place_of_a_strangers_document(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores = Stores(postgres_transport)
    base, other = await open_base(stores), await open_base(stores, UserId(666))
    theirs, _ = await read_source(stores, other, PLAN, "канарейка")
    held = await claim_source(stores, base, PLAN)
    with psycopg.connect(database_url, autocommit=True) as connection:
        same = "update documents set lineage = (select d.lineage from documents d where d.id = %s) where id = %s"
        connection.execute(same.encode(), (theirs, held.id))
    with pytest.raises(DatabaseError):
        await read(stores, held, "мой план")
    assert list(await find(stores, other, "канарейка")) == ["канарейка"]


async def test_a_question_answered_twice_at_once_has_one_answer(postgres_transport: PostgresTransport) -> None:
    stores = Stores(postgres_transport)
    base = await open_base(stores)
    await read_source(stores, base, PLAN, "старый план")
    new, _ = await read_source(stores, base, PLAN, "новый план")
    answers = [stores.library.choose(base, new, choice) for choice in CHOICES * 3]
    assert sum(await asyncio.gather(*answers)) == 1


async def test_a_wish_to_read_anew_that_comes_twice_at_once_is_one_reading(
    postgres_transport: PostgresTransport,
) -> None:
    stores = Stores(postgres_transport)
    base = await open_base(stores)
    old, _ = await read_source(stores, base, PLAN, "план")
    wishes = (stores.intake.refresh(batch_of(base), old) for _ in range(5))
    readings = {reading.id for reading in await asyncio.gather(*wishes) if reading}
    assert len(readings) == 1


async def test_who_passages_are_stored_for_waits_for_a_twins_publication(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores = Stores(postgres_transport)
    base = await open_base(stores)
    first, second = [await claim_new(stores, base, name) for name in ("первая", "вторая")]
    for held in (first, second):
        await stores.work.record_content(held, content_hash=hash_of("слово"))
        await stores.work.store_blocks(held, parsed=parsed("слово"), chunks=2)
    await stores.work.add_chunks(first, chunks=[indexed(0, "слово раз"), indexed(1, "слово два")])
    async with unfinished(database_url, "select publish_document(%s, %s, 2)", first.id, first.lease):
        storing = asyncio.create_task(stores.work.add_chunks(second, chunks=[indexed(0, "слово раз")]))
        await asyncio.wait([storing], timeout=MOMENT_S)
    await storing
    assert (await card_of(stores, base, second.id)).searchable == 0


async def test_a_reader_sees_the_old_version_or_the_new_one(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores = Stores(postgres_transport)
    base = await open_base(stores)
    await read_source(stores, base, PLAN, *_texts(0))
    stop = asyncio.Event()
    seen = [asyncio.create_task(_search_until(stores, base, stop)) for _ in range(3)]
    for version in range(1, 9):
        new, _ = await read_source(stores, base, PLAN, *_texts(version))
        await stores.library.choose(base, new, Choice.REPLACE)
        await _read_in_batches(stores, await claim(stores, new), version)
    stop.set()
    for versions in await asyncio.gather(*seen):
        assert versions == sorted(versions)
        assert len(versions) > 8
    assert ask(database_url, COUNTED) == ask(database_url, RECOUNTED)
    assert ask(database_url, ORPHANS) == [(0,)]


async def _search_until(stores: Stores, base: BaseId, stop: asyncio.Event) -> list[int]:
    """The version that each search saw, which must be one and whole."""
    versions = []
    while not stop.is_set():
        found = await find(stores, base, "слово", vector=NORTH, limit=100)
        numbers = {text.split()[1] for text in found}
        assert (len(numbers), len(found)) == (1, PASSAGES)
        versions.append(int(numbers.pop()))
    return versions


def _texts(version: int) -> list[str]:
    return [f"слово {version} номер {number}" for number in range(PASSAGES)]


async def _read_in_batches(stores: Stores, held: ClaimedDocument, version: int) -> None:
    texts = _texts(version)
    await stores.work.record_content(held, content_hash=hash_of(*texts))
    await stores.work.store_blocks(held, parsed=parsed(*texts), chunks=PASSAGES)
    for first in range(0, PASSAGES, 10):
        batch = [indexed(ordinal, texts[ordinal]) for ordinal in range(first, first + 10)]
        await stores.work.add_chunks(held, chunks=batch)
    await stores.work.publish(held, chunks=PASSAGES)


async def test_a_reader_sees_whole_batches_of_what_is_being_read(postgres_transport: PostgresTransport) -> None:
    stores = Stores(postgres_transport)
    base = await open_base(stores)
    held = await claim_new(stores, base)
    stop, sizes = asyncio.Event(), []

    async def search() -> None:
        while not stop.is_set():
            found = await find(stores, base, "слово", limit=100)
            sizes.append(len(found))
            assert all(candidate.passage.searchable == len(found) for candidate in found.values())

    searching = asyncio.create_task(search())
    await _read_in_batches(stores, held, 1)
    stop.set()
    await searching
    assert sizes == sorted(sizes)
    assert set(sizes) <= {0, 10, 20, 30, 40}


async def test_namesakes_choices_and_removals_at_once_lock_nobody_out_and_lose_nothing(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores = Stores(postgres_transport)
    base = await open_base(stores)
    numbers = count()
    async with asyncio.timeout(120):
        await asyncio.gather(
            *(_send_and_read(stores, base, seed, numbers) for seed in range(5)),
            *(_meddle(stores, base, seed) for seed in range(2)),
        )
    assert ask(database_url, COUNTED) == ask(database_url, RECOUNTED)
    assert ask(database_url, ORPHANS) == [(0,)]
    assert ask(database_url, "select count(*) from documents where phase in ('waiting', 'working')") == [(0,)]
    twice = "select lineage from documents where status = 'ready' group by lineage having count(*) > 1"
    assert ask(database_url, twice) == []


async def _send_and_read(stores: Stores, base: BaseId, seed: int, numbers: "count[int]") -> None:
    chance = random.Random(seed)
    for _ in range(8):
        name = chance.choice(["План.docx", "Смета.docx"])
        (sent,) = await stores.intake.enqueue(batch_of(base, file(name)))
        held = await stores.work.claim(worker="a worker", lease_s=60, only=[sent.id])
        if not held:  # taken away or cancelled by the other before anybody could read it
            continue
        await _work(stores, held[0], next(numbers) % 12, chance)
        await _answer(stores, base, sent.id, chance)


async def _answer(stores: Stores, base: BaseId, document: DocumentId, chance: random.Random) -> None:
    if await stores.library.choose(base, document, chance.choice(CHOICES)):
        for again in await stores.work.claim(worker="a worker", lease_s=60, only=[document]):
            await _work(stores, again, 1000 + chance.randrange(12), chance)


async def _work(stores: Stores, held: ClaimedDocument, number: int, chance: random.Random) -> None:
    texts = [f"слово {number} часть {part}" for part in range(3)]
    with suppress(LeaseLost):
        if await stores.work.record_content(held, content_hash=hash_of(*texts)):
            return
        await stores.work.store_blocks(held, parsed=parsed(*texts), chunks=3)
        for part, text in enumerate(texts):
            await stores.work.add_chunks(held, chunks=[indexed(part, text)])
            await asyncio.sleep(chance.uniform(0, 0.01))
        await stores.work.publish(held, chunks=3)


async def _meddle(stores: Stores, base: BaseId, seed: int) -> None:
    """Delete, cancel a batch, refresh nothing: whatever a person does while documents are read."""
    chance = random.Random(100 + seed)
    for _ in range(10):
        await asyncio.sleep(chance.uniform(0, 0.1))
        cards = await stores.library.documents(base, limit=50)
        if not cards:
            continue
        card = chance.choice(cards)
        if chance.random() < 0.5:
            await stores.library.delete(base, card.id)
        elif card.batch_id is not None:
            await stores.library.cancel_batch(base, card.batch_id)
