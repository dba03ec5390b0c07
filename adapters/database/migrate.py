"""Brings a database's tables and functions up to this code.

In: a connection URL, numbered migrations that nobody edits once they are released, and files of functions. Out: what
was applied. Migrations are recorded in the Supabase CLI's own table, so that either tool may go first. No migration is
ever undone.
"""

import asyncio
import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
import structlog
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict

from adapters.database.transport import UNKNOWN_FUNCTION, DatabaseAway, DatabaseError, Transport

_HERE = Path(__file__).parent
CHECKOUT = _HERE.parents[1] / "supabase"
_SETTINGS = """
set search_path = public, baza_internal, extensions;
set check_function_bodies = off; -- functions call others that come later
"""
_CONNECT_S = 30
_POSTGRES_MIN = 15
_PGVECTOR_MIN = (0, 8)  # the oldest that the tests have run on; halfvec, sparsevec and bits came with 0.7
_LEDGER = b"""
create schema if not exists supabase_migrations;
create table if not exists supabase_migrations.schema_migrations (version text not null primary key);
alter table supabase_migrations.schema_migrations add column if not exists statements text[];
alter table supabase_migrations.schema_migrations add column if not exists name text;
"""
_APPLIED = rb"""
select version, md5(regexp_replace(array_to_string(statements, ''), '[ \t\r\n;]', '', 'g'))
from supabase_migrations.schema_migrations
"""
_FUNCTIONS = "functions/"  # before the name of a function file among `applied_files`
_PUSH = "run `supabase db push` in the checkout, or `DATABASE_URL=… baza migrate` with the project's connection string."
_VECTOR = b"select installed_version, default_version from pg_available_extensions where name = 'vector'"


@dataclass(frozen=True, kw_only=True)
class Migration:
    """One SQL file, `<version>_<name>.sql`."""

    version: str
    name: str
    text: str

    @property
    def digest(self) -> str:
        """Of what is applied. The Supabase CLI records statement by statement, without what stands between them."""
        return _digest(re.sub(r"[ \t\r\n;]", "", self.text))


@dataclass(frozen=True, kw_only=True)
class Schema:
    """All of it, in the order in which it is applied; the functions, views and triggers of a subject by its name."""

    migrations: tuple[Migration, ...]
    functions: Mapping[str, str]

    def changed(self, digests: Mapping[str, str | None]) -> dict[str, str | None]:
        """The function files that a database, or a release, does not have with these digests; None: those that it has
        and that are no longer there."""
        gone: dict[str, str | None] = dict.fromkeys(sorted(digests.keys() - self.functions.keys()))
        return gone | {name: text for name, text in self.functions.items() if digests.get(name) != _digest(text)}


