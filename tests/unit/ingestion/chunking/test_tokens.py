"""The token estimate leans upwards and adds up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.chunking.tokens import estimate_tokens

# No tokenizer is at hand in the tests: the counts are what an XLM-RoBERTa vocabulary is known to give on average
# (1.6 tokens for a Russian word, 1.25 for an English one, 1 for a mark, 1 for 1.8 random characters or 1.5 ideographs).
EXPECTED = [
    ("Привет, как дела у вашей прекрасной бабушки?", 13),
    ("The quick brown fox jumps over the lazy dog.", 12),
    ("я и он у неё", 5),
    ("7f3a9c2e81d04b56", 9),
    ("qzxjkvwbtrmnlp", 8),
    ("ПРИКАЗ О НАЗНАЧЕНИИ", 8),
    ("上海自来水来自海上", 6),
]


@pytest.mark.parametrize(("text", "expected"), EXPECTED)
def test_the_estimate_is_never_under_half_nor_far_over(text: str, expected: int) -> None:
    assert expected / 2 < estimate_tokens(text) <= expected * 2


@pytest.mark.parametrize(("text", "expected"), EXPECTED[:2])
def test_the_estimate_of_running_text_leans_upwards(text: str, expected: int) -> None:
    assert estimate_tokens(text) >= expected


def test_nothing_costs_nothing() -> None:
    assert estimate_tokens("") == 0


@given(st.text(), st.text())
def test_joined_texts_never_cost_more_than_their_sum(left: str, right: str) -> None:
    assert estimate_tokens(left + right) <= estimate_tokens(left) + estimate_tokens(right)


@given(st.text(min_size=1))
def test_a_longer_text_never_costs_less(text: str) -> None:
    assert estimate_tokens(text[:-1]) <= estimate_tokens(text)
