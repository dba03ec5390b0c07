"""Seed 3's rule: early steps read more, late ones remember more, and the reply always has its room."""

from hypothesis import given
from hypothesis import strategies as st

from rag.execution.step_context import RESPONSE_TOKENS, TokenBudget

SIZES = st.integers(0, 200_000)


@given(SIZES, st.integers(1, 50), st.integers(1, 50), SIZES)
def test_a_step_never_gets_more_than_there_is(total: int, number: int, steps: int, context: int) -> None:
    got = TokenBudget(total=total).allocate(step_number=number, total_steps=steps, context_size=context)
    assert min(got.history, got.rag) >= 0
    assert got.history + got.rag <= max(total - got.response - context, 0)
    assert got.response == RESPONSE_TOKENS


@given(st.integers(2_000, 100_000), st.integers(2, 20))
def test_later_steps_remember_more_and_read_less(total: int, steps: int) -> None:
    budget = TokenBudget(total=total)
    shares = [budget.allocate(step_number=n, total_steps=steps, context_size=100) for n in range(1, steps + 1)]
    assert [each.history for each in shares] == sorted(each.history for each in shares)
    assert [each.rag for each in shares] == sorted((each.rag for each in shares), reverse=True)


def test_the_last_step_shares_half_and_half() -> None:
    last = TokenBudget(total=4_512).allocate(step_number=3, total_steps=3, context_size=0)
    assert (last.history, last.rag) == (2_000, 2_000)
