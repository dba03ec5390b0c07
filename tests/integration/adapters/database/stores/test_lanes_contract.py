"""Whose turn it is: lanes, fairness between people, and the place in the queue that they are told."""

import asyncio
from collections import Counter
from dataclasses import replace

import psycopg
import pytest

from adapters.database.stores import Stores
from adapters.database.stores.intake import IntakeStore
from adapters.database.transport import ActingTransport, Transport
from domain.documents import DocumentStatus, Lane
from domain.ids import BaseId, ChatId, DocumentId, ThreadId, UserId
from domain.people import acting_for, token_hash
from ingestion.errors import TooManyWaiting
from ingestion.records import Source
from tests.integration.adapters.database.stores.material import (
    ANNA,
    LEASE_S,
    batch_of,
    card_of,
    claim,
    claim_new,
    claim_source,
    enqueue,
    file,
    indexed,
    note,
    open_base,
)

BORIS = UserId(202)
NEXT_TURNS = b"explain (analyze, buffers, format json) select * from baza_internal.turns('w', '{short}', '{3}')"


async def send(
    stores: Stores, base: BaseId, *names: str, lane: Lane = Lane.QUICK, by: UserId = ANNA
) -> list[DocumentId]:
    batch = replace(batch_of(base, *(file(name, lane=lane) for name in names)), user_id=by)
    return [document.id for document in await stores.intake.enqueue(batch)]


async def take(stores: Stores, *lanes: Lane, for_one: int = 1_000, worker: str = "a worker") -> DocumentId | None:
    places = dict.fromkeys(lanes or Lane, for_one)
    claimed = await stores.work.claim(worker=worker, lease_s=LEASE_S, lanes=places)
    return claimed[0].id if claimed else None


@pytest.mark.over_rest
async def test_a_lane_is_worked_by_itself(stores: Stores) -> None:
    base = await open_base(stores)
    (film,) = await send(stores, base, "фильм.mp4", lane=Lane.LONG)
    (letter,) = await send(stores, base, "письмо.txt")
    assert await take(stores, Lane.QUICK) == letter
    assert await take(stores, Lane.QUICK) is None
    assert await take(stores, Lane.LONG) == film


async def test_who_takes_all_lanes_gets_all(stores: Stores) -> None:
    base = await open_base(stores)
    sent = {*await send(stores, base, "фильм.mp4", lane=Lane.LONG), *await send(stores, base, "письмо.txt")}
    assert {await take(stores), await take(stores)} == sent


async def test_one_document_is_asked_for_whatever_its_lane(stores: Stores) -> None:
    (film,) = await send(stores, await open_base(stores), "фильм.mp4", lane=Lane.LONG)
    assert (await claim(stores, film)).id == film


async def test_a_silent_workers_document_stays_in_its_lane(stores: Stores) -> None:
    (film,) = await send(stores, await open_base(stores), "фильм.mp4", lane=Lane.LONG)
    await claim(stores, film, lease_s=0)
    assert await take(stores, Lane.QUICK) is None
    assert await take(stores, Lane.LONG) == film


async def test_a_single_note_does_not_wait_for_anothers_hundred(stores: Stores) -> None:
    many = await enqueue(stores, await open_base(stores), *(f"заметка {number}" for number in range(100)))
    (single,) = await enqueue(stores, await open_base(stores, BORIS), "одна")
    assert [await take(stores), await take(stores)] == [many[0], single]
    assert await take(stores) == many[1]


async def test_nor_for_more_than_one_of_them_when_there_is_room_for_one_only(stores: Stores) -> None:
    anna = await open_base(stores)
    await enqueue(stores, anna, *(f"заметка {number}" for number in range(5)))
    (single,) = await enqueue(stores, await open_base(stores, BORIS), "одна")
    taken: list[DocumentId] = []
    for _ in range(2):
        held = await claim(stores)
        await stores.work.publish(held, chunks=1, last=[indexed(0, f"слова {len(taken)}")])
        taken.append(held.id)
    assert single in taken


async def test_long_work_of_a_person_does_not_count_against_the_short(stores: Stores) -> None:
    anna, boris = await open_base(stores), await open_base(stores, BORIS)
    await send(stores, anna, "фильм.mp4", lane=Lane.LONG)
    await take(stores, Lane.LONG)
    (theirs,) = await enqueue(stores, boris, "чужая")
    (mine,) = await enqueue(stores, anna, "моя")
    assert [await take(stores, Lane.SHORT), await take(stores, Lane.SHORT)] == [theirs, mine]


KILOBYTE = 1024
BOOK = note("книга")


