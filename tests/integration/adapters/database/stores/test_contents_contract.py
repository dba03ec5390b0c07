"""What a worker stores of a document, and the moment it becomes visible: `WorkQueue` and `DocumentText`."""

import asyncio
import hashlib
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.database.stores import Stores
from adapters.database.stores.work import BATCH_CHARS
from adapters.database.transport import DatabaseError
from domain.documents import DocumentStatus
from domain.ids import DocumentId, UserId
from domain.locator import Locator
from ingestion.records import Block, BlockKind, ClaimedDocument, Document
from tests.integration.adapters.database.stores.material import (
    LEASE_S,
    MODEL,
    claim,
    claim_new,
    find,
    hash_of,
    indexed,
    open_base,
    parsed,
    publish,
)

RICH = Document(
    title="Отчёт",
    blocks=(
        Block(kind=BlockKind.HEADING, text="Введение", level=1, locator=Locator(page=1)),
        Block(kind=BlockKind.TABLE, text="| а | б |\n| 1 | 2 |", locator=Locator(page=1, headings=("Введение",))),
        Block(kind=BlockKind.PARAGRAPH, text="Речь «с 0:10».", locator=Locator(start_s=10.5, end_s=12.0)),
    ),
    pages=3,
    pages_without_text=(2, 3),
    language="ru",
    author="Анна",
    published_at=datetime(2026, 3, 1, tzinfo=UTC),
)


