"""BAZA_HOME is closed to others, whoever made what is in it; its log says where things happened, and nothing that
people wrote.
"""

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from bot.home import configure_logging, open_home, show_life, silence_s
from domain.errors import DatabaseAway
from tests.waiting import until

SECRET = "паспорт 4509 123456"


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


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    configure_logging(tmp_path, level="INFO", style="text", destination="file")
    yield tmp_path / "baza.log"
    for handler in root.handlers:
        handler.close()
    root.handlers, root.level = before, level
    structlog.reset_defaults()


def _break(cause: Exception, trouble: Exception) -> None:
    try:
        try:
            raise cause
        except Exception as error:
            raise trouble from error
    except Exception:
        structlog.get_logger().exception("document_broke", document="d-1")


def test_the_messages_of_foreign_exceptions_are_left_out(log_file: Path) -> None:
    _break(ValueError(SECRET), DatabaseAway("add_chunks: no answer in 30 s"))
    written = log_file.read_text(encoding="utf-8")
    assert SECRET not in written
    assert "ValueError" in written


def test_our_own_exceptions_say_what_they_have_to_say(log_file: Path) -> None:
    _break(ValueError(SECRET), DatabaseAway("add_chunks: no answer in 30 s"))
    assert "domain.errors.DatabaseAway: add_chunks: no answer in 30 s" in log_file.read_text(encoding="utf-8")


def test_the_place_is_named(log_file: Path) -> None:
    _break(KeyError(SECRET), RuntimeError(SECRET))
    assert "in _break" in log_file.read_text(encoding="utf-8")


def test_a_library_that_logs_an_exception_is_treated_alike(log_file: Path) -> None:
    try:
        raise ValueError(SECRET)
    except ValueError:
        logging.getLogger("aiohttp.server").exception("Error handling request")
    written = log_file.read_text(encoding="utf-8")
    assert "Error handling request" in written
    assert SECRET not in written
