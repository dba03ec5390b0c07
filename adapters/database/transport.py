"""How the stores reach the database: call a public SQL function by name.

In: a function's name and its arguments. Out: its rows as JSON values, the same from every transport: UUIDs and
timestamps are text, vectors are never returned; or an exception that callers decide by. A call that PostgreSQL rolled
back because of a concurrent one (a deadlock) is made again; one that may have been carried out is never sent twice.
`ActingTransport` says in every call for a base for whom it is (`require` in supabase/schemas/functions/bases.sql);
workers and the command line use the transport without it. It knows no function in particular.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from domain.errors import BaseClosed, BaseReadOnly, DatabaseAway, DatabaseTrouble, NoRoom
from domain.locator import JsonValue
from domain.people import acting_person

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["DatabaseAway", "DatabaseError", "RolledBack"]
PAUSES_S: Sequence[float] = (0.01, 0.1)  # at most, before the second and the third try: the rival can finish meanwhile
ROWS_MAX = 999
"""PostgREST cuts an answer at `max-rows` (Supabase: 1000) without an error; functions page below it."""
PAGE_ROWS = 900  # rows of a page, where a store reads everything there is
UNKNOWN_FUNCTION = "42883"
TOO_MANY_ROWS = "BZ002"
_MEANINGS = {"BZ003": NoRoom, "BZ005": BaseClosed, "BZ006": BaseReadOnly}  # SQLSTATEs that our functions raise
BAD_TEXT = "22021"
"""SQLSTATE character_not_in_repertoire: a text that PostgreSQL cannot hold (a zero character, half a surrogate)."""
_ROLLED_BACK = ("40001", "40P01")
"""SQLSTATE serialization_failure and deadlock_detected: the transaction, and so the whole call, was rolled back."""
# SQLSTATE classes (appendix A of PostgreSQL's manual): connection, rolled back by a rival, out of resources, stopped
# or timed out, system error. And PostgREST's own: no connection, none in time, schema cache not loaded.
_AWAY_CLASSES = ("08", "40", "53", "57", "58")
_AWAY_CODES = ("PGRST000", "PGRST001", "PGRST002", "PGRST003", "408", "429")
# The same errors, found by PostgREST a step earlier: the name in its schema cache, the text in its JSON body.
_AS_SQLSTATE = {"PGRST202": UNKNOWN_FUNCTION, "22P05": BAD_TEXT}


class RolledBack(DatabaseAway):
    """PostgreSQL rolled the call back because of a concurrent one: nothing was done, and it may be retried at once."""


class DatabaseError(DatabaseTrouble):
    """The database refused a call; the message says which function and why, never the arguments."""

    def __init__(self, function: str, *, code: str, message: str) -> None:
        super().__init__(f"{function}: {code} {message}")
        self.function = function
        self.code = code  # SQLSTATE, or PostgREST's PGRST…

    @property
    def reason(self) -> str:
        return f"{self.function} {self.code}"


@dataclass(frozen=True)
class Vectors:
    """Vectors in half precision, as they are stored, an argument of type `halfvec[]`; each transport sends them in its
    quickest way."""

    rows: "npt.NDArray[np.float16]"  # vectors x DIMENSIONS


Argument = str | bytes | int | float | bool | None | list[str] | list[int] | list[float] | Vectors
"""JSON (as bytes, in UTF-8) and single vectors travel as text and are cast inside the function (PostgREST casts neither
from lists)."""
Row = Mapping[str, JsonValue]
LEASE_LOST = "BZ001"
"""SQLSTATE that functions raise when their caller no longer holds the lease."""
TOO_MANY_WAITING = "BZ004"
"""SQLSTATE that functions raise when a sender would have more documents waiting than one person may have."""


class Transport(Protocol):
    """One way to the database: psycopg or PostgREST."""

    async def call(self, function: str, *, timeout_s: float | None = None, **arguments: Argument) -> list[Row]:
        """The rows of `select * from public.<function>(name => value, …)`, within the transport's own timeout, counted
        for each try after a deadlock. `timeout_s` is for maintenance that takes longer; over PostgREST the project's
        own limits still apply.

        Every public function `returns setof` a composite or `table (…)`. Raises DatabaseError when it refuses,
        DatabaseAway when it does not answer.
        """


async def retried(call: Callable[[], Awaitable[list[Row]]]) -> list[Row]:
    """What `call` returns. Raises what it raises; RolledBack when every try was rolled back."""
    for pause_s in PAUSES_S:
        with suppress(RolledBack):
            return await call()
        await asyncio.sleep(pause_s * random.random())  # noqa: S311 - parts rivals, guards nothing
    return await call()


def refused(function: str, *, code: str, message: str) -> DatabaseTrouble:
    """The exception for a call that ended with `code`: a SQLSTATE, PostgREST's, or a proxy's HTTP status."""
    code = _AS_SQLSTATE.get(code, code)
    if code in _MEANINGS:
        return _MEANINGS[code](function)
    if code in _ROLLED_BACK:
        return RolledBack(f"{function}: {code} {message}")
    is_sqlstate, is_http = len(code) == 5, len(code) == 3
    if code in _AWAY_CODES or (is_sqlstate and code.startswith(_AWAY_CLASSES)) or (is_http and code.startswith("5")):
        return DatabaseAway(f"{function}: {code} {message}")
    if code.startswith("22"):  # messages about data end by quoting the argument: type uuid: "…"
        message = message.partition(': "')[0]
    return DatabaseError(function, code=code, message=message)


def whole(function: str, rows: list[Row]) -> list[Row]:
    """The rows, when nothing can have been cut off. Raises DatabaseError."""
    if len(rows) > ROWS_MAX:
        reason = f"more than {ROWS_MAX} rows; the function must be called page by page"
        raise DatabaseError(function, code=TOO_MANY_ROWS, message=reason)
    return rows


@dataclass(frozen=True)
class ActingTransport:
    """A transport for stores that act for somebody. A function that takes a base but no `p_person` cannot be called
    through it, so that a right that was forgotten shows at once."""

    transport: Transport

    async def call(self, function: str, *, timeout_s: float | None = None, **arguments: Argument) -> list[Row]:
        """Raises BaseClosed or BaseReadOnly where the person may not, and NobodyActs where there is none."""
        if "p_base" in arguments:
            arguments["p_person"] = acting_person()
        return await self.transport.call(function, timeout_s=timeout_s, **arguments)
