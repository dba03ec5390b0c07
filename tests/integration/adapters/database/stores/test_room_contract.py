"""Bases that may hold only so many passages (BASE_PASSAGES): what is refused, when, and what frees room.

Over memory and both transports; the races of two workers are in `test_room_races`.
"""

import pytest

from adapters.database.stores import Stores
from adapters.database.transport import Transport
from domain.documents import DocumentStatus, SourceType
from domain.ids import BaseId, UserId
from ingestion.errors import FailureCode, SourceError
from ingestion.records import Source
from tests.integration.adapters.database.stores.material import (
    LEASE_S,
    card_of,
    claim,
    claim_new,
    claim_source,
    enqueue,
    find,
    indexed,
    open_base,
    parsed,
    publish,
    read,
)

MOST = 3
BORIS = UserId(102)


@pytest.fixture
def bounded(transport: Transport) -> Stores:
    """Three passages a base."""
    return Stores(transport, base_passages=MOST)


async def refusal(stores: Stores, base: BaseId, *texts: str, name: str = "лишнее") -> SourceError:
    """With which a new document ends."""
    held = await claim_new(stores, base, name)
    assert held.full_at is None
    with pytest.raises(SourceError) as refused:
        await read(stores, held, *texts)
    await stores.work.fail(held, failure=refused.value.failure)
    assert (await card_of(stores, base, held.id)).status is DocumentStatus.FAILED
    return refused.value


async def test_a_base_is_filled_to_the_brim_and_no_further(bounded: Stores) -> None:
    base = await open_base(bounded)
    await publish(bounded, base, "раз", "два", "три")
    assert (await claim_new(bounded, base, "четыре")).full_at == MOST


@pytest.mark.over_rest
async def test_what_does_not_fit_leaves_nothing_that_could_be_found(bounded: Stores) -> None:
    base = await open_base(bounded)
    await publish(bounded, base, "раз", "два")
    error = await refusal(bounded, base, "три", "четыре")
    assert (error.code, error.params) == (FailureCode.BASE_WITHOUT_ROOM, {"passages": 2, "most": MOST})
    assert set(await find(bounded, base, "раз два три четыре")) == {"раз", "два"}
    await publish(bounded, base, "три", name="впору")


async def test_what_is_one_batch_is_refused_by_its_publication(bounded: Stores) -> None:
    base = await open_base(bounded)
    await publish(bounded, base, "раз", "два")
    held = await claim_new(bounded, base)
    with pytest.raises(SourceError, match="base-without-room"):
        await bounded.work.publish(
            held, chunks=2, last=[indexed(0, "три"), indexed(1, "четыре")], parsed=parsed("три", "четыре")
        )
    assert set(await find(bounded, base, "три четыре")) == set()
    assert not (await card_of(bounded, base, held.id)).status.is_final  # its worker says why it ends


async def test_room_that_was_promised_is_nobody_elses(bounded: Stores) -> None:
    base = await open_base(bounded)
    first, second = await claim_new(bounded, base, "первая"), await claim_new(bounded, base, "вторая")
    await bounded.work.store_blocks(first, parsed=parsed("раз", "два"), chunks=2)
    with pytest.raises(SourceError, match="base-without-room"):
        await bounded.work.store_blocks(second, parsed=parsed("три", "четыре"), chunks=2)
    await bounded.work.add_chunks(first, chunks=[indexed(0, "раз")])
    with pytest.raises(SourceError, match="base-without-room"):
        await bounded.work.publish(second, chunks=2, last=[indexed(0, "три"), indexed(1, "четыре")])
    await bounded.work.add_chunks(first, chunks=[indexed(1, "два")])
    await bounded.work.publish(first, chunks=2)
    assert set(await find(bounded, base, "раз два три четыре")) == {"раз", "два"}


async def test_whoever_ends_gives_its_promise_back(bounded: Stores) -> None:
    base = await open_base(bounded)
    held = await claim_new(bounded, base, "первая")
    await bounded.work.store_blocks(held, parsed=parsed("раз", "два", "три"), chunks=3)
    assert await bounded.library.cancel(base, held.id)
    await publish(bounded, base, "раз", "два", "три", name="вторая")


async def test_an_attempt_that_begins_anew_does_not_stand_in_its_own_way(bounded: Stores) -> None:
    base = await open_base(bounded)
    (document,) = await enqueue(bounded, base, "первая")
    for texts, lease_s in ((["раз", "два"], 0), (["раз", "два", "три"], LEASE_S)):  # the first worker dies
        held = await claim(bounded, document, lease_s=lease_s)
        await bounded.work.store_blocks(held, parsed=parsed(*texts), chunks=len(texts))
        await bounded.work.add_chunks(held, chunks=[indexed(0, "раз")])
    await bounded.work.add_chunks(held, chunks=[indexed(1, "два"), indexed(2, "три")])
    await bounded.work.publish(held, chunks=3)
    assert set(await find(bounded, base, "раз два три")) == {"раз", "два", "три"}


async def test_deleting_frees_room_at_once(bounded: Stores) -> None:
    base = await open_base(bounded)
    await publish(bounded, base, "раз")
    large = await publish(bounded, base, "два", "три", name="большая")
    assert (await claim_new(bounded, base, "рано")).full_at == MOST
    await bounded.library.delete(base, large)
    await publish(bounded, base, "четыре", "пять", name="впору")
    assert set(await find(bounded, base, "раз два три четыре пять")) == {"раз", "четыре", "пять"}


LINK = Source(type=SourceType.LINK, identifier="https://example.org/")


async def test_in_a_full_base_a_version_may_take_the_place_of_another(bounded: Stores) -> None:
    base = await open_base(bounded)
    await read(bounded, await claim_source(bounded, base, LINK), "раз", "два")
    await publish(bounded, base, "три")
    same = await claim_source(bounded, base, LINK)
    assert same.full_at is None
    await read(bounded, same, "раз", "четыре")
    larger = await claim_source(bounded, base, LINK)
    with pytest.raises(SourceError, match="base-without-room"):
        await read(bounded, larger, "раз", "два", "четыре")
    assert set(await find(bounded, base, "раз два три четыре")) == {"раз", "три", "четыре"}


async def test_a_bound_is_each_bases_own(bounded: Stores) -> None:
    annas, boriss = await open_base(bounded), await open_base(bounded, BORIS)
    await publish(bounded, annas, "раз", "два", "три")
    await publish(bounded, boriss, "раз", "два", "три")
    assert set(await find(bounded, boriss, "раз два три")) == {"раз", "два", "три"}


async def test_bases_of_the_command_line_are_not_bounded(bounded: Stores) -> None:
    base = await bounded.people.open_named_base("своя")
    await publish(bounded, base, "раз", "два", "три", "четыре")
    assert (await claim_new(bounded, base, "ещё")).full_at is None


async def test_a_bound_that_was_lowered_removes_nothing(stores: Stores, bounded: Stores) -> None:
    base = await open_base(stores)
    await publish(stores, base, "раз", "два", "три", "четыре")
    assert (await claim_new(bounded, base, "ещё")).full_at == MOST
    assert len(await find(bounded, base, "раз два три четыре")) == 4
