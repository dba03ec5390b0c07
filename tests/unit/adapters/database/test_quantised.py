"""Sketches are compared as one by one, whatever their length and number."""

import tracemalloc
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.database import quantised
from adapters.database.quantised import QuantisedVectors, bits_of, weights_of


def differing(one: bytes, other: bytes) -> int:
    return sum((mine ^ theirs).bit_count() for mine, theirs in zip(one, other, strict=True))


def fewest(quantised: QuantisedVectors, bits: bytes, count: int) -> list[int]:
    """By differing bits alone: nothing weighs anything."""
    return quantised.nearest(bits, np.zeros(0, dtype=np.float32), weighed=count, count=count)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantised, "BLOCK", 16)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("seed", range(40))
def test_the_nearest_are_those_with_the_fewest_differing_bits(seed: int) -> None:
    chance = Random(seed)
    size, count = chance.choice((1, 7, 8, 48, 128, 129)), chance.randint(1, 70)
    held = {1_000 + number: chance.randbytes(size) for number in range(chance.randint(1, 100))}
    quantised = QuantisedVectors(size=size)
    numbers = list(held)
    while numbers:  # as they come from the database, some at a time
        some, numbers = numbers[: chance.randint(1, 40)], numbers[40:] if len(numbers) > 40 else []
        quantised.add(some, b"".join(held[number] for number in some))
    asked = chance.randbytes(size)
    found = fewest(quantised, asked, count)
    there = [differing(bits, asked) for number, bits in held.items() if number in set(found)]
    all_there = sorted(differing(held[number], asked) for number in _held(quantised))
    assert len(found) == len(set(found)) == min(count, len(quantised))
    assert sorted(there) == all_there[: len(found)]


def _held(quantised: QuantisedVectors) -> list[int]:
    return fewest(quantised, bytes(quantised.size), len(quantised))


@pytest.mark.parametrize("count", [12_000, 150_000])
def test_of_many_the_near_ones_are_found_by_half_of_their_bits(count: int) -> None:
    chance = np.random.default_rng(count)
    asked = chance.integers(0, 256, 128, dtype=np.uint8)
    held = chance.integers(0, 256, (count, 128), dtype=np.uint8)
    near = chance.choice(count, 50, replace=False)
    held[near] = asked ^ np.packbits(chance.random((50, 1_024)) < 0.2, axis=1)
    quantised = QuantisedVectors(size=128)
    quantised.add(range(count), held.tobytes())
    assert sorted(fewest(quantised, asked.tobytes(), 50)) == sorted(near.tolist())


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("seed", range(40))
def test_of_the_nearest_those_are_taken_whose_bits_are_worth_most(seed: int) -> None:
    chance = Random(seed)
    width, count = chance.choice((3, 8, 64, 130)), chance.randint(1, 40)
    thresholds = [[chance.gauss(0, 0.3) for _ in range(width)] for _ in range(chance.randint(1, 3))]
    vectors = {2_000 + number: [chance.gauss(0, 1) for _ in range(width)] for number in range(60)}
    held = {number: bits_of(vector, thresholds) for number, vector in vectors.items()}
    asked = [chance.gauss(0, 1) for _ in range(width)]
    weights = weights_of(asked, thresholds)
    assert weights.tolist() == pytest.approx(asked * len(thresholds), rel=0.01)
    quantised = QuantisedVectors(size=len(held[2_000]))
    quantised.add(list(held), b"".join(held.values()))
    found = quantised.nearest(bits_of(asked, thresholds), weights, weighed=60, count=count)

    def weights_at(number: int) -> float:
        bits = np.unpackbits(np.frombuffer(held[number], dtype=np.uint8))
        return float(sum(number for number, bit in zip(weights.tolist(), bits.tolist(), strict=False) if bit))

    best = sorted(map(weights_at, held), reverse=True)[:count]
    assert sorted(map(weights_at, found), reverse=True) == pytest.approx(best, abs=0.001)
    few = quantised.nearest(bits_of(asked, thresholds), weights, weighed=10, count=10)
    assert {differing(held[number], bits_of(asked, thresholds)) for number in few} == {
        differing(held[number], bits_of(asked, thresholds))
        for number in fewest(quantised, bits_of(asked, thresholds), 10)
    }


def test_nothing_is_near_where_nothing_is_held() -> None:
    weights = weights_of([1.0] * 1_024, [[0.0] * 1_024])
    assert QuantisedVectors(size=128).nearest(bytes(128), weights, weighed=30, count=30) == []


@pytest.mark.parametrize("count", [5_100, 100_000])
def test_sketches_take_little_more_room_than_they_have_bytes(count: int) -> None:
    tracemalloc.start()
    try:
        quantised = QuantisedVectors(size=128)
        for begin in range(0, count, 100):
            quantised.add(range(begin, begin + 100), bytes(128 * 100))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(quantised) == count
    assert held < 1.5 * count * (128 + 8)


def test_sketches_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="no 2 vectors of 128"):
        QuantisedVectors(size=128).add([1, 2], bytes(255))


@given(st.lists(st.floats(-1, 1, width=16), min_size=9, max_size=9), st.lists(st.floats(-1, 1, width=16), min_size=9))
def test_a_bit_tells_on_which_side_of_the_edge_a_number_lies(vector: list[float], threshold: list[float]) -> None:
    thresholds = [threshold[:9], [0.0] * 9]
    bits = np.unpackbits(np.frombuffer(bits_of([*vector, 0.0, 0.0], thresholds), dtype=np.uint8))
    told = [number > cut for part in thresholds for number, cut in zip(vector, part, strict=True)]
    assert [bool(bit) for bit in bits] == [*told, *[False] * 6]


def test_a_short_vector_is_padded_as_in_the_database() -> None:
    thresholds = [[0.5, -0.5, -0.5, 0.5]]
    assert bits_of([1.0, -1.0], thresholds) == bits_of([1.0, -1.0, 0.0, 0.0], thresholds) == bytes([0b1010_0000])