@pytest.mark.parametrize(
    ("source", "lane"),
    [
        (note("слово"), Lane.SHORT),
        (replace(BOOK, text="слово " * 1000), Lane.QUICK),  # more than the worker cuts by itself
        (replace(file("письмо.txt"), size_bytes=10 * KILOBYTE), Lane.SMALL),
        (replace(file("Скан.PDF"), size_bytes=10 * KILOBYTE), Lane.SMALL),
        (replace(file("письмо.txt"), size_bytes=1000 * KILOBYTE), Lane.QUICK),
        (file("письмо.txt"), Lane.QUICK),  # of unknown size
        (replace(file("снимок.jpg"), size_bytes=10 * KILOBYTE), Lane.QUICK),  # recognising takes long
        (replace(file("голос.ogg", lane=Lane.LONG), size_bytes=10 * KILOBYTE), Lane.LONG),
    ],
)
async def test_what_is_short_has_lanes_of_its_own(stores: Stores, source: Source, lane: Lane) -> None:
    held = await claim_source(stores, await open_base(stores), source)
    assert held.source.lane is lane


async def test_a_base_leaves_a_place_to_others(stores: Stores) -> None:
    anna, boris = await open_base(stores), await open_base(stores, BORIS)
    many = await send(stores, anna, *(f"{number}.zip" for number in range(5)))
    assert [await take(stores, for_one=2) for _ in range(3)] == [*many[:2], None]
    (single,) = await send(stores, boris, "одна.zip", by=BORIS)
    assert [await take(stores, for_one=2), await take(stores, for_one=2)] == [single, None]
    assert await take(stores, for_one=2, worker="another worker") == many[2]


async def bases_of(stores: Stores, person: UserId, count: int) -> list[BaseId]:
    """That many, in topics of the person's chat."""
    return [
        await stores.people.open_base(ChatId(person), thread=ThreadId(number), member=person) for number in range(count)
    ]


async def test_who_has_ten_bases_has_one_persons_turns(stores: Stores) -> None:
    many = [await enqueue(stores, base, "раз", "два", "три") for base in await bases_of(stores, ANNA, 10)]
    boris = await open_base(stores, BORIS)
    theirs = await stores.intake.enqueue(replace(batch_of(boris, note("первая"), note("вторая")), user_id=BORIS))
    taken = [await take(stores) for _ in range(6)]
    assert taken == [many[0][0], theirs[0].id, many[1][0], theirs[1].id, many[2][0], many[3][0]]  # one of each base


async def test_nor_does_who_has_ten_bases_hold_all_places(stores: Stores) -> None:
    for base in await bases_of(stores, ANNA, 10):
        await send(stores, base, "архив.zip")
    assert [await take(stores, for_one=2) is None for _ in range(4)] == [False, False, True, True]
    boris = await open_base(stores, BORIS)
    (single,) = await send(stores, boris, "один.zip", by=BORIS)
    assert await take(stores, for_one=2) == single


async def test_a_base_of_many_people_holds_not_all_places_either(stores: Stores) -> None:
    group = await open_base(stores, UserId(-7))
    for member in range(300, 305):
        await stores.intake.enqueue(replace(batch_of(group, file("a.zip"), message=member), user_id=UserId(member)))
    assert [await take(stores, for_one=2) is None for _ in range(3)] == [False, False, True]


@pytest.mark.over_rest
async def test_a_persons_tokens_take_the_persons_turns_and_room(transport: Transport) -> None:
    stores = Stores(transport)
    anna, boris = await open_base(stores), await open_base(stores, BORIS)
    with acting_for(ANNA):
        own = Stores(ActingTransport(transport))
        tokens = [await own.tokens.add(anna, token_hash(str(n)), is_read_only=False, days=1) for n in range(5)]
    sent = [
        await stores.intake.enqueue(replace(batch_of(anna, note("заметка"), message=n), user_id=token))
        for n, token in enumerate(tokens)
    ]
    with pytest.raises(TooManyWaiting):
        await IntakeStore(transport, most_waiting=5).enqueue(batch_of(anna, note("шестая"), message=99))
    (theirs,) = await stores.intake.enqueue(replace(batch_of(boris, note("одна")), user_id=BORIS))
    assert [await take(stores), await take(stores)] == [sent[0][0].id, theirs.id]


async def test_of_many_messages_at_one_moment_only_those_are_taken_that_there_is_room_for(
    stores: Stores, transport: Transport
) -> None:
    base, intake = await open_base(stores), IntakeStore(transport, most_waiting=5)
    sent = [intake.enqueue(batch_of(base, note("заметка"), message=number)) for number in range(30)]
    found = await asyncio.gather(*sent, return_exceptions=True)
    assert Counter(type(each) for each in found) == Counter({list: 5, TooManyWaiting: 25})


