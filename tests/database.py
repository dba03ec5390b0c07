"""The databases that tests run on: real PostgreSQL 18 from the embedded server, one database a test.

Out: fixtures; a test folder's conftest imports them. `transport` runs a test twice: over psycopg, and over PostgREST's
stand-in @supabase/lite. Roles and default rights are Supabase's, and migrations run as an owner who is no superuser.
With TEST_SERVER set (`postgresql://superuser:password@127.0.0.1:5432/`, pgvector on offer) they run on that server.
"""

import asyncio
import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import psycopg
import pytest
from psycopg import sql

from adapters.database.embedded import cluster, embedded_database
from adapters.database.migrate import migrate
from adapters.database.postgres import PostgresTransport, open_postgres
from adapters.database.supabase import SupabaseTransport, open_supabase
from adapters.database.transport import Transport
from tests.ports import free_port
from tests.servers.supabase_lite import WHAT_TO_INSTALL, SupabaseLite, find_modules, supabase_lite

__all__ = [
    "database",
    "database_server",
    "database_url",
    "empty_database",
    "lite_server",
    "postgres_transport",
    "server_home",
    "supabase_transport",
    "template_database",
    "transport",
]

OWNER = "baza_owner"
TIMEOUT_S = 60.0
BUFFERS_MB = 128

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


@contextmanager
def running_server(home: Path) -> Iterator[Server]:
    """An embedded server, listening on loopback too. It lives in a thread: fixtures of a session have no event loop.

    Few buffers: making a database goes through all of them, .6 s of 1 GB, and each test has a database of its own.
    """
    opened = embedded_database(home, tcp_port=free_port())
    runner = asyncio.Runner()
    with ThreadPoolExecutor(1) as thread:
        with patch.object(cluster, "buffers_mb", lambda: BUFFERS_MB):
            url = thread.submit(runner.run, opened.__aenter__()).result()
        try:
            yield Server(address=url.rpartition("/")[0] + "/")
        finally:
            thread.submit(runner.run, opened.__aexit__(None, None, None)).result()
            thread.submit(runner.close).result()


@contextmanager
def given_server(address: str) -> Iterator[Server]:
    """Somebody's own server: of another version, or with another pgvector, such as a Supabase project's."""
    server = Server(address=address)
    server.drop("baza_template")
    yield server
    server.drop("baza_template")


@pytest.fixture(scope="session")
def server_home() -> Iterator[Path]:
    """Not pytest's own temporary folder: root's server account cannot enter that one."""
    home = Path(tempfile.mkdtemp(prefix="baza-tests-"))
    home.chmod(0o711)
    yield home
    shutil.rmtree(home)


@pytest.fixture(scope="session")
def database_server(server_home: Path) -> Iterator[Server]:
    """One server for all tests; it may lose what it holds when the machine stops, which makes it fast."""
    address = os.environ.get("TEST_SERVER")
    with given_server(address) if address else running_server(server_home) as server:
        for setting in ("fsync = off", "synchronous_commit = off", "full_page_writes = off"):
            server.execute("postgres", f"alter system set {setting}")
        server.execute("postgres", "select pg_reload_conf()")
        server.execute("postgres", _ROLES)
        yield server


@pytest.fixture(scope="session")
def template_database(database_server: Server) -> str:
    """The name of a database with all migrations applied, for others to be copied from."""
    database_server.create("baza_template")
    database_server.execute("baza_template", _LIKE_SUPABASE)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, migrate(database_server.owner_url("baza_template"))).result()
    return "baza_template"


@pytest.fixture(scope="session")
def lite_server(database_server: Server) -> Iterator[SupabaseLite]:
    """The REST interface over every database of the server."""
    modules = find_modules()
    if modules is None:
        pytest.skip(WHAT_TO_INSTALL)
    with supabase_lite(modules, database_server.address) as lite:
        yield lite


@pytest.fixture
def database(database_server: Server, template_database: str) -> Iterator[str]:
    """The name of this test's own database, migrated and empty."""
    name = f"test_{uuid.uuid4().hex}"
    database_server.create(name, template=template_database)
    yield name
    database_server.drop(name)


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
    lite_server.forget(database)


@pytest.fixture(params=["postgres", "supabase"])
def transport(request: pytest.FixtureRequest) -> Transport:
    """Both transports, one after the other."""
    opened: Transport = request.getfixturevalue(f"{request.param}_transport")
    return opened
