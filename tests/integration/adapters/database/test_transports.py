"""Both transports against a real database: the same values, the same errors, the same way back after a restart."""

import asyncio
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.database.embedded.cluster import ensure_started, stop
from adapters.database.embedded.seat import Seat, choose_seat
from adapters.database.postgres import open_postgres
from adapters.database.supabase import open_supabase
from adapters.database.transport import (
    BAD_TEXT,
    LEASE_LOST,
    ROWS_MAX,
    TOO_MANY_ROWS,
    UNKNOWN_FUNCTION,
    Argument,
    DatabaseAway,
    DatabaseError,
    RolledBack,
    Row,
    Transport,
)
from domain.locator import JsonValue
from tests.database import OWNER, Server, running_server
from tests.servers.supabase_lite import WHAT_TO_INSTALL, SupabaseLite, find_modules, supabase_lite

pytestmark = pytest.mark.over_rest

_FUNCTIONS = f"""
set role {OWNER};
create function echo_text(p text) returns table (v text) language sql as 'select p';
create function echo_int(p int) returns table (v int) language sql as 'select p';
create function echo_bigint(p bigint) returns table (v bigint) language sql as 'select p';
create function echo_real(p real) returns table (v real) language sql as 'select p';
create function echo_double(p double precision) returns table (v double precision) language sql as 'select p';
create function echo_bool(p boolean) returns table (v boolean) language sql as 'select p';
create function echo_texts(p text[]) returns table (v text[]) language sql as 'select p';
create function echo_ints(p int[]) returns table (v int[]) language sql as 'select p';
create function echo_doubles(p double precision[]) returns table (v double precision[]) language sql as 'select p';
create function echo_json(p text) returns table (v jsonb) language sql as 'select p::jsonb';
create function echo_uuid(p text) returns table (v uuid) language sql as 'select p::uuid';
create function echo_time(p text) returns table (v timestamptz) language sql as 'select p::timestamptz';
create function count_to(p int) returns table (v int) language sql as 'select * from generate_series(1, p)';
create function wait(p real) returns table (v text) language sql as 'select pg_sleep(p)::text';
create function refuse(p_code text) returns table (v text) language plpgsql
  as $$ begin raise exception 'refused for a test' using errcode = p_code; end $$;
create sequence tries;
create function lose(p_times int) returns table (v bigint) language plpgsql
  as $$ begin
    if nextval('tries') <= p_times then raise exception 'a rival' using errcode = '40P01'; end if;
    return query select currval('tries');
  end $$;
create table things (v int primary key);
create function add_thing(p int) returns setof things language sql as 'insert into things values (p) returning *';
"""

_ROW = "returns table (v bigint) language sql as"

_AWKWARD = "Ёлка «в кавычках» \"и\" 'так', \\ {a,b} \n\t %s $1 🎄"

_VALUES: list[tuple[str, Argument, JsonValue]] = [
    ("echo_text", _AWKWARD, _AWKWARD),
    ("echo_text", "", ""),
    ("echo_text", "null", "null"),
    ("echo_text", None, None),
    ("echo_int", -7, -7),
    ("echo_bigint", -1_002_003_004_005, -1_002_003_004_005),  # a Telegram supergroup
    ("echo_bigint", 2**53 - 1, 2**53 - 1),  # the largest that JSON is sure to carry
    ("echo_real", 1.5, 1.5),
    ("echo_real", 3, 3),
    ("echo_double", 0.1, 0.1),
    ("echo_bool", True, True),
    ("echo_bool", False, False),
    ("echo_bool", None, None),
    ("echo_texts", [_AWKWARD, "", "NULL"], [_AWKWARD, "", "NULL"]),
    ("echo_texts", [], []),
    ("echo_ints", [1, -2], [1, -2]),
    ("echo_ints", [], []),
    ("echo_doubles", [0.25, 1e-9], [0.25, 1e-9]),
    ("echo_json", '{"a": [1, null, "ж"], "b": {"c": 1.5}}', {"a": [1, None, "ж"], "b": {"c": 1.5}}),
    ("echo_uuid", "0F0E0D0C-0B0A-0908-0706-050403020100", "0f0e0d0c-0b0a-0908-0706-050403020100"),
]


@pytest.fixture(scope="module")
def database(database_server: Server) -> Iterator[str]:
    """One for all: with a function for each type, made by the owner as migrations are."""
    with database_server.copied() as name:
        database_server.execute(name, _FUNCTIONS)
        yield name


@pytest.fixture(autouse=True)
def _begun_anew(request: pytest.FixtureRequest) -> None:
    """What the functions keep is empty at the start of a test."""
    if "database" in request.fixturenames or "transport" in request.fixturenames:
        server: Server = request.getfixturevalue("database_server")
        server.execute(request.getfixturevalue("database"), "truncate things; alter sequence tries restart")


@pytest.mark.parametrize(("function", "given", "expected"), _VALUES)
async def test_a_value_comes_back_as_it_went(
    transport: Transport, function: str, given: Argument, expected: JsonValue
) -> None:
    assert await transport.call(function, p=given) == [{"v": expected}]


