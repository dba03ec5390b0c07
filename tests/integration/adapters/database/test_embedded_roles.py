"""What somebody who got hold of the embedded server's socket, or of Baza's own connection, can do there."""

import stat
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from adapters.database.embedded import embedded_database
from tests.integration.adapters.database.embedded_homes import temporary_folder, value


@pytest.fixture
def folder() -> Iterator[Path]:
    with temporary_folder() as made:
        yield made


async def test_nobody_comes_in_without_a_password(folder: Path) -> None:
    async with embedded_database(folder) as url:
        password = (folder / "baza.password").read_text()
        assert stat.S_IMODE((folder / "baza.password").stat().st_mode) == 0o600
        for stranger in (url.replace(f":{password}", ""), url.replace(f"baza:{password}@", "postgres@")):
            assert stranger != url
            with pytest.raises(psycopg.OperationalError, match="no password supplied"):
                value(stranger, "select 1")


BESIDE = (
    "copy (select 1) to program 'id'",
    "select pg_read_file('/etc/passwd')",
    "create role other superuser",
    "alter role baza superuser",
    "set role postgres",
    "create database other",
    "alter system set shared_preload_libraries = 'x'",
    "create table pg_catalog.mine (a int)",
)


async def test_bazas_own_role_may_do_nothing_beside_its_database(folder: Path) -> None:
    async with embedded_database(folder) as url:
        for statement in BESIDE:
            with (
                psycopg.connect(url, autocommit=True) as connection,
                pytest.raises(psycopg.errors.InsufficientPrivilege),
            ):
                connection.execute(statement.encode())
