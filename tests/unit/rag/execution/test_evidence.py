"""Tying statements to the passages that they stand in."""

import pytest

from rag.execution.evidence import stands_in, tie
from tests.fakes.rag import make_passage

RENT = make_passage("Арендная плата составляет 120 000 ₽ в месяц и вносится до 5-го числа.", number=1)
FINE = make_passage("За просрочку начисляется пеня 0,1 % за каждый день просрочки.", number=2)
ENGLISH = make_passage("The borrow checker rejects two mutable references at the same time.", number=3)
PASSAGES = [RENT, FINE, ENGLISH]


@pytest.mark.parametrize(
    ("statement", "reason", "chunk"),
    [
        ("Аренда по договору стоит 120 000 ₽ в месяц", "", 1),  # words and the number
        ("Аренда по договору стоит 120 тыс. ₽ в месяц", "", 1),  # the number in another spelling
        ("Пеня 0.1% за день просрочки", "", 2),
        ("Опоздавший с оплатой платит неустойку", "c2: «начисляется пеня 0,1 % за каждый день»", 2),  # quoted
        ("Две изменяемые ссылки сразу недопустимы", "c3", 3),  # another alphabet: the chunk's name has to do
    ],
)
def test_a_statement_is_tied_to_the_passage_that_says_it(statement: str, reason: str, chunk: int) -> None:
    source = tie(statement, reason, PASSAGES)
    assert source is not None
    assert source.chunk_id == chunk


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("Арендная плата составляет 150 000 ₽ в месяц", "c1"),  # a number that stands nowhere
        ("Кошки любят молоко", "c1"),  # named, but none of its words
        ("Кошки любят молоко", "c1: «кошки очень любят молоко»"),  # a quotation that stands nowhere
        ("Две изменяемые ссылки сразу недопустимы", ""),  # another alphabet, and nothing that names the place
    ],
)
def test_what_stands_in_no_passage_is_not_tied(statement: str, reason: str) -> None:
    assert tie(statement, reason, PASSAGES) is None


def test_numbers_of_the_question_need_not_stand_in_the_text() -> None:
    said = "В 2027 году арендная плата составляет 120 000 ₽ в месяц"
    assert tie(said, "", PASSAGES) is None
    assert tie(said, "", PASSAGES, asked="Сколько стоит аренда в 2027 году?") is not None


def test_a_quotation_stands_in_a_text_whatever_its_punctuation() -> None:
    assert stands_in("АРЕНДНАЯ плата — составляет", RENT.text)
    assert not stands_in("плата арендная", RENT.text)
    assert not stands_in("ренд", RENT.text)
    assert not stands_in("", RENT.text)
