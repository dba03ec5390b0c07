"""Passages that say nothing new."""

from rag.records import Passage
from rag.retrieval.ranking import collapse
from tests.fakes.rag import make_passage, rank

TEXT = "Арендатор платит до пятого числа каждого месяца. Штраф составляет 0,1 % за каждый день просрочки."


def kept(*passages: Passage) -> list[int]:
    return [int(ranked.passage.chunk_id) for ranked in collapse(rank(*passages))]


def test_the_same_text_in_two_documents_is_kept_once() -> None:
    assert kept(make_passage(TEXT, number=1), make_passage(TEXT.upper(), number=2, document="other")) == [1]


def test_a_passage_inside_its_better_neighbour_is_left_out() -> None:
    assert kept(make_passage(f"Оплата. {TEXT}", number=1), make_passage(TEXT, number=2)) == [1]


def test_the_better_one_stays_even_when_it_is_the_shorter() -> None:
    assert kept(make_passage(TEXT, number=1), make_passage(f"{TEXT} Договор действует год.", number=2)) == [1, 2]


def test_another_number_is_something_new() -> None:
    assert kept(make_passage(TEXT, number=1), make_passage(TEXT.replace("0,1", "0,5"), number=2)) == [1, 2]


def test_a_negation_is_something_new() -> None:
    assert kept(make_passage(TEXT, number=1), make_passage(TEXT.replace("платит", "не платит"), number=2)) == [1, 2]


def test_the_same_words_in_another_order_are_something_new() -> None:
    assert kept(
        make_passage("Иван должен Петру сто рублей", number=1), make_passage("Петру Иван сто рублей должен", number=2)
    ) == [1, 2]
