"""Copies of shelves: what is proposed, and when nothing is."""

import asyncio
import threading
from base64 import b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import pytest

from adapters.database.errors import DatabaseAway
from adapters.database.sketches import mirror as mirrors
from adapters.database.sketches.mirror import Shelf, ShelfMirror, ShelfRows, effort
from domain.ids import BaseId

BASE, OTHER = BaseId("base"), BaseId("other")
MODEL = "model"
ALL = 10_000  # bytes, for all there is


@dataclass
class FakeShelves:
    """Shelves of sketches of one byte; each row holds one passage."""

    listed: list[Shelf] = field(default_factory=list)
    held: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # name -> passage and sketch, by place
    read: list[tuple[str, int]] = field(default_factory=list)
    away: bool = False

    def put(self, base: BaseId, name: str, *passages: tuple[int, int]) -> None:
        rows = self.held.setdefault(name, [])
        rows.extend(passages)
        edges = [[0.0] * 8]
        shelf = Shelf(base_id=base, name=name, model=MODEL, edges=edges, passages=len(rows), put=len(rows))
        self.listed = [*(each for each in self.listed if each.base_id != base), shelf]

    async def shelves(self, *, size: int, known: Collection[str]) -> list[Shelf]:
        if self.away:
            raise DatabaseAway("away")
        listed = [replace(shelf, edges=()) if shelf.name in known else shelf for shelf in self.listed]
        return [shelf for shelf in listed if shelf.passages <= size]

    async def rows(self, base: BaseId, shelf: str, *, after: int, limit: int) -> ShelfRows | None:
        self.read.append((shelf, after))
        some = self.held.get(shelf, [])[after : after + min(limit, 2)]
        if not some:
            return None
        sketches = b64encode(bytes(sketch for _, sketch in some)).decode()
        return ShelfRows(last=after + len(some), passages=[passage for passage, _ in some], sketches=sketches)


async def near(mirror: ShelfMirror, vector: Sequence[float] = (1.0,) * 8, *, base: BaseId = BASE) -> list[int] | None:
    found = await mirror.near(base, MODEL, vector, limit=1)
    return None if found is None else sorted(found.passages)


@pytest.fixture
def shelves(monkeypatch: pytest.MonkeyPatch) -> FakeShelves:
    monkeypatch.setattr(mirrors, "effort", lambda _, limit: (limit, limit))
    return FakeShelves()


async def test_the_nearest_by_their_sketches_are_proposed(shelves: FakeShelves) -> None:
    shelves.put(BASE, "shelf", (11, 0b00000000), (12, 0b11111110), (13, 0b11110000))
    mirror = ShelfMirror(shelves, size=ALL)
    await mirror.refresh()
    assert await near(mirror) == [12]
    assert await near(mirror, [-1.0] * 8) == [11]
    proposed = await mirror.near(BASE, MODEL, [1.0] * 8, limit=1)
    assert proposed
    assert (proposed.shelf, proposed.put) == ("shelf", 3)