async def test_a_time_comes_back_as_text_of_the_same_instant(transport: Transport) -> None:
    [row] = await transport.call("echo_time", p="2026-11-21T03:04:05.123456+03:00")
    assert datetime.fromisoformat(str(row["v"])) == datetime(2026, 11, 21, 0, 4, 5, 123456, tzinfo=UTC)


async def test_no_rows_are_an_empty_list(transport: Transport) -> None:
    assert await transport.call("count_to", p=0) == []


async def test_rows_keep_their_order(transport: Transport) -> None:
    rows = await transport.call("count_to", p=ROWS_MAX)
    assert [row["v"] for row in rows] == list(range(1, ROWS_MAX + 1))


@pytest.mark.parametrize("rows", [ROWS_MAX + 1, 2 * ROWS_MAX])
async def test_rows_that_may_have_been_cut_are_refused(transport: Transport, rows: int) -> None:
    with pytest.raises(DatabaseError) as caught:
        await transport.call("count_to", p=rows)
    assert caught.value.code == TOO_MANY_ROWS


@pytest.mark.parametrize("code", [LEASE_LOST, "P0001", "42501"])
async def test_a_function_refuses_with_its_own_code(transport: Transport, code: str) -> None:
    with pytest.raises(DatabaseError, match="refused for a test") as caught:
        await transport.call("refuse", p_code=code)
    assert (caught.value.function, caught.value.code) == ("refuse", code)


@pytest.mark.parametrize("code", ["40P01", "53300", "57014"])  # deadlock, no connection left, cancelled
async def test_a_passing_trouble_is_not_a_refusal(transport: Transport, code: str) -> None:
    with pytest.raises(DatabaseAway):
        await transport.call("refuse", p_code=code)


async def test_what_a_rival_undid_is_done_again(transport: Transport) -> None:
    """A number that was given out stays given out, as all else is undone."""
    assert await transport.call("lose", p_times=2) == [{"v": 3}]


async def test_a_rival_that_does_not_end_is_no_reason_to_try_for_ever(transport: Transport) -> None:
    with pytest.raises(RolledBack):
        await transport.call("lose", p_times=3)
    assert await transport.call("lose", p_times=3) == [{"v": 4}]


async def test_a_duplicate_has_its_sqlstate(transport: Transport) -> None:
    await transport.call("add_thing", p=1)
    with pytest.raises(DatabaseError) as caught:
        await transport.call("add_thing", p=1)
    assert caught.value.code == "23505"


async def test_what_was_refused_is_not_quoted(transport: Transport) -> None:
    with pytest.raises(DatabaseError) as caught:
        await transport.call("echo_uuid", p="a private text")
    assert caught.value.code == "22P02"
    assert "private" not in str(caught.value)


async def test_an_unknown_function_has_one_code(transport: Transport) -> None:
    with pytest.raises(DatabaseError) as caught:
        await transport.call("no_such_function", p=1)
    assert caught.value.code == UNKNOWN_FUNCTION


@pytest.mark.parametrize("text", ["zero \0", "half \ud83c"])
async def test_a_text_that_postgres_cannot_hold_is_refused(transport: Transport, text: str) -> None:
    with pytest.raises(DatabaseError) as caught:
        await transport.call("echo_text", p=text)
    assert caught.value.code == BAD_TEXT


async def test_many_calls_at_once_are_all_answered(transport: Transport) -> None:
    answers = await asyncio.gather(*[transport.call("echo_int", p=number) for number in range(40)])
    assert answers == [[{"v": number}] for number in range(40)]


async def test_a_slow_answer_is_given_up_and_postgres_serves_on(database_url: str) -> None:
    async with open_postgres(database_url, pool_size=1, timeout_s=3) as transport:
        with pytest.raises(DatabaseAway):
            await transport.call("wait", p=600)
        assert await transport.call("echo_int", p=1) == [{"v": 1}]


async def test_a_slow_answer_is_given_up_by_supabase(lite_server: SupabaseLite, database: str) -> None:
    async with open_supabase(lite_server.url(database), lite_server.secret, timeout_s=0.5) as transport:
        with pytest.raises(DatabaseAway):
            await transport.call("wait", p=3)
    lite_server.forget(database)


async def test_a_call_that_says_so_is_waited_for_longer_by_supabase(lite_server: SupabaseLite, database: str) -> None:
    async with open_supabase(lite_server.url(database), lite_server.secret, timeout_s=0.5) as transport:
        assert await transport.call("wait", timeout_s=60, p=1) is not None
    lite_server.forget(database)


async def test_connections_that_died_do_not_fail_the_next_call(
    database_server: Server, database: str, database_url: str
) -> None:
    async with open_postgres(database_url, pool_size=4, timeout_s=60) as transport:
        await asyncio.gather(*[transport.call("echo_int", p=1) for _ in range(8)])
        ending = "select pg_terminate_backend(pid, 60000) from pg_stat_activity where application_name = 'baza'"
        await asyncio.to_thread(database_server.execute, database, ending)
        answers = await asyncio.gather(*[transport.call("echo_int", p=2) for _ in range(8)])
    assert answers == [[{"v": 2}]] * 8


