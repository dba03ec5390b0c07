"""Copies of segments: what is proposed, and when nothing is."""

import asyncio
import threading
from base64 import b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import pytest

from adapters.database import segments as mirrors
from adapters.database.segments import Segment, SegmentMirror, SegmentRows, SegmentStore, effort
from adapters.database.transport import DatabaseAway
from domain.ids import BaseId

BASE, OTHER = BaseId("base"), BaseId("other")
MODEL = "model"
ALL = 10_000  # bytes, for all there is


@dataclass
class FakeSegments(SegmentStore):
    """Segments of vectors of eight bits; each row holds one passage."""

    listed: list[Segment] = field(default_factory=list)
    held: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # name -> passage and bits, by place
    read: list[tuple[str, int]] = field(default_factory=list)
    away: bool = False

    def put(self, base: BaseId, name: str, *passages: tuple[int, int]) -> None:
        rows = self.held.setdefault(name, [])
        rows.extend(passages)
        thresholds = [[0.0] * 8]
        segment = Segment(
            base_id=base, name=name, model=MODEL, thresholds=thresholds, passages=len(rows), last_row=len(rows)
        )
        self.listed = [*(each for each in self.listed if each.base_id != base), segment]

    async def segments(self, *, size: int, known: Collection[str]) -> list[Segment]:
        if self.away:
            raise DatabaseAway("away")
        listed = [replace(segment, thresholds=()) if segment.name in known else segment for segment in self.listed]
        return [segment for segment in listed if segment.passages <= size]

    async def rows(self, base: BaseId, segment: str, *, after: int, limit: int) -> SegmentRows | None:
        self.read.append((segment, after))
        some = self.held.get(segment, [])[after : after + min(limit, 2)]
        if not some:
            return None
        packed = b64encode(bytes(bits for _, bits in some)).decode()
        return SegmentRows(last=after + len(some), passages=[passage for passage, _ in some], bits=packed)


async def near(mirror: SegmentMirror, vector: Sequence[float] = (1.0,) * 8, *, base: BaseId = BASE) -> list[int] | None:
    copy = mirror.copy_of(base, MODEL)
    return sorted((await copy.near(vector, limit=1)).passages) if copy else None


@pytest.fixture
def segments(monkeypatch: pytest.MonkeyPatch) -> FakeSegments:
    monkeypatch.setattr(mirrors, "effort", lambda _, limit: (limit, limit))
    return FakeSegments()


async def test_the_nearest_by_their_bits_are_proposed(segments: FakeSegments) -> None:
    segments.put(BASE, "segment", (11, 0b00000000), (12, 0b11111110), (13, 0b11110000))
    mirror = SegmentMirror(segments, size=ALL)
    await mirror.refresh()
    assert await near(mirror) == [12]
    assert await near(mirror, [-1.0] * 8) == [11]
    copy = mirror.copy_of(BASE, MODEL)
    assert copy
    proposed = await copy.near([1.0] * 8, limit=1)
    assert (proposed.segment, proposed.last_row) == ("segment", 3)


