"""What a database of 0.1.0 holds is found in one that was brought up to this code.

`tests/material/database_0.1.0.json` was made when 0.1.0 was, through the functions that it had: two bases with their
documents, a queue, a dialogue, a rating, tables, readings and entities (`canaries.hiding`), as rows by table. Released
migrations are never edited, so its tables are those of the migrations that it names. It is not made again; for a later
release another is: `python -m tests.integration.adapters.database.test_upgrade 0.2.0`.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from adapters.database.migrate import Migration, migrate, read_schema
from adapters.database.postgres import open_postgres
from adapters.database.stores import Stores
from domain.ids import BaseId, DocumentId, UserId
from tests.database import OWNER, Server, running_server
from tests.integration.adapters.database.catalog import described
from tests.integration.adapters.database.stores.material import (
    COUNTED,
    ORPHANS,
    RECOUNTED,
    UNLIKE_SUMS,
    ask,
    find,
    window_of,
)
from tests.integration.adapters.database.stores.test_names_contract import rename
from tests.integration.canaries.hiding import SESSION, hide

MATERIAL = Path(__file__).parents[3] / "material"

_COLUMNS = """
select c.oid::regclass::text, array_agg(a.attname::text order by a.attnum) from pg_class c
join pg_attribute a on a.attrelid = c.oid
where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
  and a.attgenerated = ''
group by 1 order by 1
"""
SHARED = """
select count(distinct c.document_id) > 1 and count(distinct c.base_id) > 1 and count(distinct c.id >> 8) = 1
from documents_chunks c
"""
WORDLESS = """
select count(*) from documents_chunks c
where not exists (select from baza_internal.chunk_terms t where t.chunk_id = c.id and t.base_id = c.base_id)
"""


def _restore(connection: psycopg.Connection, material: Path) -> None:
    """As a superuser, for whom triggers rest: counts and queues are among the rows."""
    made = json.loads(material.read_text(encoding="utf-8"))
    connection.execute("set session_replication_role = replica")
    connection.execute("set search_path = public, extensions")
    for table, columns in connection.execute(_COLUMNS.encode()).fetchall():
        names = sql.SQL(", ").join(map(sql.Identifier, columns))
        connection.execute(
            sql.SQL(
                "insert into {table} ({names}) overriding system value"
                " select {names} from jsonb_populate_recordset(null::{table}, %s)"
            ).format(table=sql.Identifier(table), names=names),
            [json.dumps(made["tables"].get(table, []))],
        )


@pytest.fixture(params=sorted(path.name for path in MATERIAL.glob("database_*.json")))
def upgraded(request: pytest.FixtureRequest, database_server: Server, empty_database: str) -> str:
    """DATABASE_URL of a database that held the material before anything newer was applied."""
    material = MATERIAL / request.param
    url = database_server.owner_url(empty_database)
    versions = json.loads(material.read_text(encoding="utf-8"))["migrations"]
    with psycopg.connect(url, autocommit=True) as owner:
        for one in read_schema().migrations:
            if one.version in versions:
                _apply(owner, one)
    with psycopg.connect(database_server.superuser_url(empty_database), autocommit=True) as connection:
        _restore(connection, material)
    return url


def _apply(connection: psycopg.Connection, migration: Migration) -> None:
    """And record it: what is applied already is not applied again."""
    connection.execute("reset all")
    connection.execute(migration.text.encode())
    connection.execute("create schema if not exists supabase_migrations")
    connection.execute(
        "create table if not exists supabase_migrations.schema_migrations"
        " (version text primary key, statements text[], name text)"
    )
    connection.execute(
        "insert into supabase_migrations.schema_migrations values (%s, %s, %s)",
        [migration.version, [migration.text], migration.name],
    )


async def test_what_a_release_has_stored_is_found_by_this_one(upgraded: str, database_url: str) -> None:
    assert (await migrate(upgraded)).altered == ()
    with psycopg.connect(upgraded) as mine, psycopg.connect(database_url) as new:
        assert described(mine) == described(new)
    assert ask(upgraded, COUNTED) == ask(upgraded, RECOUNTED)
    assert ask(upgraded, ORPHANS) == [(0,)]
    async with open_postgres(upgraded, pool_size=1, timeout_s=60) as transport:
        stores = Stores(transport)
        for base, person in ask(upgraded, "select id, chat_id from bases"):
            word = f"канарейка{person}"
            found = await find(stores, BaseId(str(base)), word)
            assert found
            assert all(word in text for text in found)
            assert await window_of(stores.dialogue, UserId(int(str(person))), SESSION)


async def test_documents_that_share_lists_with_others_are_renamed_and_removed_alone(upgraded: str) -> None:
    """0.1.0 numbered passages of all bases one after the other, so that one list has those of several documents."""
    await migrate(upgraded)
    assert ask(upgraded, SHARED) == [(True,)]
    async with open_postgres(upgraded, pool_size=1, timeout_s=60) as transport:
        stores = Stores(transport)
        for base, document in ask(upgraded, "select base_id, id from documents where status = 'ready'"):
            await rename(stores, BaseId(str(base)), DocumentId(str(document)), "слово дела")
            assert ask(upgraded, UNLIKE_SUMS) == [(0,)]
            assert await stores.library.delete(BaseId(str(base)), DocumentId(str(document)))
            assert ask(upgraded, ORPHANS) == ask(upgraded, UNLIKE_SUMS) == ask(upgraded, WORDLESS) == [(0,)]
    assert ask(upgraded, "select count(*) from posting_lists") == [(0,)]


async def _make(version: str, url: str) -> None:
    await migrate(url)
    async with open_postgres(url, pool_size=1, timeout_s=60) as transport:
        await hide(transport, [[[["слово", "дело"], ["тело"]]], [[["дело"]]]])
    tables = {}
    with psycopg.connect(url) as connection:
        for table, _ in connection.execute(_COLUMNS.encode()).fetchall():
            rows = sql.SQL("select to_jsonb(t) from {} t").format(sql.Identifier(table))
            tables[table] = [row for (row,) in connection.execute(rows)]
    made = {"migrations": [one.version for one in read_schema().migrations], "tables": tables}
    path = MATERIAL / f"database_{version}.json"
    path.write_text(json.dumps(made, ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="baza-material-") as folder:
        Path(folder).chmod(0o711)
        with running_server(Path(folder)) as server:
            server.execute("postgres", f"create role {OWNER} login password '{OWNER}'")
            server.create("made")
            server.execute(
                "made", f"create schema extensions authorization {OWNER}; create extension vector schema extensions"
            )
            asyncio.run(_make(sys.argv[1], server.owner_url("made")))