@pytest.mark.parametrize("prepares", [True, False])
async def test_statements_are_prepared_where_that_is_asked_for(
    database_server: Server, database: str, database_url: str, *, prepares: bool
) -> None:
    counting = "select count(*) from pg_prepared_statements"
    database_server.execute(database, f"set role {OWNER}; create or replace function prepared() {_ROW} '{counting}'")
    async with open_postgres(database_url, pool_size=1, timeout_s=60, prepares=prepares) as transport:
        for number in range(5):
            assert await transport.call("echo_int", p=number) == [{"v": number}]
        assert await transport.call("echo_int", p=None) == [{"v": None}]
        assert await transport.call("prepared") == [{"v": 1 if prepares else 0}]


async def test_a_prepared_statement_calls_what_a_migration_put_in_its_place(
    database_server: Server, database: str, database_url: str
) -> None:
    made = (
        "set role {}; drop function if exists changing; "
        "create function changing() returns table ({}) language sql as '{}'"
    )
    database_server.execute(database, made.format(OWNER, "v int", "select 1"))
    async with open_postgres(database_url, pool_size=1, timeout_s=60, prepares=True) as transport:
        assert [await transport.call("changing") for _ in range(8)] == [[{"v": 1}]] * 8
        database_server.execute(database, made.format(OWNER, "v text, w int", "select ''new'', 2"))
        assert await transport.call("changing") == [{"v": "new", "w": 2}]


async def test_the_publishable_key_may_call_nothing(lite_server: SupabaseLite, database: str) -> None:
    async with open_supabase(lite_server.url(database), lite_server.publishable, timeout_s=60) as transport:
        with pytest.raises(DatabaseError) as caught:
            await transport.call("applied_files")
    lite_server.forget(database)
    assert caught.value.code == "42501"


async def test_a_wrong_key_is_a_refusal(lite_server: SupabaseLite, database: str) -> None:
    async with open_supabase(lite_server.url(database), "sb_secret_wrong", timeout_s=60) as transport:
        with pytest.raises(DatabaseError):
            await transport.call("applied_files")


async def test_a_wrong_address_is_said_at_once() -> None:
    with pytest.raises(DatabaseAway, match="cannot be reached"):
        async with open_postgres("postgresql://nobody@127.0.0.1:1/none", pool_size=1, timeout_s=5):
            raise AssertionError("it opened")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A server that a test may stop and start again."""

    server: Server
    seat: Seat

    async def stop(self) -> None:
        await asyncio.to_thread(stop, self.seat)

    async def start(self) -> None:
        port = int(self.server.address.rpartition(":")[2].rstrip("/"))
        await asyncio.to_thread(ensure_started, self.seat, tcp_port=port)


@pytest.fixture
def machine() -> Iterator[Machine]:
    home = Path(tempfile.mkdtemp(prefix="baza-tests-"))
    home.chmod(0o711)
    with running_server(home) as server:
        server.execute("baza", "create role service_role; create role anon; create role authenticated")
        server.execute("baza", "create function one() returns table (v int) language sql as 'select 1'")
        yield Machine(server=server, seat=choose_seat(home))
    shutil.rmtree(home)


@asynccontextmanager
async def _opened(kind: str, server: Server) -> AsyncIterator[Transport]:
    if kind == "postgres":
        async with open_postgres(server.superuser_url("baza"), pool_size=2, timeout_s=8) as transport:
            yield transport
        return
    modules = find_modules()
    if modules is None:
        pytest.skip(WHAT_TO_INSTALL)
    with supabase_lite(modules, server.address) as lite:
        async with open_supabase(lite.url("baza"), lite.secret, timeout_s=20) as transport:
            yield transport


async def _answer_within(transport: Transport, seconds: float) -> list[Row]:
    until = time.monotonic() + seconds
    while True:
        try:
            return await transport.call("one")
        except DatabaseAway:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(0.2)


@pytest.mark.parametrize("kind", ["postgres", "supabase"])
async def test_a_stopped_database_is_away_and_serves_again_once_it_is_back(machine: Machine, kind: str) -> None:
    async with _opened(kind, machine.server) as transport:
        assert await transport.call("one") == [{"v": 1}]
        await machine.stop()
        with pytest.raises(DatabaseAway):
            await transport.call("one")
        await machine.start()
        assert await _answer_within(transport, 120) == [{"v": 1}]


async def test_a_restart_between_two_calls_goes_unnoticed(machine: Machine) -> None:
    async with _opened("postgres", machine.server) as transport:
        await transport.call("one")
        await machine.stop()
        await machine.start()
        assert await transport.call("one") == [{"v": 1}]


async def test_a_rest_interface_that_is_gone_is_away() -> None:
    async with open_supabase("http://127.0.0.1:1", "sb_secret_x", timeout_s=2) as transport:
        with pytest.raises(DatabaseAway):
            await transport.call("one")
