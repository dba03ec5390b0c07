"""Long rows of things in portions."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from domain.portions import in_portions

SIZES = st.lists(st.integers(0, 12))


def portions_of(sizes: list[int], limit: int = 10) -> list[list[int]]:
    return list(in_portions(sizes, lambda size: size, limit=limit))


@given(sizes=SIZES)
def test_nothing_is_lost_and_the_order_stays(sizes: list[int]) -> None:
    assert [size for portion in portions_of(sizes) for size in portion] == sizes


@given(sizes=SIZES)
def test_a_portion_is_within_the_limit_unless_it_is_a_single_thing(sizes: list[int]) -> None:
    assert all(portion and (sum(portion) <= 10 or len(portion) == 1) for portion in portions_of(sizes))


@given(sizes=SIZES)
def test_no_portion_would_have_had_room_for_what_follows(sizes: list[int]) -> None:
    portions = portions_of(sizes)
    assert all(sum(portion) + following[0] > 10 for portion, following in pairwise(portions))


def test_nothing_makes_no_portion() -> None:
    assert portions_of([]) == []


def test_no_more_is_taken_than_was_asked_for() -> None:
    things = iter(range(100))
    next(in_portions(things, lambda _: 1, limit=3))
    assert next(things) == 4
