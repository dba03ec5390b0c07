"""A base of any size gives as many passages as it has, up to the limit: read whole, by its segment, beside a segment.

In: how many passages lie in the segment, come after it, are deleted, and lie in another base, nearer to the question.
"""

import random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from adapters.database.postgres import PostgresTransport
from adapters.database.stores import Stores
from domain.ids import BaseId, UserId
from tests.integration.adapters.database.stores.material import EAST, NORTH, claim_new, find, indexed, open_base
from tests.integration.adapters.database.stores.test_functions import set_number

LIMIT = 30
SIZES = st.sampled_from((0, 1, 2, LIMIT - 1, LIMIT, LIMIT + 1, 3 * LIMIT))
NEVER = 10_000
FOUND_BY_WALKING = settings(
    max_examples=12,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


async def add(stores: Stores, base: BaseId, name: str, count: int, *, near: list[float]) -> None:
    """A document of so many passages; none is the same as another."""
    if count == 0:
        return
    noise = random.Random(f"{base}{name}")
    held = await claim_new(stores, base, name)
    vectors = [[part + noise.uniform(-0.3, 0.3) for part in near] for _ in range(count)]
    chunks = [indexed(at, f"{name} {at} слово", vector=vector) for at, vector in enumerate(vectors)]
    await stores.work.add_chunks(held, chunks=chunks)
    await stores.work.publish(held, chunks=count)


@pytest.mark.parametrize("exact", [0, NEVER])
@FOUND_BY_WALKING
@given(in_segment=SIZES, later=SIZES, gone=SIZES, person=st.integers(min_value=10_000, max_value=10**9))
async def test_no_base_gives_fewer_passages_than_it_has(
    postgres_transport: PostgresTransport,
    database_url: str,
    exact: int,
    in_segment: int,
    later: int,
    gone: int,
    person: int,
) -> None:
    stores = Stores(postgres_transport)
    set_number(database_url, "exact_scan_limit", exact)
    mine, other = await open_base(stores, UserId(person)), await open_base(stores, UserId(1))
    await add(stores, other, f"чужое{person}", LIMIT, near=NORTH)
    await add(stores, mine, "на полке", in_segment, near=EAST)
    await add(stores, mine, "уйдёт", gone, near=NORTH)
    await stores.search.ensure_index()
    await add(stores, mine, "позже", later, near=EAST)
    for card in await stores.library.documents(mine, limit=9, name_contains="уйдёт"):
        await stores.library.delete(mine, card.id)

    by_vector = await find(stores, mine, vector=NORTH, limit=LIMIT)
    assert len(by_vector) == min(LIMIT, in_segment + later)
    assert len(await find(stores, mine, "слово", limit=LIMIT)) == min(LIMIT, in_segment + later)
    assert not any(text.startswith(("чужое", "уйдёт")) for text in by_vector)
    await stores.library.clean_base(mine)
