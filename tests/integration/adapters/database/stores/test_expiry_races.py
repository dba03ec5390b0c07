"""A document whose time comes while somebody wants it to stay, step by step."""

import asyncio
from dataclasses import replace
from typing import TypeVar

import pytest

from adapters.database.postgres import PostgresTransport
from adapters.database.stores import Stores
from domain.ids import BaseId, DocumentId
from tests.integration.adapters.database.stores.material import (
    batch_of,
    claim,
    claim_source,
    file,
    hash_of,
    open_base,
    read,
)
from tests.integration.adapters.database.stores.test_races import MOMENT_S, unfinished

PLAN = file("План.docx")
T = TypeVar("T")


@pytest.fixture
def stores(postgres_transport: PostgresTransport) -> Stores:
    """The real ones: only there two calls overlap."""
    return Stores(postgres_transport)


async def with_one_that_is_due(stores: Stores) -> tuple[BaseId, DocumentId]:
    base = await open_base(stores)
    (document,) = await stores.intake.enqueue(replace(batch_of(base, PLAN), ttl_s=0))
    await read(stores, await claim(stores, document.id), "офис стоит сто")
    return base, document.id


async def left(stores: Stores, base: BaseId) -> list[DocumentId]:
    return [card.id for card in await stores.library.documents(base, limit=9)]


async def must_wait(call: "asyncio.Task[T]") -> "asyncio.Task[T]":
    done, _ = await asyncio.wait([call], timeout=MOMENT_S)
    assert not done
    return call


async def test_what_is_kept_at_this_moment_is_not_removed(stores: Stores, database_url: str) -> None:
    base, document = await with_one_that_is_due(stores)
    async with unfinished(database_url, "select keep_document(%s, %s)", base, document):
        removal = await must_wait(asyncio.create_task(stores.library.remove_expired()))
    await removal
    assert await left(stores, base) == [document]


async def test_what_is_sent_to_stay_at_this_moment_is_not_removed(stores: Stores, database_url: str) -> None:
    base, document = await with_one_that_is_due(stores)
    again = await claim_source(stores, base, PLAN)
    call = "select record_content(%s, %s, %s)"
    async with unfinished(database_url, call, again.id, again.lease, hash_of("офис стоит сто")):
        removal = await must_wait(asyncio.create_task(stores.library.remove_expired()))
    await removal
    assert await left(stores, base) == [document]


async def test_what_is_removed_at_this_moment_is_no_reason_not_to_read_the_same(
    stores: Stores, database_url: str
) -> None:
    base, _ = await with_one_that_is_due(stores)
    again = await claim_source(stores, base, PLAN)
    async with unfinished(database_url, "select remove_expired()"):
        reading = await must_wait(asyncio.create_task(read(stores, again, "офис стоит сто")))
    assert await reading is None
    assert await left(stores, base) == [again.id]


async def test_two_workers_remove_one_document_once(stores: Stores, database_url: str) -> None:
    base, _ = await with_one_that_is_due(stores)
    async with unfinished(database_url, "select remove_expired()"):
        removal = await must_wait(asyncio.create_task(stores.library.remove_expired()))
    await removal
    assert await left(stores, base) == []
