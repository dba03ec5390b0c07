"""The databases that tests run on: real PostgreSQL 18 from the embedded server, one server for all processes of a run.

Out: fixtures; a test folder's conftest imports them. A test finds its database migrated and empty: each process has one
that is emptied after the test, or thrown away when more than rows was changed. `transport` runs a test twice: over
psycopg, and over PostgREST's stand-in @supabase/lite. Roles and default rights are Supabase's, and migrations run as an
owner who is no superuser. With TEST_SERVER set (`postgresql://superuser:password@127.0.0.1:5432/`, pgvector on offer)
they run on that server.
"""

import asyncio
import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import psycopg
import pytest
from filelock import FileLock
from psycopg import sql

from adapters.database.embedded import cluster, embedded_database
from adapters.database.migrate import migrate
from adapters.database.postgres import PostgresTransport, open_postgres
from adapters.database.supabase import SupabaseTransport, open_supabase
from adapters.database.transport import Transport
from tests.conftest import RUN_HOME
from tests.ports import free_port
from tests.servers.supabase_lite import WHAT_TO_INSTALL, SupabaseLite, find_modules, supabase_lite

__all__ = [
    "database",
    "database_server",
    "database_url",
    "empty_database",
    "lite_server",
    "own_databases",
    "postgres_transport",
    "server_home",
    "supabase_transport",
    "transport",
]

OWNER = "baza_owner"
TIMEOUT_S = 60.0
BUFFERS_MB = 128  # making a database goes through all of them, .6 s of 1 GB
TEMPLATE = "baza_template"
OWN_DATABASE = "mine"

# Six processes of tests, each with a bot and the pool of a REST interface.
_FAST = {"max_connections": "400", "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}

_ROLES = f"""
do $$ begin
  if not exists (select from pg_roles where rolname = '{OWNER}') then -- on a server of one's own, by the last run
    create role anon nologin; create role authenticated nologin; create role service_role nologin bypassrls;
    create role {OWNER} login password '{OWNER}';
  end if;
end $$
"""
# What a new Supabase project has: pgvector on offer, and everything in public granted to everybody by default.
_LIKE_SUPABASE = f"""
create schema extensions; grant usage on schema extensions, public to anon, authenticated, service_role;
grant usage, create on schema extensions to {OWNER};
create extension vector with schema extensions;
alter default privileges for role {OWNER} in schema public
  grant all on tables to anon, authenticated, service_role;
alter default privileges for role {OWNER} in schema public
  grant all on functions to anon, authenticated, service_role;
alter default privileges for role {OWNER} in schema public
  grant all on sequences to anon, authenticated, service_role;
"""

# The REST interface keeps its connections: asking it to let go of them costs more than they do.
_END_OTHERS = """
select pg_terminate_backend(pid, 20000) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and application_name <> 'postgres.js'
"""
# Whatever a test makes, alters, drops or analyses changes the number of rows or the latest writer of one of these.
_SHAPE = f"""
select concat({
    ", ".join(
        f"(select (count(*), max(xmin::text::bigint)) from {catalog})"
        for catalog in (
            "pg_attribute", "pg_constraint", "pg_db_role_setting", "pg_default_acl", "pg_namespace", "pg_policy",
            "pg_proc", "pg_statistic", "pg_trigger",
        )
    )
}, (select (count(*), md5(string_agg(concat(relname, relacl, relrowsecurity), ',' order by oid))) from pg_class))
"""  # fmt: skip
_FIND_WRITTEN = """
select 'select array_to_string(array[' || string_agg(format('case when exists (select from %1$s)%2$s then %1$L end',
  c.oid::regclass, coalesce(' or (select is_called from ' || s.name || ')', '')), ', ') || '], '', '')'
from pg_class c left join lateral (
  select d.objid::regclass::text as name from pg_depend d join pg_class q on q.oid = d.objid
  where d.refobjid = c.oid and d.classid = 'pg_class'::regclass and q.relkind = 'S' limit 1) s on true
where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
"""


@dataclass(frozen=True, kw_only=True)
class Server:
    """A PostgreSQL on loopback. `address` is a superuser's URL without a database: `postgresql://…:5432/`."""

    address: str

    def superuser_url(self, database: str) -> str:
        """For what only an administrator may do."""
        return self.address + database

    def owner_url(self, database: str) -> str:
        """What DATABASE_URL would be."""
        place = self.address.rpartition("@")[2]
        return f"postgresql://{OWNER}:{OWNER}@{place}{database}"

    def execute(self, database: str, statements: str) -> None:
        """Run `statements` as superuser, each on its own."""
        with psycopg.connect(self.superuser_url(database), autocommit=True) as connection:
            connection.execute(statements.encode())

    def create(self, name: str, *, template: str = "template1") -> None:
        """Create a database that belongs to OWNER."""
        statement = sql.SQL("create database {} template {} owner {} strategy file_copy").format(
            sql.Identifier(name), sql.Identifier(template), sql.Identifier(OWNER)
        )
        self.execute("postgres", statement.as_string())

    def drop(self, name: str) -> None:
        """Drop a database, whoever is connected."""
        self.execute("postgres", f'drop database if exists "{name}" with (force)')


@dataclass(kw_only=True)
class OwnDatabases:
    """Databases that one process takes one after the other: the same one again, unless a test changed more than rows.

    Copying the template takes ten times as long as emptying the tables that a test wrote to.
    """

    server: Server
    name: str | None = None
    made: str = ""
    """What `_SHAPE` said when it was new."""

    def take(self) -> str:
        """The name of a database that is migrated and empty."""
        if self.name is None:
            self.name = f"test_{uuid.uuid4().hex}"
            self.server.create(self.name, template=TEMPLATE)
            with self._connect() as connection:
                self.made = str(_only(connection.execute(_SHAPE)))
        return self.name

    def give_back(self) -> None:
        """Empty it, or drop it where that is not enough."""
        with suppress(psycopg.Error), self._connect() as connection:
            connection.execute(_END_OTHERS)
            if str(_only(connection.execute(_SHAPE))) == self.made:
                written = _only(connection.execute(str(_only(connection.execute(_FIND_WRITTEN))).encode()))
                if written:
                    connection.execute(f"truncate {written} restart identity cascade".encode())
                return
        self.close()

    def close(self) -> None:
        """Drop it; the next one is new."""
        if self.name is not None:
            self.server.drop(self.name)
            self.name = None

    def _connect(self) -> psycopg.Connection:
        assert self.name is not None
        return psycopg.connect(self.server.superuser_url(self.name), autocommit=True, options="-c lock_timeout=20s")


def _only(found: psycopg.Cursor) -> object:
    row = found.fetchone()
    assert row is not None
    return row[0]


@contextmanager
def running_server(home: Path, *, port: int | None = None) -> Iterator[Server]:
    """An embedded server, listening on loopback too, shared by all processes that name the same home and port.

    It lives in a thread: fixtures of a session have no event loop. It may lose what it holds when the machine stops,
    which makes it fast.
    """
    opened = embedded_database(home, tcp_port=port or free_port())
    runner = asyncio.Runner()
    with ThreadPoolExecutor(1) as thread:
        with patch.object(cluster, "buffers_mb", lambda: BUFFERS_MB), patch.dict(cluster._SETTINGS, _FAST):
            url = thread.submit(runner.run, opened.__aenter__()).result()
        try:
            yield Server(address=url.rpartition("/")[0] + "/")
        finally:
            thread.submit(runner.run, opened.__aexit__(None, None, None)).result()
            thread.submit(runner.close).result()


def migrated(server: Server, name: str) -> None:
    """Make the database `name`, like a Supabase project with all migrations."""
    server.create(name)
    server.execute(name, _LIKE_SUPABASE)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, migrate(server.owner_url(name))).result()


