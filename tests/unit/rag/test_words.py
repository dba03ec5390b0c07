"""Rough words, sentences and token counts."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from razdel import sentenize

from rag.words import NAME_CHARS, akin, estimate_tokens, normalise, person_name, sentences, share, stems


def test_forms_of_a_word_and_its_case_are_one() -> None:
    assert stems("Договоры ДОГОВОРА ещё") == stems("договор еще")


def test_for_a_word_that_is_not_there_stands_another_ending_or_what_a_typo_hides() -> None:
    own = stems("Рейн славится замками. Замена не нужна.")
    assert akin(stems("замки"), own) == {"замки": {"замка"}}
    assert akin(stems("Рен лев 15"), own) == {}
    assert akin(stems("реин замена"), own) == {"замен": {"замен"}}
    assert akin(stems("плта"), stems("Плата вносится в срок.")) == {"плта": {"плата"}}


def test_numbers_count_and_little_words_do_not() -> None:
    assert stems("до 5 и 0,1 %") == {"5", "0,1"}


def test_a_line_break_ends_a_sentence() -> None:
    text = "- один\n- два. Три\n| Срок (дн.) | 14 |"

    assert [text[span.start : span.end] for span in sentences(text)] == [
        *("- один", "- два.", "Три"),
        "| Срок (дн.) | 14 |",  # a label and its figure are not parted
    ]


@given(st.text(max_size=300))
def test_sentences_are_in_order_and_lose_only_whitespace(text: str) -> None:
    spans = sentences(text)

    assert all(earlier.end <= later.start for earlier, later in pairwise(spans))
    assert "".join("".join(text[s.start : s.end] for s in spans).split()) == "".join(text.split())


def test_a_share_of_nothing_is_nothing() -> None:
    assert share(frozenset(), frozenset({"a"})) == 0


@given(st.text(max_size=100), st.text(max_size=100))
def test_more_text_never_takes_fewer_tokens(one: str, other: str) -> None:
    assert estimate_tokens(one + other) >= estimate_tokens(one)


@given(st.text('аБ .?!…;»)(:=-"\t,*1', max_size=20))
def test_a_line_without_a_possible_end_is_what_razdel_would_say(line: str) -> None:
    found = [(span.start, span.end) for span in sentences(line)]

    assert found == [(piece.start, piece.stop) for piece in sentenize(line) if piece.text]


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


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  а\u00a0 б\u200b\n\n\n\nв ", "а б\n\nв"),
        ("код:\n    x = 1", "код:\n    x = 1"),
        ("и\u0306", "й"),
        ("не\ud83d спит\udcff", "не спит"),  # half a sign; a byte of another encoding on the command line
    ],
)
def test_a_question_is_normalised(text: str, normal: str) -> None:
    assert normalise(text) == normal


def test_whoever_is_called_root_in_telegram_keeps_the_name() -> None:
    assert (person_name("Root"), person_name(None), person_name("\u200b \u2066")) == ("Root", "", "")


@pytest.mark.parametrize(
    ("name", "told"),
    [("Анна\nСедова ", "Анна Седова"), ("Ю" * 300, "Ю" * NAME_CHARS), ("\u202eАн\x1bна\u202c", "Анна")],
)
def test_a_name_is_one_short_line(name: str, told: str) -> None:
    assert person_name(name) == told
