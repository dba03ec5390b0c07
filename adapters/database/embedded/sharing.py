"""Several processes share one server: the first starts it, the last one stops it, and any that finds it dead in
between starts it again.

In: a folder for two lock files, and what to do at the start and at the end. Out: the server's address while in use.
The locks are flock(2): the kernel releases them when a process dies, however it dies.
"""

import asyncio
import fcntl
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar

import structlog

from adapters.database.embedded.seat import EmbeddedDatabaseError
from domain.ending import end

_USERS = "postgres.users.lock"
_TURN = "postgres.turn.lock"
_TURN_S = 180
"""The longest wait for a start or a stop: recovery after a crash of the machine can take minutes."""
_LOOK_S = 0.02
_WATCH_S = 1.0

T = TypeVar("T")


@asynccontextmanager
async def shared(
    folder: Path, *, start: Callable[[], str], runs: Callable[[], bool], stop: Callable[[], None]
) -> AsyncIterator[str]:
    """Yield what `start` returns; it must do nothing when the server runs. Call `stop` when nobody else is left.

    `runs` is a quick look at the server, taken once a second.
    """
    with _opened(folder / _USERS) as users:
        async with _turn(folder):
            fcntl.flock(users, fcntl.LOCK_SH)  # at once: LOCK_EX is only ever held by the one whose turn it is
        try:
            address = await _in_turn(folder, start)
            async with _kept_running(folder, start=start, runs=runs):
                yield address
        finally:
            await _leave(folder, users, stop)


async def _leave(folder: Path, users: int, stop: Callable[[], None]) -> None:
    async with _turn(folder):
        if _locked(users, fcntl.LOCK_EX):
            await _to_the_end(stop)


@asynccontextmanager
async def _kept_running(folder: Path, *, start: Callable[[], str], runs: Callable[[], bool]) -> AsyncIterator[None]:
    """Restarts a server that died: callers of the database only wait for it, and nobody else would start it."""
    keeping = asyncio.create_task(_keep_running(folder, start=start, runs=runs))
    try:
        yield
    finally:
        await end(keeping)


async def _keep_running(folder: Path, *, start: Callable[[], str], runs: Callable[[], bool]) -> None:
    log = structlog.get_logger()
    while True:
        await asyncio.sleep(_WATCH_S)
        try:
            if await asyncio.to_thread(runs):
                continue
            log.warning("database_died", folder=str(folder))
            await _in_turn(folder, start)
        except (EmbeddedDatabaseError, OSError) as error:
            # Also when the look itself fails, as without a free file descriptor: the next one may not.
            log.error("database_not_restarted", folder=str(folder), reason=str(error))


@asynccontextmanager
async def _turn(folder: Path) -> AsyncIterator[None]:
    """One process at a time starts, stops or counts the users."""
    until = time.monotonic() + _TURN_S
    with _opened(folder / _TURN) as turn:
        while not _locked(turn, fcntl.LOCK_EX):
            if time.monotonic() > until:
                raise EmbeddedDatabaseError(f"Another process has been starting the database in {folder} for minutes.")
            await asyncio.sleep(_LOOK_S)
        yield


async def _in_turn(folder: Path, work: Callable[[], T]) -> T:
    async with _turn(folder):
        return await _to_the_end(work)


async def _to_the_end(work: Callable[[], T]) -> T:
    """Run blocking `work`; a cancellation waits for it, or a stop would overtake the start it belongs to."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """A lock file that no child of ours inherits, and that no link leads to."""
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        lock = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        lock = os.open(path, flags)
    else:
        _leave_to_owner(lock, path.parent)
    try:
        yield lock
    finally:
        os.close(lock)


def _leave_to_owner(lock: int, folder: Path) -> None:
    """Gives what root makes in a person's folder to that person, who may open it next."""
    if os.geteuid() == 0:
        owner = folder.stat()
        os.fchown(lock, owner.st_uid, owner.st_gid)


def _locked(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
