"""Nothing crosses from base to base: a canary's right id with the wrong base finds nothing and changes nothing."""

import pytest

from adapters.database.stores import Stores
from domain.documents import DocumentCard, Removed
from domain.ids import BaseId, ChunkId, DocumentId, UserId
from tests.integration.adapters.database.stores.material import (
    NORTH,
    claim_new,
    find,
    open_base,
    publish,
)

STRANGER = UserId(666)
CANARY = "канарейка поёт"


@pytest.fixture
async def canary(stores: Stores) -> DocumentId:
    """A ready document in Anna's base."""
    return await publish(stores, await open_base(stores), CANARY, name="канарейка")


@pytest.fixture
async def foreign(stores: Stores, canary: DocumentId) -> BaseId:
    """A stranger's base, with a document of its own."""
    base = await open_base(stores, STRANGER)
    await publish(stores, base, "чужие слова")
    return base


async def canary_chunk(stores: Stores) -> ChunkId:
    return (await find(stores, await open_base(stores), "канарейка"))[CANARY].passage.chunk_id


async def canary_card(stores: Stores, canary: DocumentId) -> DocumentCard | None:
    return await stores.library.card(await open_base(stores), canary)


async def test_search_by_words_stays_in_its_base(stores: Stores, foreign: BaseId) -> None:
    assert await find(stores, foreign, "канарейка поёт") == {}


async def test_search_by_vector_stays_in_its_base(stores: Stores, foreign: BaseId) -> None:
    assert set(await find(stores, foreign, "слова", vector=NORTH)) == {"чужие слова"}


async def test_a_passage_is_reached_through_its_base_only(stores: Stores, foreign: BaseId) -> None:
    chunk = await canary_chunk(stores)
    assert await stores.search.passage(foreign, chunk) is None
    assert await stores.search.passage(await open_base(stores), chunk) is not None


async def test_a_card_is_reached_through_its_base_only(stores: Stores, foreign: BaseId, canary: DocumentId) -> None:
    assert await stores.library.card(foreign, canary) is None
    assert [card.title for card in await stores.library.documents(foreign, limit=10)] == ["заметка"]
    assert await stores.library.documents(foreign, limit=10, name_contains="канарейка") == []


async def test_blocks_are_reached_through_their_base_only(stores: Stores, foreign: BaseId, canary: DocumentId) -> None:
    assert await stores.text.blocks(foreign, canary) == ()
    assert len(await stores.text.blocks(await open_base(stores), canary)) == 1


async def test_a_stranger_deletes_nothing(stores: Stores, foreign: BaseId, canary: DocumentId) -> None:
    before = await canary_card(stores, canary)
    assert not await stores.library.delete(foreign, canary)
    assert await canary_card(stores, canary) == before


@pytest.mark.over_rest
async def test_a_stranger_cancels_nothing(stores: Stores, foreign: BaseId) -> None:
    base = await open_base(stores)
    held = await claim_new(stores, base)
    assert not await stores.library.cancel(foreign, held.id)
    await stores.work.renew(held, lease_s=60)


async def test_a_clean_base_leaves_the_others(stores: Stores, foreign: BaseId, canary: DocumentId) -> None:
    before = await canary_card(stores, canary)
    assert await stores.library.clean_base(foreign) == Removed(documents=1, chunks=1)
    assert await canary_card(stores, canary) == before
    assert CANARY in await find(stores, await open_base(stores), "канарейка", vector=NORTH)


async def test_the_scores_of_a_base_do_not_tell_of_another(stores: Stores, foreign: BaseId) -> None:
    before = (await find(stores, foreign, "слова"))["чужие слова"].bm25
    await publish(stores, await open_base(stores), *(f"слова номер {number}" for number in range(5)))
    assert (await find(stores, foreign, "слова"))["чужие слова"].bm25 == pytest.approx(before)


async def test_counts_are_of_one_base(stores: Stores, foreign: BaseId) -> None:
    await publish(stores, await open_base(stores), "ещё", "и ещё")
    assert await stores.library.count(foreign) == Removed(documents=1, chunks=1)
