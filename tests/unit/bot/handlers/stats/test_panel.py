"""The scale of a row of a picture."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.handlers.stats import LEAST_STEP, scale_to, shortened


@given(most=st.integers(0, 10**7), lines=st.integers(1, 5))
def test_the_scale_reaches_the_highest_bar_with_few_lines(most: int, lines: int) -> None:
    step, steps = scale_to(most, lines=lines)
    assert step * steps >= most
    assert 1 <= steps <= lines
    assert str(step).rstrip("0") in {"1", "2", "5"}
    assert step == 1 or step * lines <= 2.5 * most + lines


@given(most=st.floats(0, 10**6))
@example(most=0.1 + 0.2)
def test_a_scale_of_money_may_have_steps_of_a_tenth_of_a_cent(most: float) -> None:
    step, steps = scale_to(most, lines=3, least=LEAST_STEP)
    assert step * steps >= most * (1 - 1e-9)
    assert 1 <= steps <= 3


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (50, "50"), (0.1 * 3, "0.3"), (0.005, "0.005"), (20_000, "20k"), (1_500_000, "1.5M"), (2e9, "2000M")],
)
def test_a_number_on_the_scale_is_as_short_as_it_can_be(value: float, shown: str) -> None:
    assert shortened(value) == shown
