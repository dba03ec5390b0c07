"""The databases that tests run on: real PostgreSQL 18 from the embedded server, one server for all processes of a run.

Out: fixtures; a test folder's conftest imports them. A test finds its database migrated and empty: each process has one
that is emptied after the test, or thrown away when more than rows was changed. `transport` is psycopg, and for tests
marked `over_rest` PostgREST's stand-in @supabase/lite besides. What a test connects with is kept for the next one
(`KeptConnections`). Roles and default rights are Supabase's, and migrations
run as an owner who is no superuser. With TEST_SERVER set (`postgresql://superuser:password@127.0.0.1:5432/`, pgvector
on offer) they run on that server.
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
from typing import Self
from unittest.mock import patch

import psycopg
import pytest
from filelock import FileLock
from psycopg import sql
from psycopg.abc import PQGenConn
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn

from adapters.database import postgres
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
BUFFERS_MB = 128  # dropping a database goes through all of them
TEMPLATE = "baza_template"
OWN_DATABASE = "mine"

# Six processes of tests, each with a bot and the pool of a REST interface.
_FAST = {
    "max_connections": "400",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
}

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
where datname = current_database() and pid <> all(%s) and application_name <> 'postgres.js'
"""
# What a session keeps between transactions; only its plans stay.
_ANEW = b"reset all; select pg_advisory_unlock_all(); discard temp; discard sequences; unlisten *"
# Whatever a test makes, alters, drops or analyses changes the number of rows or the latest writer of one of these.
_SHAPE = f"""
select concat({
    ", ".join(
        f"(select (count(*), max(xmin::text::bigint)) from {catalog})"
        for catalog in (
            "pg_attribute", "pg_constraint", "pg_db_role_setting", "pg_default_acl", "pg_namespace", "pg_policy",
            "pg_statistic", "pg_trigger",
        )
    )
}, (select (count(*), md5(string_agg(concat(relname, relacl, relrowsecurity), ',' order by oid))) from pg_class)),
(select (count(*), max(xmin::text::bigint))::text from pg_proc)
"""  # fmt: skip
_FUNCTIONS = """
select oid, concat(proowner, proacl), pg_get_functiondef(oid) from pg_proc
where pronamespace in ('public'::regnamespace, 'baza_internal'::regnamespace) and prokind in ('f', 'p')
"""
# Truncating makes new files, of every table that refers to one: ten times as long as deleting what a test has written.
# What was deleted still takes room, which shows in plans once a table has more than ten pages.
_EMPTY = """
do $$
declare large text; written regclass; counter regclass; first bigint;
begin
  select string_agg(c.oid::regclass::text, ', ') into large from pg_class c
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and pg_relation_size(c.oid) > 10 * 8192;
  if large is not null then
    execute 'truncate ' || large || ' cascade';
  end if;
  set local session_replication_role = replica; -- no triggers, no look for references
  for written in select c.oid from pg_class c
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and pg_relation_size(c.oid) > 0
  loop
    execute 'delete from ' || written;
  end loop;
  for counter, first in select format('%I.%I', s.schemaname, s.sequencename), s.start_value from pg_sequences s
    where s.schemaname = 'public' and s.last_value is not null
  loop
    perform setval(counter, first, false);
  end loop;
end $$
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
        statement = sql.SQL("create database {} template {} owner {} strategy wal_log").format(
            sql.Identifier(name), sql.Identifier(template), sql.Identifier(OWNER)
        )
        self.execute("postgres", statement.as_string())

    @contextmanager
    def copied(self) -> Iterator[str]:
        """A new database, migrated and empty."""
        name = f"test_{uuid.uuid4().hex}"
        self.create(name, template=TEMPLATE)
        yield name
        self.drop(name)

    def drop(self, name: str) -> None:
        """Drop a database, whoever is connected."""
        self.execute("postgres", f'drop database if exists "{name}" with (force)')


class KeptConnections:
    """The connections of Baza's pools to the databases of this process, kept open from test to test.

    A new one costs a password's hash on both sides, and compiles each function anew: most of what a store's test took.
    """

    def __init__(self) -> None:
        self._idle: dict[tuple[str, str], list[PGconn]] = {}

    def open(self, place: tuple[str, str]) -> None:
        """From now on keep what is connected with this database at this port, and not through a wire at another."""
        self._idle[place] = []

    def close(self, place: tuple[str, str]) -> None:
        """Let go of it."""
        for kept in self._idle.pop(place):
            kept.finish()

    def pids(self, place: tuple[str, str]) -> list[int]:
        """Of the backends."""
        return [kept.backend_pid for kept in self._idle[place]]

    def take(self, conninfo: str) -> PGconn | None:
        """A connection as a new one would be, if there is any."""
        asked = conninfo_to_dict(conninfo)
        place = (str(asked.get("dbname")), str(asked.get("port")))
        idle = self._idle.get(place, []) if asked.get("user") == OWNER else []
        while idle:
            kept = idle.pop()
            if kept.exec_(_ANEW).status in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
                return kept
            kept.finish()
        return None

    def keep(self, left: PGconn) -> bool:
        """False for one to another database, or that is amid something."""
        if left.transaction_status != TransactionStatus.IDLE or left.user.decode() != OWNER:
            return False
        idle = self._idle.get((left.db.decode(), left.port.decode()))
        if idle is None:
            return False
        idle.append(left)
        return True


_KEPT = KeptConnections()
_GONE = psycopg.pq.PGconn.connect_start(b"host=/nowhere")
_GONE.finish()


class _KeptConnection(postgres._Connection):
    """Takes the place of the connections of `adapters.database.postgres`."""

    @classmethod
    def _connect_gen(cls, conninfo: str = "") -> PQGenConn[Self]:
        kept = _KEPT.take(conninfo)
        return (yield from super()._connect_gen(conninfo)) if kept is None else cls(kept)

    async def close(self) -> None:
        if _KEPT.keep(self.pgconn):
            self.pgconn = _GONE
        await super().close()


class OwnDatabases:
    """Databases that one process takes one after the other: the same one again, unless a test changed more than rows.

    Emptying one costs a few milliseconds, copying the template some two hundred. What is reached over the REST
    interface is another one, which that has prepared.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._held: dict[bool, _Held] = {}

    @contextmanager
    def taken(self, lite: SupabaseLite | None) -> Iterator[str]:
        """The name of a database that is migrated and empty; afterwards it is emptied, or dropped where that is not
        enough."""
        over_rest = lite is not None
        held = self._held[over_rest] = self._held.get(over_rest) or _Held.made(self._server, lite)
        yield held.name
        if not held.emptied():
            self._drop(over_rest)

    def close(self) -> None:
        """Drop them."""
        for over_rest in list(self._held):
            self._drop(over_rest)

    def _drop(self, over_rest: bool) -> None:
        held = self._held.pop(over_rest)
        _KEPT.close(held.place)
        held.connection.close()
        self._server.drop(held.name)


