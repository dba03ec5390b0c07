"""Migrations against a database like a new Supabase project's, run by an owner who is no superuser."""

import asyncio
import shutil
from pathlib import Path

import psycopg
import pytest

from adapters.database import migrate as module
from adapters.database.errors import DatabaseAway
from adapters.database.migrate import MigrationError, check_migrated, migrate, migrations_folder
from adapters.database.postgres import open_postgres
from adapters.database.transport import Transport
from tests.database import Server

_ALL = tuple(sorted(path.stem.split("_", 1)[0] for path in migrations_folder().glob("*.sql")))

_FIRST = "create table public.first (a int); insert into public.first values (1);"
_SECOND = "create table public.second (b text); -- Ёлка, 100 %s"


@pytest.fixture
def url(database_server: Server, empty_database: str) -> str:
    """DATABASE_URL of a database that has nothing yet."""
    return database_server.owner_url(empty_database)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two small migrations, in the place of the real one."""
    _write(tmp_path, "1_first.sql", _FIRST)
    _write(tmp_path, "2_second.sql", _SECOND)
    monkeypatch.setattr(module, "migrations_folder", lambda: tmp_path)
    return tmp_path


def _write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def _rows(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(query.encode()).fetchall()


async def test_all_migrations_are_applied_in_order(url: str) -> None:
    assert await migrate(url) == _ALL


async def test_a_second_run_applies_nothing(url: str) -> None:
    await migrate(url)
    assert await migrate(url) == ()


async def test_of_two_runs_at_once_each_migration_is_applied_once(url: str) -> None:
    first, second = await asyncio.gather(migrate(url), migrate(url))
    assert tuple(sorted(first + second)) == _ALL


async def test_the_ledger_is_that_of_the_supabase_cli(url: str, folder: Path) -> None:
    await migrate(url)
    rows = _rows(url, "select version, name, statements[1] from supabase_migrations.schema_migrations order by 1")
    assert rows == [("1", "first", _FIRST), ("2", "second", _SECOND)]


async def test_only_what_is_new_is_applied(url: str, folder: Path) -> None:
    await migrate(url)
    _write(folder, "3_third.sql", "alter table public.second add column c int")
    assert await migrate(url) == ("3",)


async def test_a_migration_that_fails_leaves_nothing_and_the_earlier_ones_stay(url: str, folder: Path) -> None:
    _write(folder, "2_second.sql", "create table public.second (b text); create table public.first (a int);")
    with pytest.raises(MigrationError, match=r"2_second\.sql was refused: .*already exists"):
        await migrate(url)
    assert _rows(url, "select version from supabase_migrations.schema_migrations") == [("1",)]
    assert _rows(url, "select to_regclass('public.second')") == [(None,)]


async def test_a_setting_of_one_file_does_not_reach_the_next(url: str, folder: Path) -> None:
    _write(folder, "1_first.sql", "set search_path = extensions; select 1")
    _write(folder, "2_second.sql", "create table second (b text)")
    await migrate(url)
    assert _rows(url, "select to_regclass('public.second') is not null") == [(True,)]


async def test_a_database_of_a_newer_baza_is_refused(url: str, folder: Path) -> None:
    _write(folder, "3_third.sql", "select 1")
    await migrate(url)
    (folder / "3_third.sql").unlink()
    with pytest.raises(MigrationError, match="3, which is not here: it was made by a newer Baza"):
        await migrate(url)


async def test_an_applied_migration_that_is_missing_here_is_refused(url: str, folder: Path) -> None:
    await migrate(url)
    (folder / "1_first.sql").unlink()
    with pytest.raises(MigrationError, match="1, which is not here: this Baza's files are not complete"):
        await migrate(url)


async def test_a_server_without_pgvector_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_VECTOR", b"select null, null where false")
    with pytest.raises(MigrationError, match="has no pgvector"):
        await migrate(url)


@pytest.mark.parametrize(
    ("installed", "offered", "remedy"),
    [
        ("'0.7.4'", "'0.8.5'", "alter extension vector update"),
        ("'0.7.4'", "'0.7.4'", "install a newer one"),
        ("null", "'0.5.0'", "install a newer one"),
    ],
)
async def test_an_old_pgvector_is_refused_with_a_remedy(
    url: str, monkeypatch: pytest.MonkeyPatch, installed: str, offered: str, remedy: str
) -> None:
    monkeypatch.setattr(module, "_VECTOR", f"select {installed}, {offered}".encode())
    with pytest.raises(MigrationError, match=f"0.8 or newer: {remedy}"):
        await migrate(url)


@pytest.mark.parametrize(
    "address", ["psql://u:sEcret@h/db", "u:sEcret@h", "postgresql://u:sEcret%zz@h/db", "postgresql://u:sEcret@[::1/db"]
)
async def test_an_address_that_is_none_is_refused_without_its_password(address: str) -> None:
    with pytest.raises(MigrationError, match="DATABASE_URL") as caught:
        await migrate(address)
    assert "sEcret" not in str(caught.value)
    assert caught.value.__cause__ is None  # libpq's error quotes the address


async def test_a_database_that_is_not_there_is_away() -> None:
    with pytest.raises(DatabaseAway, match="cannot be reached"):
        await migrate("postgresql://nobody@127.0.0.1:1/none")


async def test_a_migrated_database_passes_the_check(transport: Transport) -> None:
    await check_migrated(transport)


async def test_a_database_without_any_migration_fails_the_check(url: str) -> None:
    async with open_postgres(url, pool_size=1, timeout_s=60) as transport:
        with pytest.raises(
            MigrationError, match=f"lacks {len(_ALL)} of {len(_ALL)} migrations: run `supabase db push`"
        ):
            await check_migrated(transport)


async def test_a_database_that_is_behind_fails_the_check(
    transport: Transport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = shutil.copytree(migrations_folder(), tmp_path / "migrations")
    _write(newer, "99990101000000_future.sql", "select 1")
    monkeypatch.setattr(module, "migrations_folder", lambda: newer)
    with pytest.raises(MigrationError, match="lacks 1 of"):
        await check_migrated(transport)
