"""Whose turn it is: lanes, fairness between people, and the place in the queue that they are told."""

from dataclasses import replace

import pytest

from adapters.database.stores.intake import IntakeStore
from adapters.database.transport import Transport
from domain.documents import DocumentStatus, Lane
from domain.ids import BaseId, DocumentId, UserId
from ingestion.errors import TooManyWaiting
from ingestion.records import Source
from tests.integration.adapters.database.stores.material import (
    LEASE_S,
    Stores,
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


async def send(stores: Stores, base: BaseId, *names: str, lane: Lane = Lane.QUICK) -> list[DocumentId]:
    batch = batch_of(base, *(file(name, lane=lane) for name in names))
    return [document.id for document in await stores.intake.enqueue(batch)]


async def take(stores: Stores, *lanes: Lane, for_one: int = 1_000, worker: str = "a worker") -> DocumentId | None:
    places = dict.fromkeys(lanes or Lane, for_one)
    claimed = await stores.work.claim(worker=worker, lease_s=LEASE_S, lanes=places)
    return claimed.id if claimed else None


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


@pytest.mark.over_rest
async def test_a_base_leaves_a_place_to_others(stores: Stores) -> None:
    anna, boris = await open_base(stores), await open_base(stores, BORIS)
    many = await send(stores, anna, *(f"{number}.zip" for number in range(5)))
    assert [await take(stores, for_one=2) for _ in range(3)] == [*many[:2], None]
    (single,) = await send(stores, boris, "одна.zip")
    assert [await take(stores, for_one=2), await take(stores, for_one=2)] == [single, None]
    assert await take(stores, for_one=2, worker="another worker") == many[2]


@pytest.mark.over_rest
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
