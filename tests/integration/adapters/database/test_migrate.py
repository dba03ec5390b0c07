"""Migrations against a database like a new Supabase project's, run by an owner who is no superuser."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from adapters.database import migrate as module
from adapters.database.migrate import (
    Migration,
    MigrationError,
    Schema,
    altered_migrations,
    check_migrated,
    migrate,
    read_folders,
    read_schema,
)
from adapters.database.postgres import open_postgres
from adapters.database.transport import DatabaseAway, Transport
from tests.collecting import collect, released_functions
from tests.database import Server
from tests.integration.adapters.database.catalog import described

_REAL = read_schema()
_ALL = tuple(one.version for one in _REAL.migrations)
_FILES = tuple(_REAL.functions)

_FIRST = "create table public.first (a int); insert into public.first values (1);"
_SECOND = "create table public.second (b text); -- Ёлка, 100 %s"
_ONE = "create function public.one(out n int) language sql as 'select 1';"


@pytest.fixture
def url(database_server: Server, empty_database: str) -> str:
    """DATABASE_URL of a database that has nothing yet."""
    return database_server.owner_url(empty_database)


class Files:
    """A schema of a few small files after the real foundation, in the place of the real one."""

    def __init__(self) -> None:
        self.migrations = {"1_first": _FIRST, "2_second": _SECOND}
        self.functions = {"numbers": _ONE}

    def schema(self) -> Schema:
        """As it would be read."""
        named = [(*stem.split("_", 1), text) for stem, text in sorted(self.migrations.items())]
        return Schema(
            migrations=(
                replace(_REAL.migrations[0], version="0"),
                *(Migration(version=version, name=name, text=text) for version, name, text in named),
            ),
            functions=dict(self.functions),
        )


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Files:
    """What a test may change between two calls of `migrate`."""
    given = Files()
    monkeypatch.setattr(module, "read_schema", given.schema)
    return given


def _rows(url: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(query.encode()).fetchall()


async def test_all_is_applied_in_order_and_a_second_run_applies_nothing(url: str) -> None:
    heard: list[tuple[int, int]] = []
    applied = await migrate(url, told=lambda *done: heard.append(done))
    assert (applied.migrations, applied.altered) == (_ALL, ())
    assert heard == [(done, len(_ALL)) for done in range(len(_ALL) + 1)]
    assert await migrate(url) == module.Applied()


async def test_of_two_runs_at_once_each_migration_is_applied_once(url: str) -> None:
    first, second = await asyncio.gather(migrate(url), migrate(url))
    assert tuple(sorted(first.migrations + second.migrations)) == _ALL
    assert set(first.functions) & set(second.functions) == set()


async def test_the_ledger_is_that_of_the_supabase_cli(url: str, files: Files) -> None:
    await migrate(url)
    rows = _rows(url, "select version, name, statements[1] from supabase_migrations.schema_migrations order by 1")
    assert rows[1:] == [("1", "first", _FIRST), ("2", "second", _SECOND)]


async def test_only_what_is_new_is_applied(url: str, files: Files) -> None:
    await migrate(url)
    files.migrations["3_third"] = "alter table public.second add column c int"
    assert (await migrate(url)).migrations == ("3",)


async def test_a_migration_that_fails_leaves_nothing_and_the_earlier_ones_stay(url: str, files: Files) -> None:
    files.migrations["2_second"] = "create table public.second (b text); create table public.first (a int);"
    with pytest.raises(MigrationError, match=r"2_second\.sql was refused: .*already exists"):
        await migrate(url)
    assert _rows(url, "select version from supabase_migrations.schema_migrations order by 1") == [("0",), ("1",)]
    assert _rows(url, "select to_regclass('public.second')") == [(None,)]


async def test_functions_that_fail_take_the_migration_with_them(url: str, files: Files) -> None:
    files.functions["numbers"] = "create function public.one() returns nonsense language sql as 'select 1';"
    with pytest.raises(MigrationError, match=r"functions \(numbers\) was refused: .*nonsense"):
        await migrate(url)
    assert _rows(url, "select to_regclass('public.first'), to_regclass('public.second')") == [("first", None)]


async def test_a_setting_of_one_file_does_not_reach_the_next(url: str, files: Files) -> None:
    files.migrations["1_first"] = "set search_path = extensions; select 1"
    files.migrations["2_second"] = "create table second (b text)"
    await migrate(url)
    assert _rows(url, "select to_regclass('public.second') is not null") == [(True,)]


async def test_a_changed_file_of_functions_is_applied_again(url: str, files: Files) -> None:
    await migrate(url)
    files.functions["numbers"] = _ONE.replace("select 1", "select 11")
    assert await migrate(url) == module.Applied(functions=("numbers",))
    assert _rows(url, "select one()") == [(11,)]


@pytest.mark.parametrize(
    ("text", "asked", "answer"),
    [
        ("create function public.one(out n text) language sql as 'select ''one''';", "select one()", "one"),
        ("create function public.one(p int, out n int) language sql as 'select p';", "select one(7)", 7),
    ],
    ids=["another result", "another argument"],
)
async def test_of_a_function_with_another_signature_the_old_one_is_gone(
    url: str, files: Files, text: str, asked: str, answer: object
) -> None:
    await migrate(url)
    files.functions["numbers"] = text
    await migrate(url)
    assert _rows(url, asked) == [(answer,)]
    assert _rows(url, "select count(*) from pg_proc where proname = 'one'") == [(1,)]


async def test_functions_move_between_files_and_go_with_theirs(url: str, files: Files) -> None:
    files.functions["more"] = "create function public.two(out n int) language sql as 'select 2';"
    await migrate(url)
    files.functions = {"others": _ONE}
    assert (await migrate(url)).functions == ("more", "numbers", "others")
    assert _rows(url, "select proname from pg_proc where proname in ('one', 'two')") == [("one",)]


async def test_functions_that_a_migration_took_with_it_are_made_again(url: str, files: Files) -> None:
    files.functions["numbers"] += "create function public.firsts() returns setof first language sql as 'table first';"
    await migrate(url)
    files.migrations["3_third"] = "drop table public.first cascade; create table public.first (a int, b int)"
    assert await migrate(url) == module.Applied(migrations=("3",), functions=("numbers",))
    assert _rows(url, "select * from firsts()") == []


async def test_the_functions_of_somebody_else_stay(url: str, files: Files) -> None:
    await migrate(url)
    with psycopg.connect(url) as connection:
        connection.execute("create function public.theirs(out n int) language sql as 'select 5'")
    files.functions = {}
    await migrate(url)
    assert _rows(url, "select theirs()") == [(5,)]


async def test_every_file_can_be_applied_again_alone(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        before = described(connection)
        for name in _FILES:
            connection.execute("update baza_internal.function_files set digest = 'old' where name = %s", [name])
            assert await migrate(database_url) == module.Applied(functions=(name,))
            assert described(connection) == before, name


def _collected(folder: Path) -> Schema:
    """The real files, with the next migration where functions have changed since the last one."""
    migrations, functions = folder / "migrations", folder / "functions"
    migrations.mkdir()
    functions.mkdir()
    for one in _REAL.migrations:
        (migrations / f"{one.version}_{one.name}.sql").write_text(one.text, encoding="utf-8")
    for name, text in _REAL.functions.items():
        (functions / f"{name}.sql").write_text(text, encoding="utf-8")
    collect("functions", migrations, functions, now=datetime(2999, 1, 1, tzinfo=UTC))
    return read_folders(migrations, functions)


def _push(url: str, schema: Schema) -> None:
    """As `supabase db push` does: the migrations alone, each in one transaction, recorded statement by statement."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(module._LEDGER)
        for one in schema.migrations:
            connection.execute("reset all")
            connection.execute(one.text.encode())
            statements = [part.strip() for part in one.text.split(";")]
            connection.execute(
                "insert into supabase_migrations.schema_migrations (version, statements, name) values (%s, %s, %s)",
                [one.version, statements, one.name],
            )


