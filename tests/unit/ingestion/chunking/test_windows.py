"""Windows: every chunk is one window's own, context lies around it, the budget holds."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.locator import Locator
from ingestion.chunking.passages import Passages, in_windows
from ingestion.chunking.windows import CONTEXT_CHUNKS, WindowPlace, estimate_tokens, split_window
from ingestion.errors import WindowTooLarge
from ingestion.records import Chunk, Span, Window

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


def _chunks(sizes: list[int]) -> tuple[Chunk, ...]:
    """Chunks of the given numbers of ideographs, which cost one token each."""
    return tuple(
        Chunk(ordinal=ordinal, text="上" * size, span=Span(start=0, end=size), locator=Locator())
        for ordinal, size in enumerate(sizes)
    )


def _windows(chunks: Sequence[Chunk], window_tokens: int) -> list[Window]:
    passages = in_windows(chunks, window_tokens=window_tokens)
    return [passages.window(place) for place in passages.windows]


SIZES = st.lists(st.integers(1, 30), max_size=40)
BUDGETS = st.integers(1, 100)


@given(SIZES, BUDGETS)
def test_every_chunk_is_own_once_and_in_order(sizes: list[int], budget: int) -> None:
    chunks = _chunks(sizes)
    windows = _windows(chunks, budget)
    assert tuple(chunk for window in windows for chunk in window.own) == chunks


@given(SIZES, BUDGETS)
def test_a_window_holds_its_budget_or_a_single_chunk(sizes: list[int], budget: int) -> None:
    for window in _windows(_chunks(sizes), budget):
        cost = sum(estimate_tokens(chunk.text) for chunk in window.chunks)
        assert cost <= budget or len(window.chunks) == 1


@given(SIZES, BUDGETS)
def test_context_is_what_stands_next_to_the_own_chunks(sizes: list[int], budget: int) -> None:
    for window in _windows(_chunks(sizes), budget):
        ordinals = [chunk.ordinal for chunk in window.chunks]
        assert ordinals == list(range(ordinals[0], ordinals[-1] + 1))
        assert window.own_start <= CONTEXT_CHUNKS
        assert len(window.chunks) - window.own_end <= CONTEXT_CHUNKS


def test_windows_overlap_on_both_sides_where_there_is_room() -> None:
    windows = _windows(_chunks([10] * 12), 70)
    middle = windows[1]
    assert (middle.own_start, len(middle.chunks) - middle.own_end) == (2, 2)


def test_headings_before_a_chunk_count() -> None:
    under = [replace(chunk, locator=Locator(headings=("题" * 10,))) for chunk in _chunks([10] * 4)]
    assert len(_windows(under, 50)) == 4
    assert len(_windows(_chunks([10] * 4), 50)) == 1


def test_passages_that_stand_without_the_beginning_are_told_whose_they_are() -> None:
    words = ["Договор № 7,\nЛазурит", "Цена", "Срок", "Пеня"]
    spans = [Span(start=9 * at, end=9 * at + len(text)) for at, text in enumerate(words)]
    chunks = [
        Chunk(ordinal=at, text=text, span=span, locator=Locator(headings=("Условия",) * (at == 2)))
        for at, (text, span) in enumerate(zip(words, spans, strict=True))
    ]
    places = (WindowPlace(start=at, own=at, end=at + 2, reach=at + 2) for at in (0, 2))
    first, last = map(Passages(chunks=chunks, windows=()).window, places)
    assert first.texts_alone[0] == first.texts_together[0] == words[0]
    assert last.texts_alone == ["Договор № 7, Лазурит\nУсловия\nСрок", "Договор № 7, Лазурит\nПеня"]
    assert last.texts_together == ["Договор № 7, Лазурит\nУсловия\nСрок", "Пеня"]
    assert {half.line for half in split_window(last)} == {"Договор № 7, Лазурит"}


def test_a_document_that_fits_is_one_window() -> None:
    assert len(_windows(_chunks([10] * 5), 50)) == 1


@given(st.lists(st.integers(1, 5), min_size=2, max_size=20), BUDGETS)
def test_halves_are_smaller_and_share_out_the_own_chunks(sizes: list[int], budget: int) -> None:
    for window in _windows(_chunks(sizes), budget):
        if len(window.chunks) > 1:
            parts = split_window(window)
            assert tuple(chunk for part in parts for chunk in part.own) == window.own
            assert all(len(part.chunks) < len(window.chunks) and part.own for part in parts)


def test_a_single_own_chunk_loses_its_context_first() -> None:
    chunks = _chunks([1, 2, 3])
    assert split_window(Window(chunks=chunks, own_start=1, own_end=2)) == (
        Window(chunks=chunks[1:2], own_start=0, own_end=1),
    )


def test_a_chunk_alone_cannot_be_split() -> None:
    with pytest.raises(WindowTooLarge):
        split_window(Window(chunks=_chunks([5]), own_start=0, own_end=1))


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
