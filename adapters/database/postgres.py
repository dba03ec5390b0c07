"""The transport to a PostgreSQL: psycopg's pool.

In: a connection URL. Out: a `PostgresTransport` while the context is open. Values are exactly those of PostgREST: the
database turns rows into JSON, and arguments travel as text that the function casts to its own types.
"""

import asyncio
import select
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from time import monotonic

import orjson
import psycopg
from psycopg import AsyncConnection
from psycopg.abc import AdaptContext
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from adapters.database.transport import BAD_TEXT, Argument, DatabaseAway, Row, Vectors, refused, retried, whole

_RECONNECT_S = 10
"""The pool's backoff between tries to connect ends after this long; the next call begins anew."""

_SURE_S = 20.0
"""A connection that answered within this time is lent without a check query, unless its server has hung up."""
_SESSION: Mapping[str, object] = {"autocommit": True, "prepare_threshold": None, "application_name": "baza"}


class _VectorsDumper(Dumper):
    """Binary: a thousand numbers take microseconds, and as text most of a millisecond on both sides. The function's
    declaration gives the type."""

    format = Format.BINARY

    def __init__(self, cls: type, context: AdaptContext | None = None) -> None:
        super().__init__(cls, context)
        connection = context.connection if context else None
        self._element = connection.halfvec if isinstance(connection, _Connection) else 0

    def dump(self, obj: Vectors) -> bytes:
        """One dimension from 1, no nulls (`array_recv` of PostgreSQL); each vector after its size, its number of
        dimensions and two unused bytes (`halfvec_recv` of pgvector), big end first."""
        count, dimensions = obj.rows.shape
        head = struct.pack(">iHH", 4 + 2 * dimensions, dimensions, 0)
        vectors = [head + row.tobytes() for row in obj.rows.astype(">f2")]
        bounds = struct.pack(">ii", count, 1) if count else b""
        return b"".join([struct.pack(">iiI", bool(count), 0, self._element), bounds, *vectors])


class _TextDumper(Dumper):
    """JSON of megabytes goes as it was written."""

    def dump(self, obj: bytes) -> bytes:
        return obj


class _Connection(AsyncConnection):
    answered_at = 0.0
    halfvec = 0  # the number of pgvector's type, which each database gives anew


class PostgresTransport:
    """Calls SQL functions over a pool of connections. Make it with `open_postgres`."""

    def __init__(self, pool: "AsyncConnectionPool[_Connection]", *, timeout_s: float) -> None:
        self._pool = pool
        self._timeout_s = timeout_s

    async def call(self, function: str, *, timeout_s: float | None = None, **arguments: Argument) -> list[Row]:
        return await retried(lambda: self._call(function, timeout_s or self._timeout_s, arguments))

    async def _call(self, function: str, patience_s: float, arguments: Mapping[str, Argument]) -> list[Row]:
        values = {name: _literal(value) for name, value in arguments.items()}
        named = ", ".join(f"{name} => %({name})s" for name in arguments)
        # PostgREST's own form, by which one-column tables keep their column's name. All names are the stores' own.
        statement = f"select row_to_json(r) from (select * from public.{function}({named})) as r"  # noqa: S608
        try:
            async with asyncio.timeout(patience_s), self._pool.connection() as connection:
                cursor = await connection.execute(statement.encode(), values)
                rows: list[Row] = [row for (row,) in await cursor.fetchall()]
                connection.answered_at = monotonic()
        except (TimeoutError, PoolTimeout, PoolClosed) as exc:
            raise DatabaseAway(f"{function}: no answer in {patience_s:g} s") from exc
        except psycopg.Error as exc:
            message = exc.diag.message_primary or str(exc)
            if not exc.sqlstate and not isinstance(exc, psycopg.DataError):
                raise DatabaseAway(f"{function}: {message}") from exc
            # What psycopg itself finds in the data is a zero character.
            raise refused(function, code=exc.sqlstate or BAD_TEXT, message=message) from exc
        except UnicodeEncodeError as exc:
            raise refused(function, code=BAD_TEXT, message="a text is not valid Unicode") from exc
        return whole(function, rows)


@asynccontextmanager
async def open_postgres(
    url: str, *, pool_size: int, timeout_s: float, prepares: bool = False
) -> AsyncIterator[PostgresTransport]:
    """A transport over at most `pool_size` connections. Raises DatabaseAway when the database cannot be reached now.

    `prepares`: each statement is prepared once per connection, which saves a tenth of a millisecond a call. Not for an
    address that a person configured: a pooler in transaction mode, such as Supabase's, has no prepared statements.

    Each connection is checked before it is lent, so one that died with a restarted database is replaced before a
    statement is sent; a statement that may have been sent is never sent twice.
    """
    try:  # the pool would hide why it cannot connect and only say, later, that it timed out
        async with asyncio.timeout(timeout_s), await AsyncConnection.connect(url, **_SESSION):  # type: ignore[arg-type] # a mapping of mixed values
            pass
    except TimeoutError as exc:
        raise DatabaseAway(f"the database did not answer in {timeout_s:g} s") from exc
    except psycopg.Error as exc:
        raise DatabaseAway(f"the database cannot be reached: {exc}") from exc
    pool: AsyncConnectionPool[_Connection] = AsyncConnectionPool(
        url,
        connection_class=_Connection,
        kwargs={**_SESSION, "prepare_threshold": 2 if prepares else None},
        min_size=1,
        max_size=pool_size,
        timeout=timeout_s,
        reconnect_timeout=_RECONNECT_S,
        configure=_configure,
        check=_check,
        open=False,
    )
    async with pool:
        yield PostgresTransport(pool, timeout_s=timeout_s)


async def _configure(connection: _Connection) -> None:
    set_json_loads(orjson.loads, connection)  # the row of a search in a third of the time of Python's own
    connection.adapters.register_dumper(Vectors, _VectorsDumper)
    connection.adapters.register_dumper(bytes, _TextDumper)
    cursor = await connection.execute("select oid from pg_type where typname = 'halfvec'")
    if row := await cursor.fetchone():
        (connection.halfvec,) = row


async def _check(connection: _Connection) -> None:
    """Raises psycopg.Error when the connection is broken. A query each time would double the statements.

    A server that stops closes its sockets, which poll shows at once; only a lost network goes unnoticed.
    """
    hung_up = select.poll()
    hung_up.register(connection.fileno(), select.POLLIN)
    if monotonic() - connection.answered_at > _SURE_S or hung_up.poll(0):
        await AsyncConnectionPool.check_connection(connection)


def _literal(value: Argument) -> str | bytes | Vectors | None:
    """An untyped literal: the function's declaration gives it its type (psycopg would pass 1.5 as double precision)."""
    if isinstance(value, Vectors | bytes):
        return value
    if isinstance(value, list):
        quoted = (str(item).replace("\\", "\\\\").replace('"', '\\"') for item in value)
        return "{" + ",".join(f'"{item}"' for item in quoted) + "}"
    return None if value is None else str(value)
