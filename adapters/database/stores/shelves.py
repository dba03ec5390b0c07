"""Shelves of large bases, read so that copies of them can be made.

In: how much may be held, or what is held already. Out: records of `adapters.database.sketches.mirror`. The database
decides what is on a shelf, and when (`vector_segments.sql`).
"""

from collections.abc import Collection

from adapters.database import rows
from adapters.database.sketches.mirror import Shelf, ShelfRows
from adapters.database.transport import Row, Transport
from domain.ids import BaseId
from domain.locator import JsonValue


class ShelfStore:
    """Meets `adapters.database.sketches.mirror.Shelves`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def shelves(self, *, size: int, known: Collection[str]) -> list[Shelf]:
        """The shelves of as many bases as fit into `size` bytes, `known` ones without their edges. Raises
        DatabaseError, DatabaseAway."""
        found = await self._transport.call("list_shelves", p_bytes=size, p_known=list(known))
        return [_shelf(row) for row in found]

    async def rows(self, base: BaseId, shelf: str, *, after: int, limit: int) -> ShelfRows | None:
        """Up to `limit` rows after the place `after`. Raises DatabaseError, DatabaseAway."""
        found = await self._transport.call("read_shelf", p_base=base, p_shelf=shelf, p_after=after, p_limit=limit)
        return _rows(found[0]) if found else None


def _shelf(row: Row) -> Shelf:
    return Shelf(
        base_id=BaseId(rows.text(row, "base_id")),
        name=rows.text(row, "shelf"),
        model=rows.text(row, "model"),
        edges=[_numbers(edge) for edge in rows.items(row, "edges")],
        passages=rows.integer(row, "passages"),
        put=rows.integer(row, "put"),
    )


def _rows(row: Row) -> ShelfRows:
    return ShelfRows(
        last=rows.integer(row, "last"),
        passages=[each for each in rows.items(row, "chunks") if isinstance(each, int)],
        sketches=rows.text(row, "sketches"),
    )


def _numbers(edge: JsonValue) -> list[float]:
    return [float(each) for each in edge if isinstance(each, int | float)] if isinstance(edge, list) else []