async def test_only_many_sketches_are_compared_by_a_thread(
    shelves: FakeShelves, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def noted(_: int, limit: int) -> tuple[int, int]:
        threads.append(threading.get_ident())
        return limit, limit

    monkeypatch.setattr(mirrors, "effort", noted)
    shelves.put(BASE, "shelf", (11, 0), (12, 255))
    mirror = ShelfMirror(shelves, size=ALL)
    await mirror.refresh()
    assert await near(mirror) == [12]
    monkeypatch.setattr(mirrors, "AT_ONCE", 1)
    assert await near(mirror) == [12]
    assert [thread == threading.get_ident() for thread in threads] == [True, False]


async def test_nothing_is_proposed_for_others(shelves: FakeShelves) -> None:
    shelves.put(BASE, "shelf", (11, 0))
    mirror = ShelfMirror(shelves, size=ALL)
    assert await near(mirror) is None
    await mirror.refresh()
    assert await near(mirror, base=OTHER) is None
    assert await mirror.near(BASE, "another model", [1.0] * 8, limit=1) is None
    assert await mirror.near(BASE, None, [1.0] * 8, limit=1) is None


async def test_only_what_came_since_is_copied(shelves: FakeShelves) -> None:
    shelves.put(BASE, "shelf", (11, 0), (12, 1))
    mirror = ShelfMirror(shelves, size=ALL)
    await mirror.refresh()
    shelves.put(BASE, "shelf", (13, 255))
    shelves.read.clear()
    await mirror.refresh()
    assert shelves.read == [("shelf", 2)]
    assert await near(mirror) == [13]


async def test_a_half_made_copy_proposes_nothing(shelves: FakeShelves) -> None:
    shelves.put(BASE, "shelf", *((passage, 0) for passage in range(6)))
    gate, reached = asyncio.Event(), asyncio.Event()
    original = shelves.rows

    async def slow(base: BaseId, shelf: str, *, after: int, limit: int) -> ShelfRows | None:
        if after == 4:
            reached.set()
            await gate.wait()
        return await original(base, shelf, after=after, limit=limit)

    shelves.rows = slow  # type: ignore[method-assign]
    mirror = ShelfMirror(shelves, size=ALL)
    copying = asyncio.create_task(mirror.refresh())
    await reached.wait()
    assert await near(mirror) is None
    gate.set()
    await copying
    assert await near(mirror) is not None


async def test_a_new_shelf_takes_the_place_of_the_old_one(shelves: FakeShelves) -> None:
    shelves.put(BASE, "old", (11, 255))
    mirror = ShelfMirror(shelves, size=ALL)
    await mirror.refresh()
    shelves.put(BASE, "new", (21, 255))
    await mirror.refresh()
    assert await near(mirror) == [21]


async def test_a_copy_that_is_mostly_of_what_left_is_made_anew(shelves: FakeShelves) -> None:
    shelves.put(BASE, "shelf", *((passage, 255) for passage in range(4)))
    mirror = ShelfMirror(shelves, size=ALL)
    await mirror.refresh()
    shelves.listed = [replace(shelves.listed[0], passages=2)]
    shelves.held["shelf"] = [(30, 0), (31, 0), (2, 255), (3, 255)]
    await mirror.refresh()
    assert await near(mirror) in ([2], [3])
    assert shelves.read[-2:] == [("shelf", 0), ("shelf", 2)]


async def test_a_shelf_that_goes_while_it_is_copied_holds_up_nobody(shelves: FakeShelves) -> None:
    shelves.put(BASE, "shelf", (11, 0))
    shelves.held.clear()
    mirror = ShelfMirror(shelves, size=ALL)
    async with asyncio.timeout(5):
        await mirror.refresh()
    assert await near(mirror) == []  # the database knows that the shelf is another, and looks for itself


async def test_without_memory_nothing_is_copied(shelves: FakeShelves) -> None:
    shelves.put(BASE, "shelf", (11, 0))
    mirror = ShelfMirror(shelves, size=0)
    await mirror.refresh()
    async with mirror.kept_fresh():
        await asyncio.sleep(0)
    assert await near(mirror) is None
    assert not shelves.read


async def test_copies_go_on_after_the_database_was_away(shelves: FakeShelves, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirrors, "REFRESH_S", 0.001)
    shelves.away = True
    mirror = ShelfMirror(shelves, size=ALL)
    async with mirror.kept_fresh(), asyncio.timeout(5):
        await asyncio.sleep(0.01)
        shelves.put(BASE, "shelf", (11, 0))
        shelves.away = False
        while await near(mirror) is None:
            await asyncio.sleep(0.001)


async def test_copies_go_on_after_rows_that_make_no_sense(
    shelves: FakeShelves, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirrors, "REFRESH_S", 0.001)
    shelves.put(BASE, "shelf", (11, 0))
    original, tried = shelves.rows, asyncio.Event()

    async def broken(base: BaseId, shelf: str, *, after: int, limit: int) -> ShelfRows | None:
        tried.set()
        return ShelfRows(last=1, passages=[11], sketches=b64encode(bytes(3)).decode())

    shelves.rows = broken  # type: ignore[method-assign]
    mirror = ShelfMirror(shelves, size=ALL)
    async with mirror.kept_fresh(), asyncio.timeout(5):
        await tried.wait()
        assert await near(mirror) is None
        shelves.rows = original  # type: ignore[method-assign]
        while await near(mirror) is None:
            await asyncio.sleep(0.001)


@pytest.mark.parametrize(("held", "expected"), [(0, (1_050, 210)), (100_000, (1_200, 400)), (500_000, (2_000, 600))])
def test_of_more_passages_more_are_compared(held: int, expected: tuple[int, int]) -> None:
    assert effort(held, 30) == expected
    assert effort(held, 200) == (7_000, 1_400)
