"""The embedded PostgreSQL: a home becomes a database, whatever the path and however the last process ended."""

import asyncio
import os
import shutil
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from adapters.database.embedded import EmbeddedDatabaseError, embedded_database
from tests.integration.adapters.database.embedded_homes import execute, server_pid, temporary_folder, user_of, value
from tests.ports import free_port

_AWKWARD = "Мои данные, $HOME \"x\" 'y' `id` 50%"
_LONG = "/".join(["Длинное имя папки"] * 8)


@pytest.fixture
def folder() -> Iterator[Path]:
    with temporary_folder() as made:
        yield made


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """One home for the tests that leave it as they found it: making a cluster takes a second."""
    with temporary_folder() as made:
        yield made / "home"


@pytest.mark.parametrize("name", [_AWKWARD, _LONG], ids=["awkward", "long"])
async def test_any_home_works_and_keeps_what_was_written(folder: Path, name: str) -> None:
    async with embedded_database(folder / name) as url:
        execute(url, "create table kept as select 'Ж' as letter")
    async with embedded_database(folder / name) as url:
        assert value(url, "select letter from kept") == "Ж"


async def test_the_server_is_set_up_for_us_and_closed_to_others(home: Path) -> None:
    expected = {
        "select lower('ЁЖ')": "ёж",
        "show timezone": "UTC",
        "show fsync": "on",
        "show server_encoding": "UTF8",
        "show listen_addresses": "",
        "show max_connections": "50",
        "select current_database()::text": "baza",
        "select count(*) from pg_available_extensions where name = 'vector' and default_version >= '0.8'": 1,
    }
    async with embedded_database(home) as url:
        assert {query: value(url, query) for query in expected} == expected
        assert stat.S_IMODE((home / "postgres").stat().st_mode) == 0o700


async def test_the_last_one_out_stops_the_server(home: Path) -> None:
    async with embedded_database(home) as url:
        pass
    with pytest.raises(psycopg.OperationalError):
        value(url, "select 1")


async def test_the_first_one_out_leaves_the_server_to_the_second(home: Path) -> None:
    with user_of(home) as first:
        async with embedded_database(home) as url:
            assert first.answer == url
            first.leave()
            assert value(url, "select 1") == 1


async def test_two_uses_in_one_process_share_a_server(home: Path) -> None:
    async with embedded_database(home) as first:
        async with embedded_database(home) as second:
            assert server_pid(first) == server_pid(second)
        assert value(first, "select 1") == 1


async def test_a_killed_starter_does_not_take_the_server_with_it(home: Path) -> None:
    with user_of(home) as starter:
        async with embedded_database(home) as url:
            starter.kill()
            assert value(url, "select 1") == 1
    assert not (home / "postgres" / "postmaster.pid").exists()


async def test_a_server_left_running_is_taken_over_and_stopped(home: Path) -> None:
    with user_of(home) as starter:
        left = server_pid(starter.answer)
        starter.kill()
    async with embedded_database(home) as url:
        assert server_pid(url) == left
    assert not (home / "postgres" / "postmaster.pid").exists()


async def test_a_killed_server_starts_again(home: Path) -> None:
    with user_of(home) as other:
        execute(other.answer, "create table if not exists survives (a int)")
        os.kill(server_pid(other.answer), signal.SIGKILL)
        async with embedded_database(home) as url:
            assert value(url, "select count(*) from survives") == 0


async def test_a_server_that_is_killed_in_use_comes_back_by_itself(home: Path) -> None:
    async with embedded_database(home) as url:
        killed = server_pid(url)
        os.kill(killed, signal.SIGKILL)
        async with asyncio.timeout(120):
            while not _answers(url) or server_pid(url) == killed:
                await asyncio.sleep(0.1)


def _answers(url: str) -> bool:
    try:
        return value(url, "select 1") == 1
    except psycopg.OperationalError:
        return False


@pytest.mark.parametrize("pid", [os.getpid(), 1, 2**22 - 3], ids=["ours", "another account's", "nobody's"])
async def test_the_lock_file_of_a_crashed_machine_does_not_hinder(home: Path, pid: int) -> None:
    async with embedded_database(home):
        lines = (home / "postgres" / "postmaster.pid").read_text(encoding="utf-8").split("\n")
    for lock in ("postmaster.pid", f".s.PGSQL.{lines[3]}.lock"):
        (home / "postgres" / lock).write_text("\n".join([str(pid), *lines[1:]]), encoding="utf-8")
    async with embedded_database(home) as url:
        assert value(url, "select 1") == 1


async def test_a_first_start_that_was_cut_short_does_not_hinder(folder: Path) -> None:
    (folder / "postgres.new" / "base").mkdir(parents=True)
    async with embedded_database(folder) as url:
        assert value(url, "select 1") == 1


async def test_a_cluster_of_another_version_is_refused(folder: Path) -> None:
    (folder / "postgres").mkdir()
    (folder / "postgres" / "PG_VERSION").write_text("15\n", encoding="ascii")
    with pytest.raises(EmbeddedDatabaseError, match="was made by PostgreSQL 15, this Baza brings 18"):
        async with embedded_database(folder):
            raise AssertionError("it started")


async def test_a_failed_start_says_what_the_server_said(home: Path, folder: Path) -> None:
    async with embedded_database(home):
        pass
    broken = shutil.copytree(home, folder / "broken", symlinks=True)
    os.chown(broken / "postgres", (home / "postgres").stat().st_uid, -1)
    (broken / "postgres" / "global" / "pg_control").unlink()
    with pytest.raises(EmbeddedDatabaseError, match="did not start"):
        async with embedded_database(broken):
            raise AssertionError("it started")


async def test_an_error_of_the_one_who_uses_it_is_passed_on_as_it_is(home: Path) -> None:
    with pytest.raises(PermissionError, match="mine"):
        async with embedded_database(home):
            raise PermissionError("mine")


async def test_over_tcp_the_password_is_asked_for(folder: Path) -> None:
    async with embedded_database(folder, tcp_port=free_port()) as url:
        assert value(url, "select 1") == 1
        assert stat.S_IMODE((folder / "postgres.password").stat().st_mode) == 0o600
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            value(url.replace(url.split(":")[2].split("@")[0], "wrong"), "select 1")


async def test_a_port_cannot_be_asked_of_a_server_that_has_none(home: Path) -> None:
    port = free_port()
    async with embedded_database(home):
        with pytest.raises(EmbeddedDatabaseError, match=f"not on port {port}"):
            async with embedded_database(home, tcp_port=port):
                raise AssertionError("it started")