async def test_the_cli_makes_the_same_database(
    url: str, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = _collected(tmp_path)
    _push(url, schema)
    with psycopg.connect(url) as pushed, psycopg.connect(database_url) as migrated:
        assert described(pushed) == described(migrated)
    monkeypatch.setattr(module, "read_schema", lambda: schema)
    assert await migrate(url) == module.Applied()  # and each may follow the other


def test_what_was_collected_is_not_collected_again(tmp_path: Path) -> None:
    schema = _collected(tmp_path)
    assert schema.changed(released_functions(schema)) == {}


async def test_a_migration_that_was_applied_with_another_text_is_named(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await altered_migrations(transport) == ()
    first, *others = _REAL.migrations
    edited = replace(_REAL, migrations=(replace(first, text=f"{first.text}\nselect 1;"), *others))
    monkeypatch.setattr(module, "read_schema", lambda: edited)
    assert await altered_migrations(transport) == (first.version,)


async def test_a_database_of_a_newer_baza_is_refused(url: str, files: Files) -> None:
    files.migrations["3_third"] = "select 1"
    await migrate(url)
    del files.migrations["3_third"]
    with pytest.raises(MigrationError, match="3, which is not here: it was made by a newer Baza"):
        await migrate(url)


async def test_an_applied_migration_that_is_missing_here_is_refused(url: str, files: Files) -> None:
    await migrate(url)
    del files.migrations["1_first"]
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


@pytest.mark.parametrize(
    ("newer", "message"),
    [
        (
            lambda: replace(
                _REAL, migrations=(*_REAL.migrations, Migration(version="9999", name="future", text="select 1"))
            ),
            "lacks 1 of",
        ),
        (
            lambda: replace(_REAL, functions={**_REAL.functions, "future": "select 1"}),
            r"other functions than this Baza \(future\)",
        ),
    ],
)
async def test_a_database_that_is_behind_fails_the_check(
    transport: Transport, monkeypatch: pytest.MonkeyPatch, newer: Callable[[], Schema], message: str
) -> None:
    monkeypatch.setattr(module, "read_schema", newer)
    with pytest.raises(MigrationError, match=message):
        await check_migrated(transport)
