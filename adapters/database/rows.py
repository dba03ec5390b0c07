"""Stores call SQL functions and read their rows as records.

In: arguments; rows as a transport gives them (UUIDs and moments are text). Out: records of `domain`, `ingestion` and
`rag`, which pydantic reads by their annotations. A row that lacks a column or holds another type is a mistake of ours:
ValueError, KeyError or TypeError, whose text never quotes the row.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter

from adapters.database.payloads import json_bytes, storable
from adapters.database.transport import LEASE_LOST, PAGE_ROWS, Argument, DatabaseError, Row, Transport
from domain.documents import opening_line
from domain.ids import DocumentId
from domain.locator import JsonValue
from domain.visible import visible
from ingestion.errors import LeaseLost

R = TypeVar("R")
Given = Argument | Mapping[str, JsonValue] | Collection[str] | Collection[int]

_REMOVAL_S = 30 * 60  # a million passages have forty million postings, which take minutes; a timeout undoes everything
_INDEX_S = 2 * 60 * 60  # for the words of very large bases on one slow core; a step of a segment takes a second
PATIENCE_S: Mapping[str, float] = {
    "clean_base": _REMOVAL_S,
    "delete_base": _REMOVAL_S,
    "delete_document": _REMOVAL_S,
    "forget_person": _REMOVAL_S,
    "remove_expired": _REMOVAL_S,
    "send_document": _REMOVAL_S,
    "switch_model": _REMOVAL_S,
    "ensure_posting_segments": _INDEX_S,
    "ensure_vector_segments": _INDEX_S,
    "refresh_common_terms": _INDEX_S,
}
"""Of functions that may take longer than the transport would wait."""


class Store:
    """Speaks in records: calls functions over a transport, and reads their rows."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def _call(self, function: str, /, **given: Given) -> list[Row]:
        """The rows of a function, whose parameters have these names after `p_`; a mapping goes as JSON."""
        named = {f"p_{name}": _argument(value) for name, value in given.items()}
        return await self._transport.call(function, timeout_s=PATIENCE_S.get(function), **named)

    async def _does(self, function: str, /, **given: Given) -> bool:
        """Whether the function gives a row: it has found, or done, what was asked."""
        return bool(await self._call(function, **given))

    async def _all(self, kind: type[R], function: str, column: str | None = None, /, **given: Given) -> list[R]:
        """The rows as records of this kind, or what stands in one column of them."""
        found = await self._call(function, **given)
        return records(kind, [row[column] for row in found] if column else found)

    async def _first(self, kind: type[R], function: str, column: str | None = None, /, **given: Given) -> R | None:
        """The same of the first row; None without one, or where null stands there."""
        either = cast("type[R | None]", kind | None)
        return next(iter(await self._all(either, function, column, **given)), None)

    async def _one(self, kind: type[R], function: str, column: str | None = None, /, **given: Given) -> R:
        """The same of a function that always gives one row."""
        return (await self._all(kind, function, column, **given))[0]

    async def _paged(self, function: str, /, **given: Given) -> list[Row]:
        """All rows of a function that gives them page by page, each after an `ordinal`."""
        found: list[Row] = []
        while True:
            after = cast("int", found[-1]["ordinal"]) if found else -1
            page = await self._call(function, after=after, limit=PAGE_ROWS, **given)
            found += page
            if len(page) < PAGE_ROWS:
                return found

    async def _leased(self, function: str, document: DocumentId, lease: str, /, **given: Argument) -> list[Row]:
        """A call of a worker for a document that it holds; arguments go as they are. Raises LeaseLost."""
        named = {f"p_{name}": value for name, value in given.items()}
        try:
            return await self._transport.call(function, timeout_s=None, p_document=document, p_lease=lease, **named)
        except DatabaseError as exc:
            if exc.code == LEASE_LOST:
                raise LeaseLost(document) from exc
            raise


def _argument(value: Given) -> Argument:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return json_bytes(value)
    if isinstance(value, Collection) and not isinstance(value, bytes):
        return [storable(item) if isinstance(item, str) else item for item in value]  # type: ignore[return-value]
    return cast("Argument", value)


_READERS: dict[type, TypeAdapter[Any]] = {}


def records(kind: type[R], found: Sequence[object]) -> list[R]:
    """Rows, or what stands in a column, as records of this kind."""
    if (reader := _READERS.get(kind)) is None:
        reader = _READERS[kind] = TypeAdapter(list[kind], config=ConfigDict(hide_input_in_errors=True))  # type: ignore[valid-type]
    read: list[R] = reader.validate_python(found)
    return read


def record(kind: type[R], row: Row, **given: object) -> R:
    """One row, with `given` fields beside its columns."""
    return records(kind, [{**row, **given}])[0]


def value(kind: type[R], found: object) -> R:
    """What stands in one column."""
    return records(kind, [found])[0]


def passages(found: Sequence[Row]) -> list[dict[str, object]]:
    """Rows of `passages` as people may see them. They have the beginning of the document's text: making a line of it
    takes PostgreSQL thirty times as long."""
    return [
        {
            **row,
            "title": visible(cast("str", row["title"])),
            "text": visible(cast("str", row["text"])),
            "opening": opening_line(cast("str", row["opening"] or "")),
        }
        for row in found
    ]
