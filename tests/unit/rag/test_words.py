"""Rough words, sentences and token counts."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from razdel import sentenize

from rag.tokens import estimate_tokens
from rag.words import akin, covered, held, sentences, share, stems


def test_forms_of_a_word_and_its_case_are_one() -> None:
    assert stems("Договоры ДОГОВОРА ещё") == stems("договор еще")


def test_for_a_word_that_is_not_there_stands_another_ending_or_what_a_typo_hides() -> None:
    text = "Рейн славится замками. Замена не нужна."
    assert akin(stems("замки"), text) == {"замки": {"замка"}}
    assert akin(stems("Рен лев 15"), text) == {}
    assert akin(stems("реин замена"), text) == {"замен": {"замен"}}
    assert akin(stems("плта"), "Плата вносится в срок.") == {"плта": {"плата"}}


def test_numbers_count_and_little_words_do_not() -> None:
    assert stems("до 5 и 0,1 %") == {"5", "0,1"}


@given(st.text("абвё12.,- я", max_size=60) | st.text(max_size=60), st.data())
def test_what_is_held_is_what_the_words_taken_apart_would_say(text: str, data: st.DataObject) -> None:
    own = data.draw(st.sets(st.sampled_from(sorted(stems(text) | {"слово"}))))
    wanted = own | stems(data.draw(st.text("абвё12.,- я", max_size=40)))

    assert held(wanted, text) == wanted & stems(text)


def test_a_line_break_ends_a_sentence() -> None:
    text = "- один\n- два. Три"

    assert [text[span.start : span.end] for span in sentences(text)] == ["- один", "- два.", "Три"]


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


@given(st.lists(st.text("абвё12.,- я", max_size=40), max_size=4), st.text("абвё12.,- я", max_size=40))
def test_what_is_covered_is_what_all_texts_hold_together(texts: list[str], asked: str) -> None:
    wanted = stems(asked)

    assert covered(wanted, texts) == share(wanted, wanted & frozenset().union(*map(stems, texts)))


@given(st.text('аБ .?!…;»)(:=-"\t,*1', max_size=20))
def test_a_line_without_a_possible_end_is_what_razdel_would_say(line: str) -> None:
    found = [(span.start, span.end) for span in sentences(line)]

    assert found == [(piece.start, piece.stop) for piece in sentenize(line) if piece.text]
