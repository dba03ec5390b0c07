"""Sketches are compared as one by one, whatever their length and number."""

import tracemalloc
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.database.sketches import scanning
from adapters.database.sketches.scanning import Sketches, sketch_of


def differing(one: bytes, other: bytes) -> int:
    return sum((mine ^ theirs).bit_count() for mine, theirs in zip(one, other, strict=True))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "BLOCK", 16)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("seed", range(40))
def test_the_nearest_are_those_with_the_fewest_differing_bits(seed: int) -> None:
    chance = Random(seed)
    size, count = chance.choice((1, 7, 8, 48, 128, 129)), chance.randint(1, 70)
    held = {1_000 + number: chance.randbytes(size) for number in range(chance.randint(1, 100))}
    sketches = Sketches(size=size)
    numbers = list(held)
    while numbers:  # as they come from the database, some at a time
        some, numbers = numbers[: chance.randint(1, 40)], numbers[40:] if len(numbers) > 40 else []
        sketches.add(some, b"".join(held[number] for number in some))
    asked = chance.randbytes(size)
    found = sketches.nearest(asked, count)
    there = [differing(sketch, asked) for number, sketch in held.items() if number in set(found)]
    all_there = sorted(differing(held[number], asked) for number in _held(sketches))
    assert len(found) == len(set(found)) == min(count, len(sketches))
    assert sorted(there) == all_there[: len(found)]


def _held(sketches: Sketches) -> list[int]:
    return sketches.nearest(bytes(sketches.size), len(sketches))


def test_nothing_is_near_where_nothing_is_held() -> None:
    assert Sketches(size=128).nearest(bytes(128), 30) == []


@pytest.mark.parametrize("count", [5_100, 100_000])
def test_sketches_take_little_more_room_than_they_have_bytes(count: int) -> None:
    tracemalloc.start()
    try:
        sketches = Sketches(size=128)
        for begin in range(0, count, 100):
            sketches.add(range(begin, begin + 100), bytes(128 * 100))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(sketches) == count
    assert held < 1.5 * count * (128 + 8)


def test_sketches_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="no 2 sketches of 128"):
        Sketches(size=128).add([1, 2], bytes(255))


@given(st.lists(st.floats(-1, 1, width=16), min_size=9, max_size=9), st.lists(st.floats(-1, 1, width=16), min_size=9))
def test_a_bit_tells_on_which_side_of_the_edge_a_number_lies(vector: list[float], edge: list[float]) -> None:
    edges = [edge[:9], [0.0] * 9]
    bits = np.unpackbits(np.frombuffer(sketch_of([*vector, 0.0, 0.0], edges), dtype=np.uint8))
    told = [number > cut for part in edges for number, cut in zip(vector, part, strict=True)]
    assert [bool(bit) for bit in bits] == [*told, *[False] * 6]


def test_a_short_vector_is_padded_as_in_the_database() -> None:
    edges = [[0.5, -0.5, -0.5, 0.5]]
    assert sketch_of([1.0, -1.0], edges) == sketch_of([1.0, -1.0, 0.0, 0.0], edges) == bytes([0b1010_0000])
