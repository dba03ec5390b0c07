"""An answer that tells one side of a disagreement is sent back."""

import pytest

from rag.answering.disagreement import unspoken
from rag.records import Claim, Conflict
from tests.fakes.rag import make_passage, rank

PLACES = rank(make_passage("30 дней", title="Письмо.eml"), make_passage("14 дней", number=2, title="Договор.pdf"))
CLAIMS = tuple(Claim(value=each.passage.text, passage=each, dated=None) for each in PLACES)
CONFLICT = Conflict(about="срок оплаты", claims=CLAIMS)


@pytest.mark.parametrize("answer", ["Срок 14 дней.", "Платить надо за **30 дней**."])
def test_one_side_alone_is_remarked_on_with_both_documents(answer: str) -> None:
    (remark,) = unspoken(answer, [CONFLICT])
    assert "Письмо.eml: 30 дней; Договор.pdf: 14 дней" in remark


def sentences(*said: str) -> Conflict:
    places = rank(*(make_passage(each, number=number, title=f"{number}.txt") for number, each in enumerate(said)))
    return Conflict(
        about="x", claims=tuple(Claim(value=each.passage.text, passage=each, dated=None) for each in places)
    )


PRICES = sentences("С 1 марта 2025 года абонемент стоит 180 рублей.", "Цена абонемента — 150 рублей в месяц.")
HEADS = sentences("Магазином на Лесной заведует Ольга Ким.", "Заведующий магазином на Лесной — Пётр Волков.")


@pytest.mark.parametrize(
    ("answer", "conflict"),
    [
        ("По новому прайсу абонемент стоит 180 ₽, раньше просили 150 ₽.", PRICES),
        ("Один документ называет Ольгу Ким, другой — Петра Волкова.", HEADS),
        ("Про скидки ничего не сказано.", PRICES),
    ],
)
def test_sides_that_are_sentences_may_be_reworded(answer: str, conflict: Conflict) -> None:
    assert unspoken(answer, [conflict]) == ()


@pytest.mark.parametrize(
    ("answer", "conflict"), [("Абонемент стоит 150 ₽.", PRICES), ("Магазином заведует Ольга Ким.", HEADS)]
)
def test_one_of_two_sentences_alone_is_remarked_on(answer: str, conflict: Conflict) -> None:
    assert len(unspoken(answer, [conflict])) == 1


@pytest.mark.parametrize("answer", ["В письме 30 дней, в договоре 14 дней.", "Штраф 10 %.", "Срок 140 дней."])
def test_both_sides_or_another_matter_are_fine(answer: str) -> None:
    assert unspoken(answer, [CONFLICT]) == ()
