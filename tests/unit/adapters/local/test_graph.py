"""Which tokens are encoded together, and a vector for each span."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.local.graph import BATCH_SQUARES, BATCH_TOKENS, plan_batches, plan_stretches, pool_mean, token_span

COUNTS = st.integers(0, 3000)
SIZES = st.integers(8, 200)


@given(COUNTS, SIZES)
def test_every_token_is_kept_once(count: int, size: int) -> None:
    stretches = plan_stretches(count, size=size, overlap=size // 4)
    kept = [token for part in stretches for token in range(part.keeps_from, part.keeps_to)]
    assert kept == list(range(count))


@given(COUNTS, SIZES)
def test_kept_tokens_see_both_sides(count: int, size: int) -> None:
    stretches = plan_stretches(count, size=size, overlap=size // 4)
    for left, right in pairwise(stretches):
        assert left.end - right.start >= size // 4
        assert left.end - left.keeps_to >= size // 4 // 2
        assert right.keeps_from - right.start >= size // 4 // 2


@given(COUNTS, SIZES)
def test_stretches_fit_and_lie_within_the_text(count: int, size: int) -> None:
    stretches = plan_stretches(count, size=size, overlap=size // 4)
    assert all(0 <= part.start <= part.end <= count and part.end - part.start <= size for part in stretches)


@given(st.lists(st.integers(1, 9000), max_size=60))
def test_batches_hold_every_row_once_within_their_limits(lengths: list[int]) -> None:
    batches = plan_batches(lengths)
    assert sorted(number for batch in batches for number in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[number] for number in batch)
        within = len(batch) * longest <= BATCH_TOKENS and len(batch) * longest**2 <= BATCH_SQUARES
        assert within or len(batch) == 1


OFFSETS = np.array([[0, 3], [4, 6], [6, 9], [10, 12]])


@pytest.mark.parametrize(
    ("span", "tokens"),
    [((0, 3), (0, 1)), ((0, 4), (0, 1)), ((5, 10), (1, 3)), ((7, 8), (2, 3)), ((9, 10), (3, 4)), ((12, 20), (3, 4))],
)
def test_a_span_has_the_tokens_that_touch_it_and_at_least_one(span: tuple[int, int], tokens: tuple[int, int]) -> None:
    assert token_span(OFFSETS, *span) == tokens


def test_a_text_without_tokens_has_no_span() -> None:
    assert token_span(np.zeros((0, 2), dtype=np.int64), 0, 5) == (0, 0)


def test_pooled_vectors_are_means_of_length_one() -> None:
    vectors = np.array([[3, 0], [0, 4], [0, 0]], dtype=np.float32)
    pooled = pool_mean(vectors, [(0, 1), (0, 2), (2, 3)])
    assert pooled.tolist() == [[1, 0], [pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]
