"""A document can be asked about while it is read: what is found of it, and when that ends."""

from collections.abc import Awaitable, Callable

import pytest

from adapters.database.stores import Stores
from domain.documents import DocumentStatus
from domain.ids import BaseId
from ingestion.records import ClaimedDocument, Failure
from tests.integration.adapters.database.stores.material import (
    NORTH,
    card_of,
    claim,
    claim_new,
    find,
    hash_of,
    indexed,
    open_base,
    parsed,
    publish,
)

TEXTS = ("слово ноль", "слово один", "слово два")
AWAY = Failure(code="service-away")


async def begin(stores: Stores, base: BaseId, *, name: str = "книга", stored: int = 1) -> ClaimedDocument:
    """A document of three passages of which the first ones are stored."""
    held = await claim_new(stores, base, name)
    await go_on(stores, held, stored)
    return held


async def go_on(stores: Stores, held: ClaimedDocument, stored: int) -> None:
    await stores.work.record_content(held, content_hash=hash_of(*TEXTS))
    await stores.work.store_blocks(held, parsed=parsed(*TEXTS), chunks=len(TEXTS))
    chunks = [indexed(ordinal, TEXTS[ordinal]) for ordinal in range(stored)]
    await stores.work.add_chunks(held, chunks=chunks)


async def test_what_is_read_so_far_can_be_found(stores: Stores) -> None:
    base = await open_base(stores)
    held = await begin(stores, base, stored=2)
    found = await find(stores, base, "слово", vector=NORTH)
    assert sorted(found) == ["слово ноль", "слово один"]
    passage = found["слово ноль"].passage
    assert (passage.document_status, passage.searchable, passage.progress_total) == (DocumentStatus.EMBEDDING, 2, 3)
    card = await card_of(stores, base, held.id)
    assert (card.searchable, card.chunks, card.progress_total) == (2, 0, 3)
    assert await stores.search.holds_documents(base)


async def test_a_ready_document_is_found_whole(stores: Stores) -> None:
    base = await open_base(stores)
    held = await begin(stores, base, stored=2)
    await stores.work.publish(held, chunks=3, last=[indexed(2, TEXTS[2])])
    found = await find(stores, base, "слово")
    assert len(found) == 3
    passage = found["слово два"].passage
    assert (passage.document_status, passage.searchable, passage.progress_total) == (DocumentStatus.READY, 3, 3)
    assert (await card_of(stores, base, held.id)).searchable == 3


async def test_each_batch_is_found_at_once_and_a_replaced_passage_by_its_new_words(stores: Stores) -> None:
    base = await open_base(stores)
    held = await begin(stores, base)
    await stores.work.add_chunks(held, chunks=[indexed(0, "иначе"), indexed(1, TEXTS[1])])
    assert sorted(await find(stores, base, "слово иначе")) == ["иначе", "слово один"]
    assert (await card_of(stores, base, held.id)).searchable == 2


async def test_the_first_passages_make_the_batch_due(stores: Stores) -> None:
    base = await open_base(stores)
    held = await begin(stores, base, stored=1)
    assert (await card_of(stores, base, held.id)).searchable == 1


ENDS: dict[str, Callable[[Stores, BaseId, ClaimedDocument], Awaitable[object]]] = {
    "failed": lambda stores, _, held: stores.work.fail(held, failure=Failure(code="file-damaged")),
    "cancelled": lambda stores, base, held: stores.library.cancel(base, held.id),
    "batch cancelled": lambda stores, base, held: cancel_its_batch(stores, base, held),
    "postponed": lambda stores, _, held: stores.work.postpone(held, failure=AWAY, delay_s=0),
    "given back": lambda stores, _, held: stores.work.give_back(held),
    "deleted": lambda stores, base, held: stores.library.delete(base, held.id),
    "base cleaned": lambda stores, base, _: stores.library.clean_base(base),
}


async def cancel_its_batch(stores: Stores, base: BaseId, held: ClaimedDocument) -> None:
    batch = (await card_of(stores, base, held.id)).batch_id
    assert batch is not None
    assert await stores.library.cancel_batch(base, batch) == 1


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
async def test_with_the_work_its_passages_leave_search(
    stores: Stores, end: Callable[[Stores, BaseId, ClaimedDocument], Awaitable[object]]
) -> None:
    base = await open_base(stores)
    held = await begin(stores, base)
    await end(stores, base, held)
    assert await find(stores, base, "слово", vector=NORTH) == {}
    assert not await stores.search.holds_documents(base)


async def test_a_silent_workers_passages_leave_search_when_another_takes_over(stores: Stores) -> None:
    base = await open_base(stores)
    first = await claim_new(stores, base, lease_s=0)
    await go_on(stores, first, 2)
    second = await claim(stores, first.id)
    assert await find(stores, base, "слово") == {}
    await go_on(stores, second, 1)
    assert len(await find(stores, base, "слово")) == 2  # what the first one has stored counts


async def test_of_a_duplicate_nothing_is_found(stores: Stores) -> None:
    base = await open_base(stores)
    first, second = [await begin(stores, base, name=name, stored=0) for name in ("первая", "вторая")]
    await stores.work.publish(first, chunks=3, last=[indexed(number, text) for number, text in enumerate(TEXTS)])
    await stores.work.add_chunks(second, chunks=[indexed(0, TEXTS[0])])
    assert {found.passage.document_id for found in (await find(stores, base, "слово")).values()} == {first.id}


async def test_a_twin_that_is_read_is_hidden_when_the_other_is_ready(stores: Stores) -> None:
    base = await open_base(stores)
    second = await begin(stores, base, name="вторая")
    first = await begin(stores, base, name="первая", stored=0)
    await stores.work.publish(first, chunks=3, last=[indexed(number, text) for number, text in enumerate(TEXTS)])
    found = (await find(stores, base, "слово")).values()
    assert {candidate.passage.document_id for candidate in found} == {first.id}
    assert (await card_of(stores, base, second.id)).searchable == 0


async def test_other_documents_are_found_beside_it(stores: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "слово готово")
    await begin(stores, base)
    assert sorted(await find(stores, base, "слово")) == ["слово готово", "слово ноль"]
