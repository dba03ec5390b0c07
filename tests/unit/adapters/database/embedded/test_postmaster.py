"""Reading PostgreSQL's lock file."""

import os
from pathlib import Path

import pytest

from adapters.database.embedded.cluster import Postmaster, disown, read_postmaster

_WHOLE = "4711\n/home/ж\n1763680000\n5432\n.\n127.0.0.1\n   123   456\nready   \n"


def test_a_whole_file_is_read() -> None:
    assert Postmaster.parse(_WHOLE) == Postmaster(pid=4711, port=5432, sockets=Path("."), tcp=True, ready=True)


@pytest.mark.parametrize("lines", range(8))
def test_an_unfinished_file_is_no_server_yet(lines: int) -> None:
    assert Postmaster.parse("\n".join(_WHOLE.split("\n")[:lines])) is None


@pytest.mark.parametrize("status", ["starting", "stopping", "standby"])
def test_a_server_that_is_not_ready_says_so(status: str) -> None:
    server = Postmaster.parse(_WHOLE.replace("ready", status))
    assert server is not None
    assert not server.ready


def test_no_file_is_no_server(tmp_path: Path) -> None:
    assert read_postmaster(tmp_path) is None


def test_a_process_that_is_no_postgres_is_not_the_server(tmp_path: Path) -> None:
    server = Postmaster.parse(_WHOLE.replace("4711", str(os.getpid())))
    assert server is not None
    assert not server.alive(tmp_path)


def test_a_disowned_file_names_no_process_and_keeps_the_rest(tmp_path: Path) -> None:
    dead = Postmaster.parse(_WHOLE)
    assert dead is not None
    lock = tmp_path / dead.sockets / f".s.PGSQL.{dead.port}.lock"
    lock.parent.mkdir(exist_ok=True)
    for path in (tmp_path / "postmaster.pid", lock):
        path.write_text(_WHOLE, encoding="utf-8")
    disown(tmp_path, dead)
    assert not lock.exists()
    text = (tmp_path / "postmaster.pid").read_text(encoding="utf-8")
    assert text.split("\n")[1:] == _WHOLE.split("\n")[1:]
    server = read_postmaster(tmp_path)
    assert server is not None
    assert not server.alive(tmp_path)