def _digest(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def read_schema() -> Schema:
    """From inside the package when it was installed as a wheel, else from the checkout."""
    packaged = _HERE / "migrations"
    if packaged.is_dir():
        return read_folders(packaged, _HERE / "functions")
    return read_folders(CHECKOUT / "migrations", CHECKOUT / "schemas" / "functions")


def read_folders(migrations: Path, functions: Path) -> Schema:
    """The schema of these two folders; without a migration it is empty."""
    return Schema(
        migrations=tuple(
            Migration(version=version, name=name, text=path.read_text(encoding="utf-8"))
            for path in sorted(migrations.glob("*_*.sql"))
            for version, name in [path.stem.split("_", 1)]
        ),
        functions={path.stem: path.read_text(encoding="utf-8") for path in sorted(functions.glob("*.sql"))},
    )


def statements(changes: Mapping[str, str | None]) -> str:
    """What applies these changes, in one transaction: drop what the files have made, make it anew, remember it."""
    parts = [f"select baza_internal.drop_function_files('{{{','.join(changes)}}}');\n"]
    parts += [
        f"{text}\nselect baza_internal.record_function_file('{name}', '{_digest(text)}');\n"
        for name, text in changes.items()
        if text is not None
    ]
    return _SETTINGS + "\n".join(parts)


class MigrationError(Exception):
    """The database cannot be brought up to this code; the message is one sentence that says why and what to do."""


@dataclass(frozen=True, kw_only=True)
class Applied:
    migrations: tuple[str, ...] = ()  # versions
    functions: tuple[str, ...] = ()  # files
    altered: tuple[str, ...] = ()  # migrations that were applied with another text than the one that is here


async def migrate(url: str, *, told: Callable[[int, int], None] = lambda done, total: None) -> Applied:
    """Apply what is missing or has changed: each migration in a transaction of its own, the functions with the last.

    `told` hears how many of how many migrations are done. Safe to be called by several processes at once. Raises
    MigrationError, DatabaseAway.
    """
    schema = await asyncio.to_thread(read_schema)
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # whose own words quote the address with its password
        raise MigrationError(
            "DATABASE_URL is no address of a PostgreSQL; it should look like postgresql://user:password@host:5432/name,"
            " with other characters than letters and digits in the password written as %XX."
        ) from None
    try:
        async with await AsyncConnection.connect(
            url, autocommit=True, prepare_threshold=None, connect_timeout=_CONNECT_S, application_name="baza migrate"
        ) as connection:
            await _require_server(connection)
            return await _bring_up(connection, schema, told)
    except psycopg.OperationalError as exc:
        raise DatabaseAway(f"the database cannot be reached: {exc}") from exc
    except psycopg.Error as exc:
        raise MigrationError(f"The database refused to be prepared: {exc.diag.message_primary or exc}.") from exc


async def check_migrated(transport: Transport) -> None:
    """Raise MigrationError when the database behind `transport` is not at this code's version.

    For a Supabase project that is reached only through REST, which cannot change tables.
    """
    schema = await asyncio.to_thread(read_schema)
    applied = await _applied_files(transport)
    functions = {name: digest for name, digest in applied.items() if name.startswith(_FUNCTIONS)}
    if pending := _pending(schema, applied.keys() - functions.keys()):
        raise MigrationError(f"The database lacks {len(pending)} of {len(schema.migrations)} migrations: {_PUSH}")
    if changes := schema.changed({name.removeprefix(_FUNCTIONS): digest for name, digest in functions.items()}):
        raise MigrationError(f"The database has other functions than this Baza ({', '.join(changes)}): {_PUSH}")


async def altered_migrations(transport: Transport) -> tuple[str, ...]:
    """The versions that were applied to this database with another text than the one that is here."""
    return _altered(await asyncio.to_thread(read_schema), await _applied_files(transport))


async def _applied_files(transport: Transport) -> dict[str, str | None]:
    try:
        rows = await transport.call("applied_files")
    except DatabaseError as exc:
        if exc.code != UNKNOWN_FUNCTION:
            raise
        rows = []
    return {str(row["name"]): None if row["digest"] is None else str(row["digest"]) for row in rows}


def _altered(schema: Schema, applied: Mapping[str, str | None]) -> tuple[str, ...]:
    """A ledger may hold no text: `supabase migration repair` records the version alone."""
    return tuple(one.version for one in schema.migrations if applied.get(one.version) not in (None, one.digest))


def _pending(schema: Schema, applied: Collection[str]) -> tuple[Migration, ...]:
    known = [one.version for one in schema.migrations]
    if not known:
        raise MigrationError("There are no migrations here; install Baza anew.")
    if strange := sorted(set(applied).difference(known)):
        newer = strange[-1] > known[-1]
        advice = "it was made by a newer Baza, update this one" if newer else "this Baza's files are not complete"
        raise MigrationError(f"The database has the migration {strange[-1]}, which is not here: {advice}.")
    return tuple(one for one in schema.migrations if one.version not in applied)


async def _require_server(connection: AsyncConnection) -> None:
    major = connection.info.server_version // 10_000
    if major < _POSTGRES_MIN:
        raise MigrationError(f"The database is PostgreSQL {major}; Baza needs {_POSTGRES_MIN} or newer.")
    row = await (await connection.execute(_VECTOR)).fetchone()
    if row is None:
        raise MigrationError("The database has no pgvector; install the extension `vector` 0.8 or newer on its server.")
    installed, offered = row
    if _numbers(installed or offered) >= _PGVECTOR_MIN:
        return
    remedy = "alter extension vector update" if _numbers(offered) >= _PGVECTOR_MIN else "install a newer one"
    raise MigrationError(f"The database's pgvector is {installed or offered}; Baza needs 0.8 or newer: {remedy}.")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


async def _bring_up(connection: AsyncConnection, schema: Schema, told: Callable[[int, int], None]) -> Applied:
    before = await _applied(connection)
    pending, altered = _pending(schema, before), _altered(schema, before)
    if altered:
        structlog.get_logger().warning("migrations_altered", versions=altered)
    migrations: list[str] = []
    functions: tuple[str, ...] = ()
    for done, migration in enumerate(pending or (None,)):
        told(done, len(pending))
        async with connection.transaction():
            await _wait_for_turn(connection)
            if migration is not None and await _apply(connection, migration):
                migrations.append(migration.version)
            if migration in (None, *pending[-1:]):
                functions = await _apply_functions(connection, schema)
    told(len(pending), len(pending))
    return Applied(migrations=tuple(migrations), functions=functions, altered=altered)


async def _applied(connection: AsyncConnection) -> dict[str, str | None]:
    """The ledger, which is made when it is missing: versions with the digests of what was applied."""
    async with connection.transaction():
        await _wait_for_turn(connection)
        cursor = await connection.execute("select to_regclass('supabase_migrations.schema_migrations') is not null")
        if await cursor.fetchone() == (False,):
            await connection.execute(_LEDGER)
        return dict(await (await connection.execute(_APPLIED)).fetchall())


async def _apply(connection: AsyncConnection, migration: Migration) -> bool:
    """False when another process applied it while we waited."""
    cursor = await connection.execute(
        "insert into supabase_migrations.schema_migrations (version, statements, name) values (%s, %s, %s)"
        " on conflict do nothing",
        [migration.version, [migration.text], migration.name],
    )
    if cursor.rowcount == 0:
        return False
    await _run(connection, migration.text, f"{migration.version}_{migration.name}.sql")
    structlog.get_logger().info("migration_applied", version=migration.version, name=migration.name)
    return True


async def _apply_functions(connection: AsyncConnection, schema: Schema) -> tuple[str, ...]:
    cursor = await connection.execute("select name, digest from baza_internal.current_function_files()")
    changes = schema.changed(dict(await cursor.fetchall()))
    names = tuple(changes)
    if changes:
        await _run(connection, statements(changes), f"A change of functions ({', '.join(names)})")
        structlog.get_logger().info("functions_applied", files=names)
    return names


async def _run(connection: AsyncConnection, text: str, what: str) -> None:
    await connection.execute("reset all")  # a file sets its own search_path, and may count on a fresh one
    try:
        await connection.execute(text.encode())
    except psycopg.OperationalError:
        raise
    except psycopg.Error as exc:
        raise MigrationError(f"{what} was refused: {exc.diag.message_primary or exc}") from exc


async def _wait_for_turn(connection: AsyncConnection) -> None:
    """The bot and the worker start at the same time. The lock lasts for the transaction: a pooler may give the next one
    another connection. Its number means nothing: nobody else takes it ("BAZA")."""
    await connection.execute("select pg_advisory_xact_lock(%s)", [0x42415A41])