@contextmanager
def crashable_server() -> Iterator[Server]:
    """A server of a test's own, that it may kill or restart, with one migrated database, OWN_DATABASE."""
    home = Path(tempfile.mkdtemp(prefix="baza-tests-"))
    home.chmod(0o711)
    try:
        with running_server(home) as server:
            server.execute("postgres", _ROLES)
            migrated(server, OWN_DATABASE)
            yield server
    finally:
        shutil.rmtree(home)


@pytest.fixture(scope="session")
def server_home() -> Path:
    """The folder of this run, the same for all its processes."""
    return Path(os.environ[RUN_HOME])


@pytest.fixture(scope="session")
def database_server(server_home: Path) -> Iterator[Server]:
    """One server for all tests of all processes; the first process prepares it."""
    turn = FileLock(server_home / "prepare.lock")
    with ExitStack() as stack:
        with turn:
            address = os.environ.get("TEST_SERVER")
            port = _common_port(server_home)
            server = Server(address=address) if address else stack.enter_context(running_server(server_home, port=port))
            if not (server_home / "prepared").exists():
                server.execute("postgres", _ROLES)
                server.drop(TEMPLATE)
                migrated(server, TEMPLATE)
                (server_home / "prepared").touch()
        yield server


def _common_port(home: Path) -> int:
    path = home / "port"
    if not path.exists():
        path.write_text(str(free_port()))
    return int(path.read_text())


@pytest.fixture(scope="session")
def lite_server(database_server: Server) -> Iterator[SupabaseLite]:
    """The REST interface over every database of the server."""
    modules = find_modules()
    if modules is None:
        pytest.skip(WHAT_TO_INSTALL)
    with supabase_lite(modules, database_server.address) as lite:
        yield lite


@pytest.fixture(scope="session")
def own_databases(database_server: Server) -> Iterator[OwnDatabases]:
    """The databases of this process, one at a time."""
    with closing(OwnDatabases(server=database_server)) as own:
        yield own


@pytest.fixture
def database(own_databases: OwnDatabases) -> Iterator[str]:
    """The name of a database that only this test uses, migrated and empty."""
    yield own_databases.take()
    own_databases.give_back()


@pytest.fixture
def empty_database(database_server: Server) -> Iterator[str]:
    """The name of a database like a new Supabase project's: no migration applied."""
    name = f"test_{uuid.uuid4().hex}"
    database_server.create(name)
    database_server.execute(name, _LIKE_SUPABASE)
    yield name
    database_server.drop(name)


@pytest.fixture
def database_url(database_server: Server, database: str) -> str:
    """DATABASE_URL of this test's own database."""
    return database_server.owner_url(database)


@pytest.fixture
async def postgres_transport(database_url: str) -> AsyncIterator[PostgresTransport]:
    """psycopg to this test's database."""
    async with open_postgres(database_url, pool_size=8, timeout_s=TIMEOUT_S) as opened:
        yield opened


@pytest.fixture
async def supabase_transport(lite_server: SupabaseLite, database: str) -> AsyncIterator[SupabaseTransport]:
    """supabase-py to this test's database, with the secret key."""
    async with open_supabase(lite_server.url(database), lite_server.secret, timeout_s=TIMEOUT_S) as opened:
        yield opened


@pytest.fixture(params=["postgres", "supabase"])
def transport(request: pytest.FixtureRequest) -> Transport:
    """Both transports, one after the other."""
    opened: Transport = request.getfixturevalue(f"{request.param}_transport")
    return opened
