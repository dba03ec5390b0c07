"""Segments of large bases, read so that copies of them can be made.

In: how much may be held, or what is held already. Out: records of `adapters.database.segments.mirror`. The database
decides what is in a segment, and when (`vector_segments.sql`).
"""

from collections.abc import Collection

from adapters.database import rows
from adapters.database.segments.mirror import Segment, SegmentRows
from adapters.database.transport import Row, Transport
from domain.ids import BaseId
from domain.locator import JsonValue


class SegmentStore:
    """Meets `adapters.database.segments.mirror.Segments`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def segments(self, *, size: int, known: Collection[str]) -> list[Segment]:
        """The segments of as many bases as fit into `size` bytes, `known` ones without their thresholds. Raises
        DatabaseError, DatabaseAway."""
        found = await self._transport.call("list_vector_segments", p_bytes=size, p_known=list(known))
        return [_segment(row) for row in found]

    async def rows(self, base: BaseId, segment: str, *, after: int, limit: int) -> SegmentRows | None:
        """Up to `limit` rows after the place `after`. Raises DatabaseError, DatabaseAway."""
        found = await self._transport.call(
            "read_vector_segment", p_base=base, p_segment=segment, p_after=after, p_limit=limit
        )
        return _rows(found[0]) if found else None


def _segment(row: Row) -> Segment:
    return Segment(
        base_id=BaseId(rows.text(row, "base_id")),
        name=rows.text(row, "segment"),
        model=rows.text(row, "model"),
        thresholds=[_numbers(threshold) for threshold in rows.items(row, "thresholds")],
        passages=rows.integer(row, "passages"),
        last_row=rows.integer(row, "last_row"),
    )


def _rows(row: Row) -> SegmentRows:
    return SegmentRows(
        last=rows.integer(row, "last"),
        passages=[each for each in rows.items(row, "chunks") if isinstance(each, int)],
        bits=rows.text(row, "bits"),
    )


def _numbers(threshold: JsonValue) -> list[float]:
    return [float(each) for each in threshold if isinstance(each, int | float)] if isinstance(threshold, list) else []