async def test_the_next_turn_is_found_in_the_index_however_much_waits(stores: Stores, database_url: str) -> None:
    """A step for each person and base, not for each document."""
    bases = [await open_base(stores, UserId(1000 + number)) for number in range(20)]
    for number, base in enumerate(bases):
        await stores.intake.enqueue(replace(batch_of(base, note("первая")), user_id=UserId(1000 + number)))
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "insert into documents (base_id, batch_id, position, user_id, source_type, source_identifier, title, lane) "
            "select d.base_id, d.batch_id, n, d.user_id, 'note', 'note', 'note', 'short' "
            "from documents d, generate_series(1, 500) n"
        )
        connection.execute("vacuum analyze documents")
        found = connection.execute(NEXT_TURNS).fetchone()
    assert found
    plan = found[0][0]["Plan"]
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 1000


async def test_how_much_one_person_may_have_waiting_is_bounded(stores: Stores, transport: Transport) -> None:
    base, intake = await open_base(stores), IntakeStore(transport, most_waiting=2)
    await intake.enqueue(batch_of(base, note("первая")))
    with pytest.raises(TooManyWaiting):
        await intake.enqueue(batch_of(base, note("вторая"), note("третья")))
    await intake.enqueue(replace(batch_of(base, note("чужая")), user_id=BORIS))
    await claim(stores)
    await intake.enqueue(batch_of(base, note("вторая"), note("третья"), message=7))
    again = await intake.enqueue(batch_of(base, note("вторая"), note("третья"), message=7))  # redelivered: not counted
    assert [document.created for document in again] == [False, False]


async def ahead(stores: Stores, base: BaseId, document: DocumentId) -> int:
    return (await card_of(stores, base, document)).ahead


async def test_a_card_says_how_many_are_worked_before_it(stores: Stores) -> None:
    base = await open_base(stores)
    first, second, third = await enqueue(stores, base, "первая", "вторая", "третья")
    assert [await ahead(stores, base, document) for document in (first, second, third)] == [0, 1, 2]
    await claim(stores)
    assert [await ahead(stores, base, document) for document in (first, second, third)] == [0, 0, 1]


async def test_others_count_as_far_as_they_come_before(stores: Stores) -> None:
    anna, boris = await open_base(stores), await open_base(stores, BORIS)
    await enqueue(stores, anna, *(f"заметка {number}" for number in range(10)))
    mine = await enqueue(stores, boris, "первая", "вторая")
    assert [await ahead(stores, boris, document) for document in mine] == [1, 3]


async def test_other_bases_of_the_sender_count_as_far_as_they_come_before(stores: Stores) -> None:
    first, second = await bases_of(stores, ANNA, 2)
    await enqueue(stores, first, *(f"заметка {number}" for number in range(10)))
    mine = await enqueue(stores, second, "первая", "вторая")
    theirs = await open_base(stores, BORIS)
    (single,) = await stores.intake.enqueue(replace(batch_of(theirs, note("одна")), user_id=BORIS))
    assert [await ahead(stores, second, document) for document in mine] == [1 + 1, 3 + 1]
    assert await ahead(stores, theirs, single.id) == 1


async def test_another_lane_does_not_count(stores: Stores) -> None:
    base = await open_base(stores)
    await send(stores, base, "один.mp4", "два.mp4", lane=Lane.LONG)
    (letter,) = await send(stores, base, "письмо.txt")
    assert await ahead(stores, base, letter) == 0


@pytest.mark.over_rest
async def test_a_document_that_is_given_back_has_lost_no_attempt(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    await stores.work.add_chunks(held, chunks=[indexed(0, "слова")])
    await stores.work.give_back(held)
    card = await card_of(stores, base, held.id)
    assert (card.status, card.waits_for_service) == (DocumentStatus.QUEUED, False)
    assert (await claim(stores, held.id)).attempt == 1


@pytest.mark.over_rest
async def test_a_batch_is_cancelled_in_one_call(stores: Stores) -> None:
    base = await open_base(stores)
    sent = await enqueue(stores, base, "первая", "вторая", "третья")
    held = await claim(stores)
    await stores.work.publish(held, chunks=1, last=[indexed(0, "слова")])
    await claim(stores)
    other = await stores.intake.enqueue(batch_of(base, note("чужая")))
    batch = (await card_of(stores, base, sent[0])).batch_id
    assert batch is not None
    assert await stores.library.sender_of_batch(base, batch) == (await card_of(stores, base, sent[0])).sent_by
    assert await stores.library.sender_of_batch(await open_base(stores, UserId(2)), batch) is None
    assert await stores.library.cancel_batch(base, batch) == 2
    statuses = [(await card_of(stores, base, document)).status for document in sent]
    assert statuses == [DocumentStatus.READY, DocumentStatus.CANCELLED, DocumentStatus.CANCELLED]
    assert await take(stores) == other[0].id
    assert await stores.library.cancel_batch(base, batch) == 0
