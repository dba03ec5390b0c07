"""A copy of each segment of binary-quantised vectors in this process, kept fresh in the background.

In: segments, as the database lists and gives them. Out: for a query vector the passages that are nearest by their
bits, and up to where the segment was copied: by this the database detects rows that were added since. A base without a
complete copy is searched in the database alone: a copy saves time, and never loses a result.
"""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

import structlog

from adapters.database import rows
from adapters.database.transport import DatabaseAway, DatabaseError
from domain.ending import end
from domain.ids import BaseId

if TYPE_CHECKING:
    from adapters.database.quantised import QuantisedVectors


log = structlog.get_logger()

REFRESH_S = 15.0
"""Until the next refresh a base whose segment has grown is searched in the database alone."""

ROWS_A_STEP = 500  # of ten passages: a megabyte, which blocks nobody for long
AT_ONCE = 20_000  # passages, compared in half a millisecond: handing them to a thread takes as long
OUTDATED_SHARE = 1.5  # of what is in the segment: a copy that holds more has too many removed passages


@dataclass(frozen=True, kw_only=True)
class Segment:
    base_id: BaseId
    name: str
    model: str  # the one that made the vectors
    thresholds: Sequence[Sequence[float]]  # a bit tells on which side a number lies; none if it was known before
    passages: int
    last_row: int  # the place of its last row


@dataclass(frozen=True, kw_only=True)
class SegmentRows:
    last: int  # the place of the last of them
    passages: Sequence[int]
    bits: str  # of one after the other, base64


@dataclass(frozen=True, kw_only=True)
class Near:
    passages: Sequence[int]
    segment: str
    last_row: int


class SegmentStore(rows.Store):
    """Where segments come from. Both calls raise DatabaseError, DatabaseAway."""

    async def segments(self, *, size: int, known: Collection[str]) -> list[Segment]:
        """The segments of as many bases as fit into `size` bytes, `known` ones without their thresholds."""
        return await self._all(Segment, "list_vector_segments", bytes=size, known=known)

    async def rows(self, base: BaseId, segment: str, *, after: int, limit: int) -> SegmentRows | None:
        """Up to `limit` rows after the place `after`."""
        return await self._first(
            SegmentRows, "read_vector_segment", base=base, segment=segment, after=after, limit=limit
        )


@dataclass(kw_only=True)
class Copy:
    """A segment in this process."""

    segment: Segment
    last_row: int = 0  # copied up to there
    quantised: "QuantisedVectors"

    async def near(self, vector: Sequence[float], *, limit: int) -> Near:
        """Candidates for the nearest `limit`."""
        if len(self.quantised) > AT_ONCE:
            return await asyncio.to_thread(self._near, vector, limit)
        return self._near(vector, limit)

    def _near(self, vector: Sequence[float], limit: int) -> Near:
        from adapters.database.quantised import bits_of, weights_of

        last_row = self.last_row  # read first: rows that are added meanwhile may or may not be among what is found
        weighed, count = effort(len(self.quantised), limit)
        bits, weights = bits_of(vector, self.segment.thresholds), weights_of(vector, self.segment.thresholds)
        passages = self.quantised.nearest(bits, weights, weighed=weighed, count=count)
        return Near(passages=passages, segment=self.segment.name, last_row=last_row)


class SegmentMirror:
    """Proposes candidates for the vector search in large bases. `size` is in bytes; 0 for no copies."""

    def __init__(self, segments: SegmentStore, *, size: int) -> None:
        self._segments = segments
        self._size = size
        self._copies: dict[BaseId, Copy] = {}

    def copy_of(self, base: BaseId, model: str | None) -> Copy | None:
        """None where there is no complete copy for this model."""
        copy = self._copies.get(base)
        return copy if copy and copy.segment.model == model and copy.last_row >= copy.segment.last_row else None

    async def refresh(self) -> None:
        """Raises DatabaseAway, DatabaseError."""
        known = {copy.segment.name for copy in self._copies.values()}
        present = await self._segments.segments(size=self._size, known=known) if self._size else []
        self._copies = {segment.base_id: await self._begun(segment) for segment in present}
        for copy in self._copies.values():
            segment, before = copy.segment, copy.last_row
            while copy.last_row < segment.last_row:
                rows = await self._segments.rows(segment.base_id, segment.name, after=copy.last_row, limit=ROWS_A_STEP)
                if rows is None:  # the segment was dropped, or its last rows were removed
                    copy.last_row = segment.last_row
                    break
                await asyncio.to_thread(copy.quantised.add, rows.passages, b64decode(rows.bits))
                copy.last_row = rows.last
            if copy.last_row > before:
                log.info("segment_copied", base=segment.base_id, passages=len(copy.quantised))

    @asynccontextmanager
    async def kept_fresh(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._refresh_forever())
        try:
            yield
        finally:
            await end(task)

    async def _refresh_forever(self) -> None:
        while self._size:
            try:
                await self.refresh()
            except (DatabaseAway, DatabaseError) as exc:  # searches do without a copy, and report their own trouble
                log.warning("segments_not_copied", reason=str(exc))
            except Exception:  # the top of this work: nothing in it may stop the bot
                log.exception("segments_not_copied")
            await asyncio.sleep(REFRESH_S)

    async def _begun(self, segment: Segment) -> Copy:
        """The present copy, if it can be continued, or an empty one."""
        held = self._copies.get(segment.base_id)
        if held and held.segment.name == segment.name:
            segment = replace(segment, thresholds=held.segment.thresholds)
            if len(held.quantised) <= OUTDATED_SHARE * segment.passages:
                return Copy(segment=segment, last_row=held.last_row, quantised=held.quantised)
        # Imported here: numpy takes a tenth of a second, and most installations have no large base.
        quantised = await asyncio.to_thread(import_module, "adapters.database.quantised")
        size = -(-sum(map(len, segment.thresholds)) // 8)
        return Copy(segment=segment, quantised=quantised.QuantisedVectors(size=size))


def effort(held: int, limit: int) -> tuple[int, int]:
    """How many candidates for the nearest `limit` have their bits weighed, and how many of these their vectors
    compared: recall of the nearest thirty of 100,000 and of 500,000 passages is .9997 (benchmarks/README.md)."""
    compared = max(7 * limit, 200 + min(held // 1000, 400))
    return max(35 * limit, 3 * compared, 1000 + min(held // 500, 3000)), compared
