"""Several small documents in one call: claimed, compared, published together, each with an end of its own."""

from dataclasses import replace
from pathlib import Path

import pytest

from adapters.database.stores import Stores
from domain.documents import DocumentStatus
from domain.ids import BaseId, DocumentId, UserId
from ingestion.records import ClaimedDocument, FetchedFile, Source, WholeDocument
from tests.integration.adapters.database.stores.material import (
    LEASE_S,
    batch_of,
    card_of,
    claim,
    enqueue,
    file,
    find,
    indexed,
    open_base,
    parsed,
)

BORIS = UserId(202)
MOST = 3


def small(name: str) -> Source:
    return replace(file(name), size_bytes=1000)


async def claim_together(stores: Stores, *only: DocumentId) -> list[ClaimedDocument]:
    return await stores.work.claim(worker="a worker", lease_s=LEASE_S, most=MOST, only=only)


async def claim_files(stores: Stores, base: BaseId, *names: str) -> list[ClaimedDocument]:
    await stores.intake.enqueue(batch_of(base, *map(small, names)))
    return await claim_together(stores)


def whole(document: ClaimedDocument, text: str, *, content_hash: str | None = None) -> WholeDocument:
    return WholeDocument(document=document, parsed=parsed(text), chunks=[indexed(0, text)], content_hash=content_hash)


def fetched(digest: str) -> FetchedFile:
    return FetchedFile(path=Path("x"), name="x", media_type="text/plain", size_bytes=9, sha256=digest)


async def test_small_documents_of_one_base_are_claimed_together(stores: Stores) -> None:
    base, other = await open_base(stores), await open_base(stores, BORIS)
    mine = await enqueue(stores, base, "первая", "вторая", "третья", "четвёртая")
    theirs = await enqueue(stores, other, "чужая")
    claims = [[each.id for each in await claim_together(stores)] for _ in range(3)]
    assert claims == [mine[:3], theirs, mine[3:]]


async def test_large_documents_are_claimed_one_by_one(stores: Stores) -> None:
    base = await open_base(stores)
    await stores.intake.enqueue(batch_of(base, file("один.zip"), file("два.zip")))
    assert [len(await claim_together(stores)) for _ in range(3)] == [1, 1, 0]


async def test_what_was_tried_before_is_claimed_alone(stores: Stores) -> None:
    """It may be what killed the worker."""
    base = await open_base(stores)
    tried, *others = await enqueue(stores, base, "первая", "вторая", "третья")
    await claim(stores, tried, lease_s=0)
    assert [[each.id for each in await claim_together(stores)] for _ in range(2)] == [[tried], others]


@pytest.mark.over_rest
async def test_they_are_published_in_one_call_each_with_its_own_vectors(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_files(stores, base, "а.txt", "б.txt")
    assert set(await stores.work.record_contents([(held[0], fetched("1")), (held[1], fetched("2"))])) == {
        each.id for each in held
    }
    ended = await stores.work.publish_together([whole(held[0], "первые слова"), whole(held[1], "вторые слова")])
    assert ended == {each.id: True for each in held}
    assert set(await find(stores, base, "слова")) == {"первые слова", "вторые слова"}
    assert {(await card_of(stores, base, each.id)).status for each in held} == {DocumentStatus.READY}


@pytest.mark.over_rest
async def test_of_two_alike_the_second_is_a_duplicate(stores: Stores) -> None:
    base = await open_base(stores)
    await enqueue(stores, base, "раз", "два")
    held = await claim_together(stores)
    ended = await stores.work.publish_together([whole(each, "те же слова", content_hash="1") for each in held])
    assert ended == {held[0].id: True, held[1].id: False}
    again = await claim_files(stores, base, "в.txt")
    assert await stores.work.record_contents([(again[0], fetched("1"))]) == []
    assert (await card_of(stores, base, again[0].id)).status is DocumentStatus.DUPLICATE


async def test_one_that_was_cancelled_stops_no_other(stores: Stores) -> None:
    base = await open_base(stores)
    held = await claim_files(stores, base, "а.txt", "б.txt")
    await stores.library.cancel(base, held[0].id)
    contents = [(held[0], fetched("1")), (held[1], fetched("2"))]
    assert await stores.work.record_contents(contents) == [held[1].id]
    ended = await stores.work.publish_together([whole(held[0], "первые"), whole(held[1], "вторые")])
    assert ended == {held[1].id: True}
    assert (await card_of(stores, base, held[0].id)).status is DocumentStatus.CANCELLED
