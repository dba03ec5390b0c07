"""Brings a database's tables and functions up to this code.

In: a connection URL, and the numbered SQL files of `supabase/migrations`. Out: the versions that were applied. They are
recorded in the Supabase CLI's own table, so that either tool may go first. No migration is ever undone.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psycopg
import structlog
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict

from adapters.database.answers import UNKNOWN_FUNCTION
from adapters.database.errors import DatabaseAway, DatabaseError
from adapters.database.transport import Transport

_LOCK = 0x42415A41  # "BAZA": an advisory lock's number means nothing, it has to be one that nobody else takes
_CONNECT_S = 30
_POSTGRES_MIN = 15
_PGVECTOR_MIN = (0, 8)  # the oldest that the tests have run on; halfvec, sparsevec and bits came with 0.7

_LEDGER = b"""
create schema if not exists supabase_migrations;
create table if not exists supabase_migrations.schema_migrations (version text not null primary key);
alter table supabase_migrations.schema_migrations add column if not exists statements text[];
alter table supabase_migrations.schema_migrations add column if not exists name text;
"""

_VECTOR = b"select installed_version, default_version from pg_available_extensions where name = 'vector'"


class MigrationError(Exception):
    """The database cannot be brought up to this code; the message is one sentence that says why and what to do."""


@dataclass(frozen=True, kw_only=True)
class Migration:
    """One SQL file, `<version>_<name>.sql`."""

    version: str
    name: str
    path: Path


def migrations_folder() -> Path:
    """Inside the package when it was installed as a wheel, else the checkout's `supabase/migrations`."""
    packaged = Path(__file__).parent / "migrations"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "supabase" / "migrations"


async def migrate(url: str) -> tuple[str, ...]:
    """Apply what is missing, each file in a transaction of its own, and return the versions applied.

    Safe to be called by several processes at once. Raises MigrationError, DatabaseAway.
    """
    known = await asyncio.to_thread(_read_migrations, migrations_folder())
    _require_address(url)
    try:
        async with await AsyncConnection.connect(
            url, autocommit=True, prepare_threshold=None, connect_timeout=_CONNECT_S, application_name="baza migrate"
        ) as connection:
            await _require_server(connection)
            pending = _pending(known, await _prepare(connection))
            return tuple([one.version for one in pending if await _apply(connection, one)])
    except psycopg.OperationalError as exc:
        raise DatabaseAway(f"the database cannot be reached: {exc}") from exc
    except psycopg.Error as exc:
        raise MigrationError(f"The database refused to be prepared: {exc.diag.message_primary or exc}.") from exc


async def check_migrated(transport: Transport) -> None:
    """Raise MigrationError when the database behind `transport` is not at this code's version.

    For a Supabase project that is reached only through REST, which cannot change tables.
    """
    known = await asyncio.to_thread(_read_migrations, migrations_folder())
    try:
        applied = [str(row["version"]) for row in await transport.call("schema_version")]
    except DatabaseError as exc:
        if exc.code != UNKNOWN_FUNCTION:
            raise
        applied = []
    if pending := _pending(known, applied):
        raise MigrationError(
            f"The database lacks {len(pending)} of {len(known)} migrations: run `supabase db push` in the checkout, "
            "or `DATABASE_URL=… baza migrate` with the project's connection string."
        )


def _read_migrations(folder: Path) -> list[Migration]:
    files = sorted(folder.glob("*_*.sql"))
    if not files:
        raise MigrationError(f"There are no migrations in {folder}; install Baza anew.")
    return [_named(path) for path in files]


def _named(path: Path) -> Migration:
    version, name = path.stem.split("_", 1)
    return Migration(version=version, name=name, path=path)


def _pending(known: list[Migration], applied: Iterable[str]) -> list[Migration]:
    done = set(applied)
    if strange := sorted(done - {one.version for one in known}):
        newer = strange[-1] > known[-1].version
        advice = "it was made by a newer Baza, update this one" if newer else "this Baza's files are not complete"
        raise MigrationError(f"The database has the migration {strange[-1]}, which is not here: {advice}.")
    return [one for one in known if one.version not in done]


def _require_address(url: str) -> None:
    """libpq's own words would be no help here: they quote the address with its password."""
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise MigrationError(
            "DATABASE_URL is no address of a PostgreSQL; it should look like postgresql://user:password@host:5432/name,"
            " with other characters than letters and digits in the password written as %XX."
        ) from None


async def _require_server(connection: AsyncConnection) -> None:
    major = connection.info.server_version // 10_000
    if major < _POSTGRES_MIN:
        raise MigrationError(f"The database is PostgreSQL {major}; Baza needs {_POSTGRES_MIN} or newer.")
    cursor = await connection.execute(_VECTOR)
    row = await cursor.fetchone()
    if row is None:
        raise MigrationError("The database has no pgvector; install the extension `vector` 0.8 or newer on its server.")
    installed, offered = row
    if _numbers(installed or offered) >= _PGVECTOR_MIN:
        return
    remedy = "alter extension vector update" if _numbers(offered) >= _PGVECTOR_MIN else "install a newer one"
    raise MigrationError(f"The database's pgvector is {installed or offered}; Baza needs 0.8 or newer: {remedy}.")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


async def _prepare(connection: AsyncConnection) -> list[str]:
    """Make the ledger when it is missing, and read it."""
    async with connection.transaction():
        await _wait_for_turn(connection)
        cursor = await connection.execute("select to_regclass('supabase_migrations.schema_migrations') is not null")
        if await cursor.fetchone() == (False,):
            await connection.execute(_LEDGER)
        cursor = await connection.execute("select version from supabase_migrations.schema_migrations")
        return [version for (version,) in await cursor.fetchall()]


async def _apply(connection: AsyncConnection, migration: Migration) -> bool:
    """False when another process applied it while we waited."""
    text = await asyncio.to_thread(migration.path.read_text, encoding="utf-8")
    try:
        async with connection.transaction():
            await _wait_for_turn(connection)
            await connection.execute("reset all")  # a file sets its own search_path, and may count on a fresh one
            cursor = await connection.execute(
                "insert into supabase_migrations.schema_migrations (version, statements, name) values (%s, %s, %s)"
                " on conflict do nothing",
                [migration.version, [text], migration.name],
            )
            if cursor.rowcount == 0:
                return False
            await connection.execute(text.encode())
    except psycopg.OperationalError:
        raise
    except psycopg.Error as exc:
        raise MigrationError(f"{migration.path.name} was refused: {exc.diag.message_primary or exc}") from exc
    structlog.get_logger().info("migration_applied", version=migration.version, name=migration.name)
    return True


async def _wait_for_turn(connection: AsyncConnection) -> None:
    """The bot and the worker start at the same time. The lock lasts for the transaction: a pooler may give the next one
    another connection."""
    await connection.execute("select pg_advisory_xact_lock(%s)", [_LOCK])
