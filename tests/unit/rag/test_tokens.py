"""The estimate of tokens: never below what a tokenizer needs for plain prose."""

import pytest

from rag.tokens import estimate_tokens


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("", 0),
        ("Срок оплаты составляет четырнадцать дней.", 11),
        ("The rent is due on the fifth of each month.", 11),
        ("租金应在每月五日前支付", 9),  # a third of a token a sign would be far too low
    ],
)
def test_the_estimate_is_rather_too_high(text: str, least: int) -> None:
    assert estimate_tokens(text) >= least
