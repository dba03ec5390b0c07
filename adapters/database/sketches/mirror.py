"""A copy of each shelf in this process, kept fresh in the background.

In: shelves, as the database lists and gives them. Out: for a query vector the passages that are nearest by their
sketches, with the shelf and the place up to which it was copied: by these the database detects rows that were added
since. A base without a complete copy gets no proposal and is searched in the database alone: a copy saves time, and
never loses a result.
"""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import structlog

from adapters.database.errors import DatabaseAway, DatabaseError
from domain.ids import BaseId

if TYPE_CHECKING:
    from adapters.database.sketches.scanning import Sketches

log = structlog.get_logger()

REFRESH_S = 15.0
"""Until the next refresh a base whose shelf has grown is searched in the database alone."""

ROWS_A_STEP = 500  # of ten passages: a megabyte, which blocks nobody for long
AT_ONCE = 20_000  # sketches, compared in half a millisecond: handing them to a thread takes as long
OUTDATED_SHARE = 1.5  # of what is on the shelf: a copy that holds more has too many removed passages


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """What the database says about a shelf."""

    base_id: BaseId
    name: str
    model: str  # the one that made the vectors
    edges: Sequence[Sequence[float]]  # where the vectors' numbers are cut into bits; none if the shelf was known before
    passages: int
    put: int  # the place of its last row


@dataclass(frozen=True, kw_only=True)
class ShelfRows:
    """Some rows of a shelf."""

    last: int  # the place of the last of them
    passages: Sequence[int]
    sketches: str  # one after the other, base64


@dataclass(frozen=True, kw_only=True)
class Near:
    """What a copy proposes."""

    passages: Sequence[int]
    shelf: str
    put: int


class Shelves(Protocol):
    """Where shelves come from. Both raise DatabaseAway and DatabaseError."""

    async def shelves(self, *, size: int, known: Collection[str]) -> list[Shelf]:
        """The shelves of as many bases as fit into `size` bytes; those `known` by name come without their edges."""
        ...

    async def rows(self, base: BaseId, shelf: str, *, after: int, limit: int) -> ShelfRows | None:
        """Up to `limit` rows after the place `after`; None at the end, and where the shelf is gone."""
        ...


@dataclass(kw_only=True)
class _Copy:
    shelf: Shelf
    put: int = 0  # copied up to there
    sketches: "Sketches"

    def near(self, vector: Sequence[float], limit: int) -> Near:
        from adapters.database.sketches.scanning import sketch_of, weights_of

        put = self.put  # read first: rows that are added meanwhile may or may not be among what is found
        sketched, count = effort(len(self.sketches), limit)
        sketch, weights = sketch_of(vector, self.shelf.edges), weights_of(vector, self.shelf.edges)
        passages = self.sketches.nearest(sketch, weights, sketched=sketched, count=count)
        return Near(passages=passages, shelf=self.shelf.name, put=put)


class ShelfMirror:
    """Meets `adapters.database.stores.search.Proposals`. `size` is in bytes; 0 for no copies."""

    def __init__(self, shelves: Shelves, *, size: int) -> None:
        self._shelves = shelves
        self._size = size
        self._copies: dict[BaseId, _Copy] = {}

    async def near(self, base: BaseId, model: str | None, vector: Sequence[float], *, limit: int) -> Near | None:
        """Candidates for the nearest `limit`; None where there is no complete copy for this model."""
        copy = self._copies.get(base)
        if copy is None or copy.shelf.model != model or copy.put < copy.shelf.put:
            return None
        if len(copy.sketches) <= AT_ONCE:
            return copy.near(vector, limit)
        return await asyncio.to_thread(copy.near, vector, limit)

    async def refresh(self) -> None:
        """Copy new shelves and new rows. Raises DatabaseAway, DatabaseError."""
        known = {copy.shelf.name for copy in self._copies.values()}
        present = await self._shelves.shelves(size=self._size, known=known) if self._size else []
        self._copies = {shelf.base_id: await self._copy_of(shelf) for shelf in present}
        for copy in self._copies.values():
            await self._complete(copy)

    @asynccontextmanager
    async def kept_fresh(self) -> AsyncIterator[None]:
        """Copies are made and refreshed while the context is open."""
        task = asyncio.create_task(self._refresh_forever())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _refresh_forever(self) -> None:
        while self._size:
            try:
                await self.refresh()
            except (DatabaseAway, DatabaseError) as exc:  # searches do without a copy, and report their own trouble
                log.warning("shelves_not_copied", reason=str(exc))
            except Exception:  # the top of this work: nothing in it may stop the bot
                log.exception("shelves_not_copied")
            await asyncio.sleep(REFRESH_S)

    async def _copy_of(self, shelf: Shelf) -> _Copy:
        """The present copy, if it can be continued, or an empty one."""
        held = self._copies.get(shelf.base_id)
        if held and held.shelf.name == shelf.name:
            shelf = replace(shelf, edges=held.shelf.edges)
            if len(held.sketches) <= OUTDATED_SHARE * shelf.passages:
                return _Copy(shelf=shelf, put=held.put, sketches=held.sketches)
        sketches = await asyncio.to_thread(_no_sketches, shelf)
        return _Copy(shelf=shelf, sketches=sketches)

    async def _complete(self, copy: _Copy) -> None:
        if copy.put == copy.shelf.put:
            return
        while copy.put < copy.shelf.put:
            rows = await self._shelves.rows(copy.shelf.base_id, copy.shelf.name, after=copy.put, limit=ROWS_A_STEP)
            if rows is None:  # the shelf was dropped, or its last rows were removed
                copy.put = copy.shelf.put
                break
            await asyncio.to_thread(copy.sketches.add, rows.passages, b64decode(rows.sketches))
            copy.put = rows.last
        log.info("shelf_copied", base=copy.shelf.base_id, passages=len(copy.sketches))


def effort(held: int, limit: int) -> tuple[int, int]:
    """How many candidates for the nearest `limit` have their bits weighed, and how many of these their vectors
    compared.

    Recall of the nearest thirty with 1,024 bits, 100 questions among a million made vectors: of 100,000 passages .9997
    (1,200 weighed, 400 compared), of 500,000 .9997 (2,000, 600), where .9990 and .9970 were found by comparing 210 and
    250, for a millisecond less; weighing more gains nothing. Of 13,630 passages by MiniLM .9978 (1,000, 200) where the
    330 with the fewest differing bits hold .9877 (docs/decisions.md).
    """
    compared = max(7 * limit, 200 + min(held // 500, 400))
    return max(35 * limit, 3 * compared, 1000 + min(held // 500, 3000)), compared


def _no_sketches(shelf: Shelf) -> "Sketches":
    # Imported here: numpy takes a tenth of a second, and most installations have no large base.
    from adapters.database.sketches.scanning import Sketches

    return Sketches(size=-(-sum(map(len, shelf.edges)) // 8))
