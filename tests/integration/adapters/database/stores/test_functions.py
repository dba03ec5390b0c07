"""What holds of the SQL itself, beyond the ports: its form, its counts, its index for very large bases."""

import random

import psycopg
import pytest

from adapters.database.postgres import PostgresTransport
from adapters.database.stores import Stores
from adapters.database.stores.search import SearchStore
from adapters.database.transport import Transport
from domain.ids import DocumentId, UserId
from tests.integration.adapters.database.stores.material import (
    COUNTED,
    EAST,
    NORTH,
    ORPHANS,
    RECOUNTED,
    ask,
    claim_new,
    find,
    indexed,
    open_base,
    parsed,
    publish,
)

LINES_MAX = 60
LONG = [
    "clean_base",
    "delete_base",
    "delete_document",
    "ensure_posting_segments",
    "forget_person",
    "refresh_common_terms",
    "remove_expired",
    "send_document",
    "switch_model",
]
AS_DEFINER = ("applied_files", "ensure_vector_segments")  # each says why
INLINED = (
    "bm25",
    "half_frequency",
    "in_all",
    "posting_at",
    "prefix_share",
    "rarity",
)  # one expression of the catalog's own operators
OURS = """
from pg_proc p
where p.pronamespace in ('public'::regnamespace, 'baza_internal'::regnamespace)
  and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
"""


def test_every_function_says_what_it_does(database_url: str) -> None:
    silent = ask(database_url, f"select p.proname {OURS} and obj_description(p.oid, 'pg_proc') is null")
    assert silent == []


def test_every_function_looks_names_up_in_a_fixed_path(database_url: str) -> None:
    fixed = "coalesce(array_to_string(p.proconfig, ',') like '%search_path=%', false)"
    assert ask(database_url, f"select p.proname {OURS} and not {fixed} order by 1") == [(name,) for name in INLINED]


def test_functions_run_with_their_callers_rights(database_url: str) -> None:
    definers = ask(database_url, f"select p.proname {OURS} and p.prosecdef order by 1")
    assert definers == [(name,) for name in AS_DEFINER]


def test_what_takes_minutes_may_do_so_over_postgrest_too(database_url: str) -> None:
    """It takes a function's own limit; else that of its role holds, which is seconds in a project of Supabase."""
    patient = "array_to_string(p.proconfig, ',') like '%statement_timeout=%min%'"
    assert ask(database_url, f"select p.proname {OURS} and {patient} order by 1") == [(name,) for name in LONG]


def test_no_function_is_long(database_url: str) -> None:
    lines = "array_length(string_to_array(p.prosrc, chr(10)), 1)"
    assert ask(database_url, f"select p.proname {OURS} and {lines} > {LINES_MAX}") == []


async def test_the_counts_of_a_base_are_the_sums_of_what_can_be_found(
    postgres_transport: PostgresTransport, database_url: str
) -> None:
    stores = Stores(postgres_transport)
    mine, other = await open_base(stores), await open_base(stores, UserId(202))
    documents = [await publish(stores, mine, f"слово {number}", "и ещё одно") for number in range(4)]
    await publish(stores, other, "чужое")
    held = await claim_new(stores, mine)
    await stores.work.store_blocks(held, parsed=parsed("в работе"), chunks=9)
    for chunk in (indexed(0, "в работе"), indexed(1, "уже видно"), indexed(0, "иначе, и больше слов")):
        await stores.work.add_chunks(held, chunks=[chunk])
    await stores.library.delete(mine, documents[1])
    assert ask(database_url, COUNTED) == ask(database_url, RECOUNTED)
    await stores.library.clean_base(mine)
    assert ask(database_url, COUNTED) == ask(database_url, RECOUNTED)
    assert ask(database_url, ORPHANS) == [(0,)]


async def publish_many(stores: Stores, user: UserId, vector: list[float], count: int) -> DocumentId:
    held = await claim_new(stores, await open_base(stores, user))
    noise = random.Random(user)
    vectors = [[part + noise.uniform(-0.2, 0.2) for part in vector] for _ in range(count)]
    chunks = [indexed(number, f"{user} {number}", vector=vectors[number]) for number in range(count)]
    await stores.work.add_chunks(held, chunks=chunks)
    await stores.work.publish(held, chunks=count)
    return held.id


@pytest.mark.over_rest
@pytest.mark.parametrize("limit", [10, 1000])
async def test_the_index_is_made_for_a_base_that_is_large_enough(
    transport: Transport, database_url: str, limit: int
) -> None:
    stores = Stores(transport)
    await publish_many(stores, UserId(1), EAST, 40)
    set_number(database_url, "exact_scan_limit", limit)
    search = SearchStore(transport)
    assert [await search.ensure_index() for _ in range(2)] == [limit < 40, False]


async def test_a_large_base_among_others_is_searched_whole_by_the_index(
    transport: Transport, database_url: str
) -> None:
    stores = Stores(transport)
    await publish_many(stores, UserId(1), EAST, 40)  # far from the question
    await publish_many(stores, UserId(2), NORTH, 600)  # near it, and not ours
    exact = await find(stores, await open_base(stores, UserId(1)), vector=NORTH)
    set_number(database_url, "exact_scan_limit", 10)
    await SearchStore(transport).ensure_index()
    walked = await find(stores, await open_base(stores, UserId(1)), vector=NORTH)
    assert set(walked) == set(exact)
    assert len(walked) == 30


def set_number(url: str, function: str, number: int) -> None:
    """Let a function that says from what size on something holds say another."""
    with psycopg.connect(url, autocommit=True) as connection:
        body = f"language sql immutable set search_path = public as 'select {number}'"
        connection.execute(f"create or replace function baza_internal.{function}() returns int {body}".encode())
