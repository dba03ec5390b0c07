"""What a base holds: `LibraryStore`."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.database.stores import Stores
from domain.documents import DocumentStatus, Medium, Removed, UnreadPart
from domain.ids import ChatId, MessageId, UserId
from ingestion.records import Document, Failure
from tests.integration.adapters.database.stores.material import (
    ANNA,
    SENDER,
    batch_of,
    card_of,
    claim,
    claim_new,
    claim_source,
    enqueue,
    file,
    find,
    hash_of,
    indexed,
    note,
    open_base,
    parsed,
    publish,
)

SizeAndType = tuple[int | None, str | None]


async def names(stores: Stores, part: str | None = None, *, limit: int = 100, offset: int = 0) -> list[str]:
    base = await open_base(stores)
    cards = await stores.library.documents(base, limit=limit, offset=offset, name_contains=part)
    return [card.source_identifier for card in cards]


async def test_documents_are_listed_newest_first(stores: Stores) -> None:
    base = await open_base(stores)
    for name in ("первая", "вторая", "третья"):
        await enqueue(stores, base, name)
    assert await names(stores) == ["третья", "вторая", "первая"]


async def test_a_list_is_read_page_by_page(stores: Stores) -> None:
    await enqueue(stores, await open_base(stores), *(f"заметка {number}" for number in range(7)))
    pages = [await names(stores, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [len(page) for page in pages] == [3, 3, 1, 0]
    assert len({name for page in pages for name in page}) == 7


async def test_a_very_long_list_comes_in_long_pages(stores: Stores) -> None:
    base = await open_base(stores)
    for start in (0, 500):
        await enqueue(stores, base, *(f"заметка {number}" for number in range(start, start + 500)))
    pages = [await names(stores, limit=900, offset=offset) for offset in (0, 900)]
    assert [len(page) for page in pages] == [900, 100]


@pytest.mark.parametrize(
    ("part", "found"),
    [
        pytest.param("ОТЧЁТ", ["Отчёт_за 100%.pdf"], id="case does not count"),
        pytest.param("отчет", ["Отчёт_за 100%.pdf"], id="ё is е"),
        pytest.param("100 отч", ["Отчёт_за 100%.pdf"], id="words in any order"),
        pytest.param("отчёт 200", [], id="but all of them"),
        pytest.param("аренды scan", ["scan.pdf"], id="in the title and the file's name"),
        pytest.param("0%", ["Отчёт_за 100%.pdf"], id="a percent sign is itself"),
        pytest.param("т_з", ["Отчёт_за 100%.pdf"], id="an underscore is itself"),
        pytest.param("\\", ["c:\\файл"], id="a backslash is itself"),
        pytest.param("_", ["Отчёт_за 100%.pdf"], id="and stands for nothing else"),
        pytest.param("нет такого", [], id="nothing"),
        pytest.param("договор", ["scan.pdf"], id="the title counts too"),
    ],
)
async def test_a_part_of_the_name_finds_the_document(stores: Stores, part: str, found: list[str]) -> None:
    base = await open_base(stores)
    await enqueue(stores, base, "Отчёт_за 100%.pdf", "c:\\файл")
    await stores.intake.enqueue(batch_of(base, note("scan.pdf", title="Договор аренды")))
    assert await names(stores, part) == found


async def test_documents_are_counted_by_a_part_of_their_name(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "один", "два", name="Отчёт за март")
    await publish(stores, base, "три", name="Договор")
    assert await stores.library.count(base, name_contains="отчёт") == Removed(documents=1, chunks=2)
    assert await stores.library.count(base, name_contains="нет такого") == Removed()


async def test_a_card_tells_what_was_read_in_the_document(stores: Stores) -> None:
    base = await open_base(stores)
    recording = Document(
        title="Лекция",
        blocks=parsed("слова").blocks,
        medium=Medium.AUDIO,
        duration_s=61.5,
        parts=2,
        unread=(UnreadPart(name="обложка.jpg", code="file-damaged"), UnreadPart(name="хвост.mp3")),
        author="Анна",
        published_at=datetime(2026, 3, 1, tzinfo=UTC),
    )
    held = await claim_source(stores, base, replace(file("лекция.zip"), url="https://t.me/news/7"))
    await stores.work.record_content(held, content_hash="00")
    await stores.work.store_blocks(held, parsed=recording, chunks=1)
    card = await card_of(stores, base, held.id)
    assert (card.medium, card.duration_s, card.parts) == (Medium.AUDIO, 61.5, 2)
    assert (card.unread, card.author) == (recording.unread, "Анна")
    assert (card.published_at, card.url) == (recording.published_at, "https://t.me/news/7")
    assert card.status is DocumentStatus.EMBEDDING


async def test_a_card_says_who_sent_it(stores: Stores) -> None:
    base = await open_base(stores)
    card = await card_of(stores, base, await publish(stores, base, "слова"))
    assert (card.sent_by, card.sender) == (ANNA, SENDER)


@pytest.mark.parametrize(
    ("said", "found", "kept"),
    [
        ((None, None), (7, "application/zip"), (7, "application/zip")),
        ((5, "application/pdf"), (None, "application/zip"), (5, "application/pdf")),
        ((5, None), (7, None), (7, None)),
    ],
)
async def test_the_size_is_as_found_and_the_type_as_the_sender_said(
    stores: Stores, said: SizeAndType, found: SizeAndType, kept: SizeAndType
) -> None:
    base = await open_base(stores)
    held = await claim_source(stores, base, replace(file("a.bin"), size_bytes=said[0], media_type=said[1]))
    await stores.work.record_content(held, content_hash="00", size_bytes=found[0], media_type=found[1])
    await stores.work.give_back(held)
    source = (await claim(stores, held.id)).source
    assert (source.size_bytes, source.media_type) == kept


async def test_duplicates_and_cancelled_documents_are_not_listed(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "слова", name="первая")
    twin = await claim_new(stores, base, "вторая")
    await stores.work.record_content(twin, content_hash=hash_of("слова"))
    cancelled = await claim_new(stores, base, "третья")
    await stores.library.cancel(base, cancelled.id)
    assert await names(stores) == ["первая"]
    assert await stores.library.count(base) == Removed(documents=1, chunks=1)


async def test_failed_and_waiting_documents_are_listed(stores: Stores) -> None:
    base = await open_base(stores)
    await stores.work.fail(await claim_new(stores, base, "битая"), failure=Failure(code="file-damaged"))
    await enqueue(stores, base, "ждёт")
    assert await names(stores) == ["ждёт", "битая"]


async def test_a_card_leads_to_the_message_that_brought_the_document(stores: Stores) -> None:
    base = await open_base(stores)
    (document,) = await stores.intake.enqueue(batch_of(base, note("заметка"), message=77))
    card = await stores.library.card(base, document.id)
    assert card is not None
    assert (card.chat_id, card.message_id, card.title) == (ChatId(ANNA), MessageId(77), "заметка")


async def test_cards_of_several_documents_come_in_one_call(stores: Stores) -> None:
    base, other = await open_base(stores), await open_base(stores, UserId(202))
    first, foreign = await publish(stores, base, "слова"), await publish(stores, other, "чужое")
    (second,) = await enqueue(stores, base, "ждёт")
    cards = await stores.library.cards(base, [second, first, foreign])
    assert cards == {each: await card_of(stores, base, each) for each in (first, second)}


async def test_work_can_be_cancelled_once(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    await stores.work.add_chunks(held, chunks=[indexed(0, "слова")])
    assert await stores.library.cancel(base, held.id)
    assert not await stores.library.cancel(base, held.id)
    card = await stores.library.card(base, held.id)
    assert card is not None
    assert (card.status, card.error_code) == (DocumentStatus.CANCELLED, "cancelled")


async def test_a_ready_document_cannot_be_cancelled(stores: Stores) -> None:
    base = await open_base(stores)
    document = await publish(stores, base, "слова")
    assert not await stores.library.cancel(base, document)
    assert list(await find(stores, base, "слова")) == ["слова"]


@pytest.mark.over_rest
async def test_a_deleted_document_is_gone_from_everywhere(stores: Stores) -> None:
    base = await open_base(stores)
    document = await publish(stores, base, "слова")
    (found,) = (await find(stores, base, "слова")).values()
    assert await stores.library.delete(base, document)
    assert not await stores.library.delete(base, document)
    assert await stores.library.card(base, document) is None
    assert await stores.text.blocks(base, document) == ()
    assert await find(stores, base, "слова", vector=[1.0, 0.0, 0.0, 0.0]) == {}
    assert await stores.search.passage(base, found.passage.chunk_id) is None
    assert not await stores.search.holds_documents(base)


async def test_a_clean_base_is_empty_and_says_what_went(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "один", "два")
    await claim_new(stores, base, "читается")
    await stores.intake.enqueue(batch_of(base, note("ждёт"), message=5))
    counted = await stores.library.count(base)
    assert await stores.library.clean_base(base) == counted == Removed(documents=1, chunks=2, waiting=2)
    assert await names(stores) == []
    assert await find(stores, base, "один два", vector=[1.0, 0.0, 0.0, 0.0]) == {}
    assert await stores.work.claim(worker="a worker", lease_s=60) == []
    assert [notice.documents for notice in await stores.notices.due(limit=10, hold_s=0)] == [()]


async def test_a_clean_base_fills_again(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "слова")
    await stores.library.clean_base(base)
    await publish(stores, base, "слова")
    assert list(await find(stores, base, "слова")) == ["слова"]