async def test_only_many_sketches_are_compared_by_a_thread(
    segments: FakeSegments, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def noted(_: int, limit: int) -> tuple[int, int]:
        threads.append(threading.get_ident())
        return limit, limit

    monkeypatch.setattr(mirrors, "effort", noted)
    segments.put(BASE, "segment", (11, 0), (12, 255))
    mirror = SegmentMirror(segments, size=ALL)
    await mirror.refresh()
    assert await near(mirror) == [12]
    monkeypatch.setattr(mirrors, "AT_ONCE", 1)
    assert await near(mirror) == [12]
    assert [thread == threading.get_ident() for thread in threads] == [True, False]


async def test_nothing_is_proposed_for_others(segments: FakeSegments) -> None:
    segments.put(BASE, "segment", (11, 0))
    mirror = SegmentMirror(segments, size=ALL)
    assert await near(mirror) is None
    await mirror.refresh()
    assert await near(mirror, base=OTHER) is None
    assert mirror.copy_of(BASE, "another model") is None
    assert mirror.copy_of(BASE, None) is None


async def test_only_what_came_since_is_copied(segments: FakeSegments) -> None:
    segments.put(BASE, "segment", (11, 0), (12, 1))
    mirror = SegmentMirror(segments, size=ALL)
    await mirror.refresh()
    segments.put(BASE, "segment", (13, 255))
    segments.read.clear()
    await mirror.refresh()
    assert segments.read == [("segment", 2)]
    assert await near(mirror) == [13]


async def test_a_half_made_copy_proposes_nothing(segments: FakeSegments) -> None:
    segments.put(BASE, "segment", *((passage, 0) for passage in range(6)))
    gate, reached = asyncio.Event(), asyncio.Event()
    original = segments.rows

    async def slow(base: BaseId, segment: str, *, after: int, limit: int) -> SegmentRows | None:
        if after == 4:
            reached.set()
            await gate.wait()
        return await original(base, segment, after=after, limit=limit)

    segments.rows = slow  # type: ignore[method-assign]
    mirror = SegmentMirror(segments, size=ALL)
    copying = asyncio.create_task(mirror.refresh())
    await reached.wait()
    assert await near(mirror) is None
    gate.set()
    await copying
    assert await near(mirror) is not None


async def test_a_new_segment_takes_the_place_of_the_old_one(segments: FakeSegments) -> None:
    segments.put(BASE, "old", (11, 255))
    mirror = SegmentMirror(segments, size=ALL)
    await mirror.refresh()
    segments.put(BASE, "new", (21, 255))
    await mirror.refresh()
    assert await near(mirror) == [21]


async def test_a_copy_that_is_mostly_of_what_left_is_made_anew(segments: FakeSegments) -> None:
    segments.put(BASE, "segment", *((passage, 255) for passage in range(4)))
    mirror = SegmentMirror(segments, size=ALL)
    await mirror.refresh()
    segments.listed = [replace(segments.listed[0], passages=2)]
    segments.held["segment"] = [(30, 0), (31, 0), (2, 255), (3, 255)]
    await mirror.refresh()
    assert await near(mirror) in ([2], [3])
    assert segments.read[-2:] == [("segment", 0), ("segment", 2)]


async def test_a_segment_that_goes_while_it_is_copied_holds_up_nobody(segments: FakeSegments) -> None:
    segments.put(BASE, "segment", (11, 0))
    segments.held.clear()
    mirror = SegmentMirror(segments, size=ALL)
    async with asyncio.timeout(5):
        await mirror.refresh()
    assert await near(mirror) == []  # the database knows that the segment is another, and looks for itself


async def test_without_memory_nothing_is_copied(segments: FakeSegments) -> None:
    segments.put(BASE, "segment", (11, 0))
    mirror = SegmentMirror(segments, size=0)
    await mirror.refresh()
    async with mirror.kept_fresh():
        await asyncio.sleep(0)
    assert await near(mirror) is None
    assert not segments.read


async def test_copies_go_on_after_the_database_was_away(
    segments: FakeSegments, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirrors, "REFRESH_S", 0.001)
    segments.away = True
    mirror = SegmentMirror(segments, size=ALL)
    async with mirror.kept_fresh(), asyncio.timeout(5):
        await asyncio.sleep(0.01)
        segments.put(BASE, "segment", (11, 0))
        segments.away = False
        while await near(mirror) is None:
            await asyncio.sleep(0.001)


async def test_copies_go_on_after_rows_that_make_no_sense(
    segments: FakeSegments, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirrors, "REFRESH_S", 0.001)
    segments.put(BASE, "segment", (11, 0))
    original, tried = segments.rows, asyncio.Event()

    async def broken(base: BaseId, segment: str, *, after: int, limit: int) -> SegmentRows | None:
        tried.set()
        return SegmentRows(last=1, passages=[11], bits=b64encode(bytes(3)).decode())

    segments.rows = broken  # type: ignore[method-assign]
    mirror = SegmentMirror(segments, size=ALL)
    async with mirror.kept_fresh(), asyncio.timeout(5):
        await tried.wait()
        assert await near(mirror) is None
        segments.rows = original  # type: ignore[method-assign]
        while await near(mirror) is None:
            await asyncio.sleep(0.001)


@pytest.mark.parametrize(("held", "expected"), [(0, (1_050, 210)), (100_000, (1_200, 300)), (500_000, (2_000, 600))])
def test_of_more_passages_more_are_compared(held: int, expected: tuple[int, int]) -> None:
    assert effort(held, 30) == expected
    assert effort(held, 200) == (7_000, 1_400)
