"""Numbers of one thing that an answer gives another."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.postcheck import Evidence, remarks_on

TOWNS = "Москва — 120 сотрудников, Казань — 80."
PAYS = "- Оклад: 90 000 руб.\n- Премия: 15 000 руб.\n- Компенсация связи: 1 000 руб."
TABLE = "| Город | Площадь |\n|---|---|\n| Уфа | 707 |\n| Пермь | 799 |"
TERMS = "Отпуск 28 дней, испытательный срок 3 месяца."
GUARANTEE = "Гарантия на двигатель 36 месяцев, на кузов 60 месяцев."
SHIFTS = "Смена: дневная 12 часов, ночная 8 часов. Перерыв: днём 60 минут, ночью 30 минут."


def remarks(answer: str, *facts: str, question: str = "?") -> list[str]:
    told = tuple(f"Document: x (file)\nPage: 80\nText:\n{fact}" for fact in facts)
    found = remarks_on(answer, Evidence(question=question, facts=told), from_base=True)
    return [remark for remark in found if "of other things" in remark]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (TOWNS, "Москва — 80, Казань — 120."),
        (TOWNS, "В Казани 120 человек, в Москве 80."),
        (TOWNS, "| Город | Люди |\n|---|---|\n| Москва | 80 |\n| Казань | 120 |"),
        (TOWNS, "В Казани 120."),
        (TERMS, "Отпуск — 3 месяца, испытательный срок — 28 дней."),
        (TERMS, "- Отпуск: 3 месяца\n- Испытательный срок: 28 дней"),
        (PAYS, "Премия 90 000 руб., оклад 15 000 руб."),
        (PAYS, "Оклад — 15 000 руб. Премия — 90 000 руб."),
        (PAYS, "Премия составляет 1000 руб."),
        (TABLE, "Площадь Уфы 799, Перми — 707."),
        (GUARANTEE, "На кузов 36 месяцев."),
        (
            "В 2022 году выручка 40 млн руб., в 2023 году — 55 млн руб.",
            "В 2023 году — 40 млн руб., в 2022 — 55 млн руб.",
        ),
        ("Первый платёж 20 000 руб. до 1 марта, второй 35 000 руб. до 1 июня.", "До 1 июня — 20 000 руб."),
        ("The Basic plan costs $10, the Pro plan costs $25.", "Pro is $10, Basic is $25."),
        (
            "The engine is under warranty for 36 months. Seats are replaced free of charge within 60 days.",
            "Seats are replaced within 36 days; the engine is under warranty for 60 months.",
        ),
    ],
)
def test_the_number_of_another_thing_is_told(said: str, answer: str) -> None:
    assert remarks(answer, said) != []
    assert remarks(answer, said, "Аренда на 5 лет.") != []
    assert remarks(answer, "Аренда на 5 лет.", said) != []


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (TOWNS, "В Казани 80 человек, в Москве 120."),
        (TOWNS, "В Москве и Казани 120 и 80 сотрудников соответственно."),
        (TOWNS, "Больше всего в Москве: 120 против 80 в Казани."),
        (TOWNS, "120 + 80 = 200 сотрудников, из них 80 в Казани."),
        (TOWNS, "Вне Казани работает 120 сотрудников."),
        (TOWNS, "Больше Казани: 120."),
        (TOWNS, "Не в Казани — 120."),
        (TOWNS, "120 сотрудников, в Казани меньше."),
        (TOWNS, "В первой 120, во второй 80."),
        (PAYS, "К окладу 90 000 руб. добавляется премия 15 000 руб."),
        (GUARANTEE, "Гарантия кузова дольше: 60 месяцев, у двигателя она 36 месяцев."),
        (SHIFTS, "Дневная — 12 часов, перерыв 60 минут. Ночная — 8 часов, перерыв 30 минут."),
        (TABLE, "Площадь Перми (799) больше площади Уфы (707)."),
        (TABLE, "Пермь занимает 799, Уфа — 707."),
        ("Repairs take at most 15 days. The warranty is void if the bike carries 120 kg.", "At most 120 kg."),
        ("## Казань\nШтат 80, офис 400.\n## Москва\nШтат 120, офис 700.", "Москва: штат 120. Казань: штат 80."),
        ("За 1-й месяц 10 000 руб., за 2-й 12 000 руб.", "1. 12 000 руб. за 2-й\n2. 10 000 руб. за 1-й"),
        ("Пеня за просрочку 0,1 % в день, максимум 10 % от суммы.", "Максимальная пеня за просрочку — 10 %."),
        ("Аренда зала 5 000 рублей в час, залог 10 000 рублей.", "При аренде зала оставляют 10 000 рублей."),
        ("Отпуск 28 дней, сотрудникам Севера ещё 16 дней.", "Дополнительный отпуск — 16 дней."),
        ("The Pro plan costs $25, includes 5 seats, and adds 100 GB.", "With the Pro plan you get 100 GB."),
        ("Договоры: 7, акты: 3.", "Договоры:\n\n- Аренда\n- Поставка\n- Подряд\n\nДоговоров: 3."),
    ],
)
def test_a_number_that_stands_beside_a_word_of_its_clause_passes(said: str, answer: str) -> None:
    assert remarks(answer, said) == []


def test_another_material_or_the_question_may_bear_it_out() -> None:
    assert remarks("В Казани 120.", TOWNS, "В Казани всего 120 мест.") == []
    assert remarks("В Казани 120.", TOWNS, question="В Казани 120?") == []


def test_what_stands_above_a_number_bears_it_out() -> None:
    other = "Document: y (file)\nSection: Казань\nText:\nШтат 120 человек."
    evidence = Evidence(question="?", facts=(f"Document: x (file)\nText:\n{TOWNS}", other))
    assert remarks_on("В Казани 120.", evidence, from_base=True) == ()
    assert remarks("В Казани 120.", TOWNS, "## Казань\n\nШтат 120 человек.") == []
    assert remarks("В Казани 120.", TOWNS, "О Казани. Там большой штат. Всего 120 человек.") == []
    assert remarks("В Казани 120.", "## Казань\n\nШтат 120, офис в Казани 80.") == []


_THING = st.sampled_from(("Москва", "Казань", "Уфа", "оклад", "премия", "первый этап", "the engine", "body paint"))
_CLAUSE = st.builds("{} {} {}".format, _THING, st.integers(0, 30), st.sampled_from(("дней", "руб.", "%", "", "шт.")))
_SENTENCE = st.builds(
    lambda clauses, between: between.join(clauses),
    st.lists(_CLAUSE, min_size=1, max_size=4),
    st.sampled_from((", ", " и ", "; ", "\n- ", " а ")),
)
_PASSAGE = st.lists(_SENTENCE, min_size=1, max_size=4).map(".\n".join)


@given(st.lists(_PASSAGE, min_size=1, max_size=3), st.data())
def test_a_sentence_of_the_materials_is_never_told(passages: list[str], data: st.DataObject) -> None:
    sentence = data.draw(st.sampled_from([line for passage in passages for line in passage.splitlines()]))
    assert remarks(sentence, *passages) == []


@given(st.lists(_PASSAGE, min_size=1, max_size=4), _SENTENCE, st.randoms(use_true_random=False))
def test_the_order_of_passages_does_not_matter(passages: list[str], answer: str, chance: random.Random) -> None:
    shuffled = list(passages)
    chance.shuffle(shuffled)
    assert remarks(answer, *passages) == remarks(answer, *shuffled)


@pytest.mark.parametrize("piece", ["Москва 120, ", "Казань 80. ", "1 ", "1 мая ", "а 1 а ", "- Уфа 7\n"])
def test_numbers_without_end_take_linear_time(piece: str) -> None:
    start = time.process_time()
    remarks("Москва 80, Казань 120. " * 50, piece * 5_000)
    remarks(piece * 500, "Москва 120, Казань 80. " * 50)
    assert time.process_time() - start < 5