async def test_blocks_come_back_as_they_were_parsed(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    await stores.work.store_blocks(held, parsed=RICH, chunks=1)
    assert await stores.text.blocks(base, held.id) == tuple(RICH.blocks)


async def test_blocks_of_a_book_come_back_in_their_order(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    texts = [f"{number} " + "слово " * (BATCH_CHARS // 12) for number in range(7)]
    await stores.work.store_blocks(held, parsed=parsed("старое"), chunks=1)
    await stores.work.store_blocks(held, parsed=parsed(*texts), chunks=1)
    assert [block.text for block in await stores.text.blocks(base, held.id)] == texts


async def test_a_parsed_document_has_its_own_title_and_pages(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    await stores.work.store_blocks(held, parsed=RICH, chunks=1)
    card = await stores.library.card(base, held.id)
    assert card is not None
    assert (card.title, card.pages, card.pages_without_text, card.language) == ("Отчёт", 3, (2, 3), "ru")


async def test_a_document_of_one_batch_is_stored_and_published_in_one_call(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    await stores.work.publish(held, chunks=1, last=[indexed(0, "отчёт за год")], parsed=RICH)
    card = await stores.library.card(base, held.id)
    assert card is not None
    assert (card.status, card.title, card.pages, card.language) == (DocumentStatus.READY, "Отчёт", 3, "ru")
    assert await stores.text.blocks(base, held.id) == tuple(RICH.blocks)


async def test_blocks_of_a_second_attempt_replace_the_first(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    await stores.work.store_blocks(held, parsed=RICH, chunks=1)
    await stores.work.store_blocks(held, parsed=parsed("один", "два"), chunks=1)
    assert [block.text for block in await stores.text.blocks(base, held.id)] == ["один", "два"]


async def test_a_second_attempt_gets_the_title_that_was_sent(stores: Stores) -> None:
    held = await claim_new(stores, await open_base(stores), lease_s=0)
    await stores.work.store_blocks(held, parsed=RICH, chunks=1)
    assert (await claim(stores)).source.title is None


async def test_a_long_document_is_read_back_whole(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    texts = [f"абзац {number}" for number in range(2000)]
    await stores.work.store_blocks(held, parsed=parsed(*texts), chunks=1)
    assert [block.text for block in await stores.text.blocks(base, held.id)] == texts


def digest(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


@pytest.mark.over_rest
async def test_of_an_earlier_attempt_only_what_is_wanted_again_is_kept(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    other = indexed(2, "чужая модель", model="another")
    before = [indexed(0, "ноль"), indexed(1, "старое"), other, indexed(3, "за концом")]
    await stores.work.add_chunks(held, chunks=before)
    assert await stores.work.store_blocks(held, parsed=parsed("слова"), chunks=3) == 4
    wanted = [digest(text) for text in ("ноль", "новое", "чужая модель")]
    assert set(await stores.work.keep_chunks(held, model=MODEL, digests=wanted)) == {0}
    await stores.work.publish(held, chunks=3, last=[indexed(1, "новое"), indexed(2, "чужая модель")])
    assert sorted(await find(stores, base, "ноль старое новое за")) == ["новое", "ноль"]


async def test_a_first_attempt_finds_nothing_stored(stores: Stores) -> None:
    held = await claim_new(stores, await open_base(stores))
    assert await stores.work.store_blocks(held, parsed=parsed("слова"), chunks=1) == 0


async def test_all_stored_chunks_are_named_however_many(stores: Stores) -> None:
    held = await claim_new(stores, await open_base(stores))
    for start in range(0, 1200, 300):
        chunks = [indexed(ordinal, f"номер {ordinal}") for ordinal in range(start, start + 300)]
        await stores.work.add_chunks(held, chunks=chunks)
    wanted = [digest(f"номер {ordinal}") for ordinal in range(1200)]
    assert set(await stores.work.keep_chunks(held, model=MODEL, digests=wanted)) == set(range(1200))


async def test_nothing_is_found_before_publication(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    await stores.work.add_chunks(held, chunks=[indexed(0, "редкое слово")])
    assert await find(stores, base, "редкое", vector=[1.0, 0.0, 0.0, 0.0]) == {}
    assert not await stores.search.holds_documents(base)
    await stores.work.publish(held, chunks=1)
    assert list(await find(stores, base, "редкое")) == ["редкое слово"]
    assert await stores.search.holds_documents(base)


async def test_a_replaced_chunk_is_found_by_its_new_words_only(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    await stores.work.add_chunks(held, chunks=[indexed(0, "старое"), indexed(1, "другое")])
    await stores.work.add_chunks(held, chunks=[indexed(0, "новое")])
    await stores.work.publish(held, chunks=2)
    assert list(await find(stores, base, "старое новое")) == ["новое"]


async def test_publication_drops_what_a_longer_attempt_left(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    await stores.work.add_chunks(held, chunks=[indexed(number, f"слово {number}") for number in range(5)])
    assert await stores.work.publish(held, chunks=2) is None
    assert sorted(await find(stores, base, "слово")) == ["слово 0", "слово 1"]


async def test_a_document_that_lacks_chunks_is_not_published(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    await stores.work.add_chunks(held, chunks=[indexed(0, "слово")])
    with pytest.raises(DatabaseError):
        await stores.work.publish(held, chunks=2)
    assert await find(stores, base, "слово") == {}


async def test_a_ready_card_has_its_figures(stores: Stores) -> None:
    base = await open_base(stores)
    document = await publish(stores, base, "один", "два")
    card = await stores.library.card(base, document)
    assert card is not None
    assert (card.status, card.chunks, card.error_code) == (DocumentStatus.READY, 2, None)
    assert (card.progress_done, card.progress_total) == (2, 2)
    assert card.seconds is not None
    assert 0 <= card.seconds < 60


async def test_the_same_content_again_is_a_duplicate(stores: Stores) -> None:
    base = await open_base(stores)
    first = await publish(stores, base, "слова", name="первая")
    held = await claim_new(stores, base, "вторая")
    found = await stores.work.record_content(held, content_hash=hash_of("слова"))
    assert found == first
    card = await stores.library.card(base, held.id)
    assert card is not None
    assert (card.status, card.error_code, card.chunks) == (DocumentStatus.DUPLICATE, "duplicate", 0)
    assert (card.error_params["document_id"], card.error_params["title"]) == (first, "первая")
    assert "created_at" in card.error_params


async def test_new_content_is_no_duplicate(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "слова")
    held = await claim_new(stores, base)
    assert await stores.work.record_content(held, content_hash=hash_of("другие слова")) is None


async def test_the_same_content_in_another_base_is_no_duplicate(stores: Stores) -> None:
    await publish(stores, await open_base(stores), "слова")
    assert await publish(stores, await open_base(stores, UserId(202)), "слова")


async def test_deleted_content_may_come_again(stores: Stores) -> None:
    base = await open_base(stores)
    await stores.library.delete(base, await publish(stores, base, "слова"))
    assert await publish(stores, base, "слова")


async def publish_whole(stores: Stores, held: ClaimedDocument) -> DocumentId | None:
    """As a note: stored, recorded and published in one call."""
    content_hash = hash_of("слова")
    return await stores.work.publish(
        held, chunks=1, last=[indexed(0, "слова")], parsed=parsed("слова"), content_hash=content_hash
    )


async def test_of_twins_that_are_stored_whole_at_once_one_is_ready_and_the_others_know_it(stores: Stores) -> None:
    base = await open_base(stores)
    held = [await claim_new(stores, base, name) for name in ("первая", "вторая", "третья")]
    published = await asyncio.gather(*(publish_whole(stores, each) for each in held))
    (winner,) = [each.id for each, result in zip(held, published, strict=True) if result is None]
    assert set(published) == {None, winner}
    later = await claim_new(stores, base, "четвёртая")
    assert await stores.work.record_content(later, content_hash=hash_of("слова"))
    assert list(await find(stores, base, "слова")) == ["слова"]


async def prepare_twin(stores: Stores, name: str) -> ClaimedDocument:
    held = await claim_new(stores, await open_base(stores), name)
    await stores.work.record_content(held, content_hash=hash_of("слова"))
    await stores.work.store_blocks(held, parsed=parsed("слова"), chunks=1)
    await stores.work.add_chunks(held, chunks=[indexed(0, "слова")])
    return held


async def test_of_two_twins_that_are_published_at_once_one_is_ready(stores: Stores) -> None:
    twins = [await prepare_twin(stores, name) for name in ("первая", "вторая", "третья")]
    published = await asyncio.gather(*(stores.work.publish(held, chunks=1) for held in twins))
    (winner,) = [held.id for held, result in zip(twins, published, strict=True) if result is None]
    assert set(published) == {None, winner}
    base = await open_base(stores)
    assert [candidate.passage.document_id for candidate in (await find(stores, base, "слова")).values()] == [winner]


async def test_a_late_twin_leaves_nothing_behind(stores: Stores) -> None:
    first, second = [await prepare_twin(stores, name) for name in ("первая", "вторая")]
    await stores.work.publish(first, chunks=1)
    await stores.work.publish(second, chunks=1)
    base = await open_base(stores)
    assert await stores.text.blocks(base, second.id) == ()
    assert (await stores.library.count(base)).chunks == 1


async def test_texts_that_the_database_cannot_hold_are_mended(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    broken = parsed("ноль\x00 и половина \ud83d", title="\x00")
    await stores.work.store_blocks(held, parsed=replace(broken, author="\x00"), chunks=1)
    assert len(await stores.text.blocks(base, held.id)) == 1


async def test_an_attempt_after_a_crash_keeps_what_is_stored(stores: Stores) -> None:
    base = await open_base(stores)
    first = await claim_new(stores, base, lease_s=0)
    await stores.work.add_chunks(first, chunks=[indexed(0, "ноль")])
    second = await claim(stores, lease_s=LEASE_S)
    assert set(await stores.work.keep_chunks(second, model=MODEL, digests=[digest("ноль")])) == {0}


async def test_a_word_that_is_too_long_for_an_index_hinders_nothing(stores: Stores) -> None:
    base = await open_base(stores)
    endless = "".join(hash_of(str(number)) for number in range(100))  # 6,400 letters that no compression shortens
    await publish(stores, base, f"ключ {endless}")
    assert len(await find(stores, base, "ключ")) == 1
