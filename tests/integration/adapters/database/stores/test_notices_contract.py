"""The live messages of batches: `NoticeStore`."""

import asyncio

import pytest

from adapters.database.stores import Stores
from domain.documents import DocumentStatus, Notice
from domain.ids import BatchId, ChatId, MessageId
from ingestion.records import Failure
from tests.integration.adapters.database.stores.material import (
    ANNA,
    batch_of,
    claim,
    enqueue,
    hash_of,
    indexed,
    note,
    open_base,
    publish,
)

MANY = 100


async def send(stores: Stores, *names: str, message: int = 5) -> None:
    base = await open_base(stores)
    await stores.intake.enqueue(batch_of(base, *(note(name) for name in names), message=message))


async def the_notice(stores: Stores, *, hold_s: int = 0) -> Notice:
    (notice,) = await stores.notices.due(limit=10, hold_s=hold_s)
    return notice


async def show(stores: Stores, *, hold_s: int = 0) -> Notice:
    notice = await the_notice(stores, hold_s=hold_s)
    await stores.notices.confirm(notice.batch_id, revision=notice.revision)
    return notice


async def test_a_new_batch_is_due_with_all_its_documents(stores: Stores) -> None:
    await send(stores, "первая", "вторая")
    notice = await the_notice(stores)
    assert (notice.chat_id, notice.reply_to, notice.message_id) == (ChatId(ANNA), MessageId(5), None)
    assert [card.source_identifier for card in notice.documents] == ["первая", "вторая"]


async def test_batches_are_due_in_the_order_in_which_they_came(stores: Stores) -> None:
    for message in range(1, 8):
        await send(stores, f"заметка {message}", message=message)
    assert [notice.reply_to for notice in await stores.notices.due(limit=10, hold_s=0)] == list(range(1, 8))


async def test_nobody_waits_for_notices_of_the_command_line(stores: Stores) -> None:
    await enqueue(stores, await open_base(stores), "заметка")
    assert await stores.notices.due(limit=10, hold_s=0) == []


async def test_what_was_shown_is_due_no_more(stores: Stores) -> None:
    await send(stores, "заметка")
    await show(stores)
    assert await stores.notices.due(limit=10, hold_s=0) == []


async def test_a_notice_is_held_back_from_others(stores: Stores) -> None:
    await send(stores, "заметка")
    await the_notice(stores, hold_s=60)
    assert await stores.notices.due(limit=10, hold_s=60) == []


async def test_two_who_ask_at_once_never_get_the_same_notice(stores: Stores) -> None:
    for message in range(6):
        await send(stores, "заметка", message=message + 1)
    both = await asyncio.gather(*(stores.notices.due(limit=4, hold_s=60) for _ in range(3)))
    shown = [notice.batch_id for notices in both for notice in notices]
    assert len(shown) == len(set(shown))


async def test_a_notice_that_was_never_confirmed_is_due_again(stores: Stores) -> None:
    await send(stores, "заметка")
    assert (await the_notice(stores)).batch_id == (await the_notice(stores)).batch_id


@pytest.mark.over_rest
async def test_each_step_of_a_document_makes_its_batch_due(stores: Stores) -> None:
    await send(stores, "заметка")
    await show(stores)
    held = await claim(stores)
    assert (await show(stores)).documents[0].status is DocumentStatus.FETCHING
    await stores.work.report(held, status=DocumentStatus.PARSING, done=1, total=2)
    assert (await show(stores)).documents[0].status is DocumentStatus.PARSING
    await stores.work.add_chunks(held, chunks=[indexed(0, "слова")])
    await stores.work.publish(held, chunks=1)
    assert (await show(stores)).documents[0].status is DocumentStatus.READY


@pytest.mark.over_rest
async def test_every_end_makes_the_batch_due(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "слова")
    await send(stores, "битая", "вторая", "ждёт", "не нужна")
    await show(stores)
    broken, twin, waiting, unwanted = [await claim(stores) for _ in range(4)]
    await stores.work.fail(broken, failure=Failure(code="file-damaged"))
    await stores.work.record_content(twin, content_hash=hash_of("слова"))
    await stores.work.postpone(waiting, failure=Failure(code="service-away"), delay_s=60)
    await stores.library.cancel(base, unwanted.id)
    ends = [card.status for card in (await show(stores)).documents]
    assert ends == [
        DocumentStatus.FAILED,
        DocumentStatus.DUPLICATE,
        DocumentStatus.QUEUED,
        DocumentStatus.CANCELLED,
    ]


async def test_what_happens_while_a_notice_is_sent_is_due_after_it(stores: Stores) -> None:
    await send(stores, "заметка")
    first = await the_notice(stores, hold_s=60)
    await claim(stores)
    await stores.notices.confirm(first.batch_id, revision=first.revision)
    assert (await the_notice(stores)).revision > first.revision


async def test_an_old_confirmation_does_not_undo_a_newer_one(stores: Stores) -> None:
    await send(stores, "заметка")
    notice = await show(stores)
    await stores.notices.confirm(notice.batch_id, revision=0)
    assert await stores.notices.due(limit=10, hold_s=0) == []


async def test_the_live_message_is_remembered(stores: Stores) -> None:
    await send(stores, "заметка")
    await stores.notices.attach((await the_notice(stores)).batch_id, MessageId(42))
    assert (await the_notice(stores)).message_id == MessageId(42)


@pytest.mark.over_rest
async def test_a_batch_that_is_not_there_is_no_mistake(stores: Stores) -> None:
    await send(stores, "заметка")
    notice = await the_notice(stores)
    await stores.library.clean_base(await open_base(stores))
    await show(stores)
    await stores.notices.attach(notice.batch_id, MessageId(42))
    await stores.notices.confirm(notice.batch_id, revision=1)
    assert await stores.notices.due(limit=10, hold_s=0) == []


async def test_the_last_notice_of_a_batch_tells_its_end(stores: Stores) -> None:
    """A revision is never told with documents from before it, whatever is published meanwhile."""
    told: dict[BatchId, Notice] = {}
    is_over = asyncio.Event()

    async def show_all() -> None:
        for notice in await stores.notices.due(limit=50, hold_s=0):
            await stores.notices.confirm(notice.batch_id, revision=notice.revision)
            if notice.batch_id not in told or told[notice.batch_id].revision <= notice.revision:
                told[notice.batch_id] = notice

    async def show_on() -> None:
        while not is_over.is_set():
            await show_all()

    for message in range(MANY):
        await send(stores, f"заметка {message}", message=message + 1)
    async with asyncio.TaskGroup() as tasks:
        showing = [tasks.create_task(show_on()) for _ in range(2)]
        for _ in range(MANY):
            await stores.work.fail(await claim(stores), failure=Failure(code="file-damaged"))
        is_over.set()
        await asyncio.wait(showing)
    await show_all()
    assert {card.status for notice in told.values() for card in notice.documents} == {DocumentStatus.FAILED}