@dataclass(kw_only=True)
class _Held:
    """A database, a connection to it, what `_SHAPE` said when it was new, and the functions that it had."""

    name: str
    connection: psycopg.Connection
    shape: tuple[str, str]
    functions: dict[int, tuple[str, str]]  # by their oid: owner and rights, definition

    @classmethod
    def made(cls, server: Server, lite: SupabaseLite | None) -> Self:
        name = f"test_{uuid.uuid4().hex}"
        server.create(name, template=TEMPLATE)
        if lite:
            lite.prepare(name)
        connection = psycopg.connect(server.superuser_url(name), autocommit=True, options="-c lock_timeout=20s")
        held = cls(name=name, connection=connection, shape=_shape(connection), functions=_functions(connection))
        _KEPT.open(held.place)
        return held

    @property
    def place(self) -> tuple[str, str]:
        """Its name and the server's port."""
        return self.name, str(self.connection.info.port)

    def emptied(self) -> bool:
        """False when it cannot be used again."""
        ours = [self.connection.info.backend_pid, *_KEPT.pids(self.place)]
        with suppress(psycopg.OperationalError):  # a crash, or a lock that somebody holds
            self.connection.execute(_END_OTHERS, [ours])
            if _shape(self.connection) == self.shape or self._is_restored():
                self.connection.execute(_EMPTY)
                return True
        return False

    def _is_restored(self) -> bool:
        """A test that has only replaced functions, such as those that say what is large, gets them replaced again."""
        now = _functions(self.connection)
        rights = {oid: rights for oid, (rights, _) in self.functions.items()}
        if _shape(self.connection)[0] != self.shape[0] or {oid: rights for oid, (rights, _) in now.items()} != rights:
            return False
        for oid, (_, definition) in self.functions.items():
            if now[oid][1] != definition:
                self.connection.execute(definition.encode())
        self.shape = _shape(self.connection)
        return True


def _shape(connection: psycopg.Connection) -> tuple[str, str]:
    """Of all but functions, and of these."""
    ((others, functions),) = connection.execute(_SHAPE).fetchall()
    return others, functions


def _functions(connection: psycopg.Connection) -> dict[int, tuple[str, str]]:
    return {oid: (rights, definition) for oid, rights, definition in connection.execute(_FUNCTIONS)}


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
    kept = patch.multiple(postgres, _Connection=_KeptConnection, AsyncConnection=_KeptConnection)
    with kept, closing(OwnDatabases(database_server)) as own:
        yield own


@pytest.fixture
def database(request: pytest.FixtureRequest, own_databases: OwnDatabases) -> Iterator[str]:
    """The name of a database that only this test uses, migrated and empty."""
    kind = request.node.callspec.params.get("transport_kind") if hasattr(request.node, "callspec") else None
    over_rest = kind == "supabase" or "lite_server" in request.fixturenames
    with own_databases.taken(request.getfixturevalue("lite_server") if over_rest else None) as name:
        yield name


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


@pytest.fixture
def transport(request: pytest.FixtureRequest, transport_kind: str) -> Transport:
    """To this test's database; `transport_kind` is given by the conftest of the integration tests."""
    opened: Transport = request.getfixturevalue(f"{transport_kind}_transport")
    return opened
