"""True answers that tell the numbers of a material in other words."""

from decimal import Decimal

import pytest

from rag.answering.postcheck import Evidence, remarks_on
from rag.answering.retold import in_parts, retold


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Срок 2 дня.", "Ответят за сорок восемь часов."),
        ("Срок 2 дня.", "Ответят за 48 часов."),
        ("Срок 48ч.", "Ответят за двое суток."),
        ("Встреча 1 ч 30 мин.", "Встреча идёт полтора часа, то есть девяносто минут."),
        ("Гарантия 36 месяцев.", "Гарантия 3 года."),
        ("Гарантия тридцать шесть месяцев.", "Гарантия 3 года."),
        ("Отпуск 28 календарных дней.", "Отпуск — 4 недели."),
        ("Хранить 18 мес.", "Хранить 1,5 года."),
        ("Заряжать раз в 6 недель.", "Заряжать раз в полтора месяца."),
        ("At most 15 business days.", "Up to three working weeks."),
        ("Warranty: 2 years.", "It lasts twenty-four months."),
        ("A 2-year warranty.", "It lasts twenty-four months."),
        ("Ответят в течение месяца.", "Ответят за тридцать дней."),
        ("Срок полгода.", "Срок шесть месяцев."),
        ("Поддержка круглосуточная.", "Отвечают двадцать четыре часа в сутки."),
        ("Расстояние 2 км.", "Две тысячи метров."),
        ("Сумма 125 430,50 руб.", "Сто двадцать пять тысяч четыреста тридцать рублей пятьдесят копеек."),
        ("Price: $12.75", "Twelve dollars and seventy-five cents."),
        ("Начало в 20:00.", "Начало в восемь часов вечера."),
        ("Доля 1/3.", "Доля тридцать три процента."),
        ("Доля 0,25.", "Доля двадцать пять процентов."),
        ("Глава XIV.", "Это глава 14."),
        ("In 1984.", "It was in nineteen eighty-four."),
        ("Сорокапятилетний директор.", "Директору сорок пять лет."),
    ],
)
def test_a_number_told_in_other_words_is_none_of_the_answers_own(said: str, answer: str) -> None:
    assert remarks_on(answer, Evidence(question="?", facts=(said,)), from_base=True) == ()


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Срок 2 дня.", "Ответят за сорок шесть часов."),
        ("Сумма 125 430,50 руб.", "Сто двадцать шесть тысяч рублей."),
        ("Гарантия 35 месяцев.", "Гарантия 3 года."),
        ("Цена 36 рублей.", "Гарантия 3 года."),
        ("Штраф с 2026 года.", "Штраф двадцать процентов."),
        ("Отпуск в мае этого года.", "Отпуск тридцать дней."),
        ("Сумма 125,50 руб.", "Сумма 50 руб."),
    ],
)
def test_what_nothing_of_the_material_can_be_told_as_is_still_strange(said: str, answer: str) -> None:
    (remark,) = remarks_on(answer, Evidence(question="?", facts=(said,)), from_base=True)
    assert remark.startswith("These numbers stand in no material")


def test_plain_words_can_be_told_as_no_number() -> None:
    assert retold("Договор аренды офиса") == in_parts("Договор аренды офиса") == frozenset()


def test_roman_numerals_are_read() -> None:
    assert {Decimal(14), Decimal(90), Decimal(5)} <= retold("Глава XIV, раздел V, псалом XC")


def test_a_number_of_any_length_is_read() -> None:
    assert retold("1" * 50 + " месяцев")
