"""Who may what: nobody but the owner and the service reaches a table or calls a function of ours.

The lists are read from the catalog, so a table or function that a later migration adds is judged too. New objects in
`public` are granted to everybody at first, as in a Supabase project (tests/database.py).
"""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from tests.database import Server

_STRANGERS = ["anon", "authenticated"]
_OURS = "in ('public'::regnamespace, 'baza_internal'::regnamespace)"
_TABLES = f"select oid::regclass::text from pg_class where relnamespace {_OURS} and relkind in ('r', 'p', 'v', 'm')"
_SEQUENCES = f"select oid::regclass::text from pg_class where relnamespace {_OURS} and relkind = 'S'"
_FUNCTIONS = f"""
select p.oid::regprocedure::text from pg_proc p where p.pronamespace {_OURS}
and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
"""
_DEEDS = ["select", "insert", "update", "delete", "truncate", "references", "trigger"]


@pytest.fixture
def connection(database_server: Server, database: str) -> Iterator[psycopg.Connection]:
    """A superuser's connection, which may take any role."""
    with psycopg.connect(database_server.superuser_url(database), autocommit=True) as opened:
        yield opened


def _names(connection: psycopg.Connection, query: str) -> list[str]:
    names = [name for (name,) in connection.execute(query.encode())]
    assert names
    return names


@pytest.mark.parametrize("role", _STRANGERS)
def test_a_stranger_has_no_right_to_any_table(connection: psycopg.Connection, role: str) -> None:
    allowed = [
        (table, deed)
        for table in _names(connection, _TABLES)
        for deed in _DEEDS
        if connection.execute("select has_table_privilege(%s, %s, %s)", [role, table, deed]).fetchone() == (True,)
    ]
    assert allowed == []


@pytest.mark.parametrize("role", _STRANGERS)
def test_a_stranger_is_refused_when_reading(connection: psycopg.Connection, role: str) -> None:
    tables = _names(connection, _TABLES)
    connection.execute(sql.SQL("set role {}").format(sql.Identifier(role)))
    for table in tables:
        with pytest.raises(InsufficientPrivilege):
            connection.execute(f"select * from {table}".encode())


@pytest.mark.parametrize("role", _STRANGERS)
def test_a_stranger_may_call_no_function(connection: psycopg.Connection, role: str) -> None:
    functions = _names(connection, _FUNCTIONS)
    question = "select has_function_privilege(%s, %s, 'execute')"
    assert [one for one in functions if connection.execute(question, [role, one]).fetchone() == (True,)] == []


@pytest.mark.parametrize("role", _STRANGERS)
def test_a_stranger_may_use_no_sequence(connection: psycopg.Connection, role: str) -> None:
    sequences = _names(connection, _SEQUENCES)
    question = "select has_sequence_privilege(%s, %s, 'usage, select, update')"
    allowed = [one for one in sequences if connection.execute(question, [role, one]).fetchone() == (True,)]
    assert allowed == []


def test_every_table_has_row_level_security_and_no_policy(connection: psycopg.Connection) -> None:
    rows = connection.execute(
        "select relname, relrowsecurity, exists (select from pg_policy where polrelid = c.oid) from pg_class c"
        f" where relnamespace {_OURS} and relkind in ('r', 'p')".encode()
    ).fetchall()
    assert rows
    assert [row for row in rows if row[1:] != (True, False)] == []


@pytest.mark.parametrize("role", _STRANGERS)
def test_a_table_granted_by_mistake_still_shows_no_row(connection: psycopg.Connection, role: str) -> None:
    connection.execute("insert into public.bases (kind, name) values ('named', 'canary')")
    connection.execute(sql.SQL("grant select on public.bases to {}").format(sql.Identifier(role)))
    connection.execute(sql.SQL("set role {}").format(sql.Identifier(role)))
    assert connection.execute("select * from public.bases").fetchall() == []


def test_the_service_may_call_every_function(connection: psycopg.Connection) -> None:
    functions = _names(connection, _FUNCTIONS)
    question = "select has_function_privilege('service_role', %s, 'execute')"
    assert [one for one in functions if connection.execute(question, [one]).fetchone() != (True,)] == []


def test_the_service_sees_every_row(connection: psycopg.Connection) -> None:
    connection.execute("insert into public.bases (kind, name) values ('named', 'canary')")
    connection.execute("set role service_role")
    assert connection.execute("select name from public.bases").fetchall() == [("canary",)]
