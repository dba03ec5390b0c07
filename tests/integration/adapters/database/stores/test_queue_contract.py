"""Who gets which document, and for how long: `IntakeStore` and the leases of `WorkQueue`."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest

from adapters.database.stores import Stores
from domain.documents import DocumentStatus, Lane, SourceType
from domain.ids import UserId
from ingestion.errors import LeaseLost
from ingestion.intake import link_of
from ingestion.ports import WorkQueue
from ingestion.records import ClaimedDocument, Failure, Source
from tests.integration.adapters.database.stores.material import (
    LEASE_S,
    MODEL,
    batch_of,
    claim,
    claim_new,
    enqueue,
    indexed,
    note,
    open_base,
    parsed,
    publish,
)

AWAY = Failure(code="service-away", params={"service": "jina"}, detail="503")
UNREADABLE = Failure(code="file-damaged", params={"name": "отчёт.pdf"}, detail="trace")

UNDER_A_LEASE: dict[str, Callable[[WorkQueue, ClaimedDocument], Awaitable[object]]] = {
    "renew": lambda work, held: work.renew(held, lease_s=LEASE_S),
    "report": lambda work, held: work.report(held, status=DocumentStatus.PARSING, done=1, total=2),
    "record_content": lambda work, held: work.record_content(held, content_hash="00"),
    "become_link": lambda work, held: work.become_link(held, link=link_of("https://site.example/a")),
    "known_reading": lambda work, held: work.known_reading(held),
    "store_blocks": lambda work, held: work.store_blocks(held, parsed=parsed("слова"), chunks=1),
    "keep_chunks": lambda work, held: work.keep_chunks(held, model=MODEL, digests=[]),
    "give_back": lambda work, held: work.give_back(held),
    "add_chunks": lambda work, held: work.add_chunks(held, chunks=[indexed(0, "слова")]),
    "publish": lambda work, held: work.publish(held, chunks=0),
    "postpone": lambda work, held: work.postpone(held, failure=AWAY, delay_s=0),
    "fail": lambda work, held: work.fail(held, failure=UNREADABLE),
}
under_a_lease = pytest.mark.parametrize("call", UNDER_A_LEASE.values(), ids=UNDER_A_LEASE.keys())


async def test_a_batch_is_answered_in_its_order(stores: Stores) -> None:
    sources = tuple(note(f"заметка {number}") for number in range(12))
    enqueued = await stores.intake.enqueue(batch_of(await open_base(stores), *sources))
    assert [document.source for document in enqueued] == list(sources)
    assert all(document.created for document in enqueued)


async def test_the_same_message_again_is_the_same_documents(stores: Stores) -> None:
    batch = batch_of(await open_base(stores), note("первая"), note("вторая"), message=5)
    first, second = await stores.intake.enqueue(batch), await stores.intake.enqueue(batch)
    assert [document.id for document in second] == [document.id for document in first]
    assert not any(document.created for document in second)


async def test_the_same_message_twice_at_once_is_stored_once(stores: Stores) -> None:
    base = await open_base(stores)
    batch = batch_of(base, note("первая"), message=5)
    both = await asyncio.gather(*(stores.intake.enqueue(batch) for _ in range(4)))
    assert len({document.id for documents in both for document in documents}) == 1
    assert sum(document.created for documents in both for document in documents) == 1


async def test_messages_of_an_album_share_one_live_message(stores: Stores) -> None:
    base = await open_base(stores)
    files = [batch_of(base, note(f"файл {number}"), message=number, album="a") for number in (5, 6, 7)]
    sent = [document for batch in files for document in await stores.intake.enqueue(batch)]
    again = await stores.intake.enqueue(files[1])

    (notice,) = await stores.notices.due(limit=9, hold_s=30)

    assert [card.id for card in notice.documents] == [document.id for document in sent]
    assert [card.message_id for card in notice.documents] == [5, 6, 7]
    assert (notice.reply_to, notice.revision) == (5, 3)
    assert [(document.id, document.created) for document in again] == [(sent[1].id, False)]


async def test_an_album_that_comes_all_at_once_is_stored_once(stores: Stores) -> None:
    base = await open_base(stores)
    files = [batch_of(base, note(f"файл {number}"), message=number, album="a") for number in (5, 6, 7, 5, 6, 7)]
    enqueued = await asyncio.gather(*(stores.intake.enqueue(batch) for batch in files))
    assert len({document.id for documents in enqueued for document in documents}) == 3
    assert len(await stores.notices.due(limit=9, hold_s=30)) == 1


async def test_other_messages_and_the_command_line_are_new_documents(stores: Stores) -> None:
    base = await open_base(stores)
    batches = [batch_of(base, note("первая"), message=number) for number in (5, 6, None, None)]
    enqueued = [document for batch in batches for document in await stores.intake.enqueue(batch)]
    assert len({document.id for document in enqueued}) == len(batches)


async def test_a_worker_gets_the_source_as_it_was_sent(stores: Stores) -> None:
    source = Source(
        type=SourceType.FILE,
        identifier="отчёт «за год».pdf",
        title="Отчёт",
        file_id="AgAD-7",
        size_bytes=3_000_000_000,
        media_type="application/pdf",
        author="Анна",
        published_at=datetime(2026, 3, 1, 12, 30, tzinfo=UTC),
        url="https://t.me/news/7",
        lane=Lane.LONG,
    )
    await stores.intake.enqueue(batch_of(await open_base(stores), source))
    claimed = await claim(stores)
    assert (claimed.source, claimed.attempt) == (source, 1)


async def test_an_empty_queue_gives_nothing(stores: Stores) -> None:
    assert await stores.work.claim(worker="a worker", lease_s=LEASE_S) == []


async def test_documents_are_taken_in_the_order_they_came(stores: Stores) -> None:
    base = await open_base(stores)
    queued = [*await enqueue(stores, base, "первая", "вторая"), *await enqueue(stores, base, "третья")]
    assert [(await claim(stores)).id for _ in queued] == queued
    assert await stores.work.claim(worker="a worker", lease_s=LEASE_S) == []


async def test_two_workers_never_get_the_same_document(stores: Stores) -> None:
    queued = await enqueue(stores, await open_base(stores), *(f"заметка {number}" for number in range(8)))
    asked = (stores.work.claim(worker=f"worker {number}", lease_s=LEASE_S) for number in range(12))
    taken = [each.id for claimed in await asyncio.gather(*asked) for each in claimed]
    # One that asks while another's row is locked may go away empty, and asks again: nothing is given twice.
    while claimed := await stores.work.claim(worker="the last", lease_s=LEASE_S):
        taken += [each.id for each in claimed]
    assert sorted(taken) == sorted(queued)


async def test_a_held_document_waits_for_the_one_who_asks_for_it(stores: Stores) -> None:
    (held,) = await enqueue(stores, await open_base(stores), "заметка", hold_s=3600)
    assert await stores.work.claim(worker="a worker", lease_s=LEASE_S) == []
    assert (await claim(stores, held)).id == held


async def test_a_held_document_whose_worker_died_is_anybodys(stores: Stores) -> None:
    (held,) = await enqueue(stores, await open_base(stores), "заметка", hold_s=3600)
    await claim(stores, held, lease_s=0)
    assert (await claim(stores)).id == held


async def test_a_lease_that_is_good_protects_the_document(stores: Stores) -> None:
    held = await claim_new(stores, await open_base(stores))
    assert await stores.work.claim(worker="another", lease_s=LEASE_S, only=[held.id]) == []


async def test_a_silent_workers_document_is_given_again(stores: Stores) -> None:
    first = await claim_new(stores, await open_base(stores), lease_s=0)
    second = await claim(stores)
    assert (second.id, second.attempt, second.lease != first.lease) == (first.id, 2, True)


async def test_a_renewed_lease_protects_the_document(stores: Stores) -> None:
    held = await claim_new(stores, await open_base(stores), lease_s=0)
    await stores.work.renew(held, lease_s=LEASE_S)
    assert await stores.work.claim(worker="another", lease_s=LEASE_S) == []


@under_a_lease
async def test_who_lost_the_lease_can_do_nothing(
    stores: Stores, call: Callable[[WorkQueue, ClaimedDocument], Awaitable[object]]
) -> None:
    base = await open_base(stores)
    first = await claim_new(stores, base, lease_s=0)
    await claim(stores)
    before = await stores.library.card(base, first.id)
    with pytest.raises(LeaseLost):
        await call(stores.work, first)
    assert await stores.library.card(base, first.id) == before


@under_a_lease
async def test_who_works_on_a_cancelled_document_is_told(
    stores: Stores, call: Callable[[WorkQueue, ClaimedDocument], Awaitable[object]]
) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    assert await stores.library.cancel(base, held.id)
    with pytest.raises(LeaseLost):
        await call(stores.work, held)


@pytest.mark.over_rest
@pytest.mark.parametrize("remove", ["delete", "clean_base"])
async def test_who_works_on_a_removed_document_is_told(stores: Stores, remove: str) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    await (stores.library.delete(base, held.id) if remove == "delete" else stores.library.clean_base(base))
    with pytest.raises(LeaseLost):
        await stores.work.add_chunks(held, chunks=[indexed(0, "слова")])


async def test_a_postponed_document_comes_back_in_its_hour(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    await stores.work.postpone(held, failure=AWAY, delay_s=3600)
    assert await stores.work.claim(worker="a worker", lease_s=LEASE_S) == []
    card = await stores.library.card(base, held.id)
    assert card is not None
    assert (card.status, card.waits_for_service, card.error_code) == (DocumentStatus.QUEUED, True, "service-away")
    assert card.error_params == {"service": "jina"}


async def test_a_document_postponed_by_nothing_comes_back_at_once(stores: Stores) -> None:
    held = await claim_new(stores, await open_base(stores))
    await stores.work.postpone(held, failure=AWAY, delay_s=0)
    assert (await claim(stores)).attempt == 2


async def test_a_failed_document_says_why_and_is_never_given_again(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    await stores.work.store_blocks(held, parsed=parsed("слова"), chunks=1)
    await stores.work.fail(held, failure=UNREADABLE)
    card = await stores.library.card(base, held.id)
    assert card is not None
    assert (card.status, card.error_code) == (DocumentStatus.FAILED, "file-damaged")
    assert card.error_params == {"name": "отчёт.pdf"}
    assert await stores.text.blocks(base, held.id) == ()
    assert await stores.work.claim(worker="a worker", lease_s=LEASE_S, only=[held.id]) == []


async def test_a_report_moves_the_card(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    await stores.work.report(held, status=DocumentStatus.EMBEDDING, done=3, total=9)
    card = await stores.library.card(base, held.id)
    assert card is not None
    assert (card.status, card.progress_done, card.progress_total) == (DocumentStatus.EMBEDDING, 3, 9)


async def test_a_ready_document_is_never_given_again(stores: Stores) -> None:
    base = await open_base(stores, UserId(202))
    document = await publish(stores, base, "слова")
    assert await stores.work.claim(worker="a worker", lease_s=LEASE_S, only=[document]) == []
