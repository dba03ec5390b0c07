"""BAZA_HOME is closed to others, whoever made what is in it."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.home import open_home, show_life, silence_s
from tests.waiting import until


@pytest.fixture(autouse=True)
def lax_umask() -> Iterator[None]:
    """As in most shells; that of the test run comes back afterwards."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.lstat().st_mode & 0o777


def test_what_was_left_open_is_closed_and_what_is_not_ours_is_not_touched(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "notes.txt").write_text("somebody's")
    for folder in ("localchat/files", "files/base", "models/e5", "log", "scratch/gate"):
        (shared / folder).mkdir(parents=True)
        (shared / folder / "file").write_text("ours")
    (shared / "models" / "run").touch(mode=0o755)
    (shared / "models" / "link").symlink_to(shared / "notes.txt")
    (shared / "postgres.id").write_text("ours")

    open_home(shared)
    (shared / "models" / "later").write_text("made after it")

    assert mode(shared) == 0o755
    assert mode(shared / "notes.txt") == 0o644
    ours = [path for path in shared.rglob("*") if path.name != "notes.txt" and not path.is_symlink()]
    assert len(ours) == 17
    assert {path.name: mode(path) for path in ours if mode(path) & 0o077} == {}
    assert mode(shared / "models" / "run") == 0o700


def test_a_new_home_can_be_listed_by_nobody_else(tmp_path: Path) -> None:
    open_home(tmp_path / "a" / "home")
    assert mode(tmp_path / "a" / "home") & 0o066 == 0


async def test_life_is_shown_until_the_stop_and_a_supervisor_hears_when_it_ends(tmp_path: Path) -> None:
    assert (silence_s(tmp_path), health(tmp_path)) == (None, 1)
    stop = asyncio.Event()
    showing = asyncio.create_task(show_life(tmp_path, stop))
    await until(lambda: silence_s(tmp_path) is not None)
    stop.set()
    await showing
    assert health(tmp_path) == 0
    os.utime(tmp_path / "alive", (0, 0))
    assert health(tmp_path) == 1


def health(home: Path) -> int:
    """The exit code of the command."""
    command = [sys.executable, "-m", "bot", "health"]
    return subprocess.run(command, env={**os.environ, "BAZA_HOME": str(home)}, capture_output=True).returncode
