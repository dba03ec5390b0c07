"""What the tests of the embedded database share: homes, processes that use them, and accounts.

Out: plain functions and records; the fixtures are in the test modules that use them.
"""

import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import psycopg_pool
import pytest

from adapters.database.embedded.seat import STATE, Account, run_as

CHECKOUT = Path(__file__).parents[4]
_LIBRARIES = Path(psycopg_pool.__file__).parents[1]
_START_S = 180

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run as two accounts: run the tests as root")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that every account can pass through; pytest's own is closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="baza-tests-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        for kept in folder.rglob("postgres.id"):  # what root's account keeps outside the home
            shutil.rmtree(STATE / "clusters" / str(uuid.UUID(kept.read_text(encoding="ascii").strip())))
        shutil.rmtree(folder)


def value(url: str, query: str) -> object:
    """The one value that `query` gives."""
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def execute(url: str, statement: str) -> None:
    """Run a statement that gives nothing back."""
    with psycopg.connect(url) as connection:
        connection.execute(statement.encode())


def server_pid(url: str) -> int:
    """The process that serves `url`."""
    with psycopg.connect(url) as connection:
        backend = Path(f"/proc/{connection.info.backend_pid}/stat").read_text()
    return int(backend.rpartition(")")[2].split()[1])  # the parent of the one that serves us


def modes(path: Path) -> list[tuple[str, int, int]]:
    """Mode and owner of every folder above `path`."""
    return [(str(one), stat.S_IMODE(one.stat().st_mode), one.stat().st_uid) for one in path.parents]


@dataclass(kw_only=True)
class User:
    """Another process that uses a home. `answer` is a URL, or a refusal."""

    process: "subprocess.Popen[str]"
    answer: str = field(init=False)

    def __post_init__(self) -> None:
        assert self.process.stdout is not None
        self.answer = self.process.stdout.readline().strip()

    def leave(self) -> None:
        """Let go of the database, as a process that ends well does."""
        self.process.communicate(timeout=_START_S)

    def kill(self) -> None:
        """kill -9."""
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate(timeout=_START_S)


@contextmanager
def user_of(home: Path, account: Account | None = None) -> Iterator[User]:
    """A process that has entered the database of `home`, as `account` or as ourselves."""
    python = sys.executable if account is None else python_for(account)
    process = subprocess.Popen(
        [python, "-B", "-m", "tests.servers.embedded_process", str(home)],
        cwd="/",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{CHECKOUT}:{_LIBRARIES}", "HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        user=None if account is None else account.uid,
        group=None if account is None else account.gid,
        extra_groups=None if account is None else [],
    )
    user = User(process=process)
    try:
        yield user
    finally:
        if process.poll() is None:
            user.leave()


def nobody() -> Account:
    """An ordinary account that every system has."""
    entry = pwd.getpwnam("nobody")
    return Account(uid=entry.pw_uid, gid=entry.pw_gid)


def python_for(account: Account) -> str:
    """An interpreter of our version that `account` may run: root's own may be under /root."""
    version = f"import sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]}); import psycopg"
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        tried = run_as(account, "env", f"PYTHONPATH={_LIBRARIES}", python, "-B", "-c", version)
        if tried.returncode == 0:
            return python
    pytest.skip(
        f"no Python {sys.version_info[0]}.{sys.version_info[1]} that other accounts can run: install one in /usr"
    )
