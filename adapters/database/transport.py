"""How the stores reach the database: call a public SQL function by name.

In: a function's name and its arguments. Out: its rows as JSON values, the same from every transport: UUIDs and
timestamps are text, vectors are never returned. It knows no function in particular.
"""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from domain.locator import JsonValue


@dataclass(frozen=True)
class Reals:
    """Many numbers in single precision, an argument of type `real[]`; each transport sends them in its quickest way."""

    numbers: "array[float]"


Argument = str | int | float | bool | None | list[str] | list[int] | list[float] | Reals
"""JSON and single vectors travel as text and are cast inside the function (PostgREST casts neither from lists)."""

Row = Mapping[str, JsonValue]

LEASE_LOST = "BZ001"
"""SQLSTATE that functions raise when their caller no longer holds the lease."""

NO_ROOM = "BZ003"
"""SQLSTATE that functions raise when a document would take its base over BASE_PASSAGES."""


TOO_MANY_WAITING = "BZ004"
"""SQLSTATE that functions raise when a sender would have more documents waiting than one person may have."""


class Transport(Protocol):
    """One way to the database: psycopg or PostgREST."""

    async def call(self, function: str, *, timeout_s: float | None = None, **arguments: Argument) -> list[Row]:
        """The rows of `select * from public.<function>(name => value, …)`, within the transport's own timeout.

        `timeout_s` is for maintenance that takes longer; over PostgREST the project's own limits still apply.

        Every public function `returns setof` a composite or `table (…)`. Raises DatabaseError when it refuses,
        DatabaseAway when it does not answer.
        """
        ...
