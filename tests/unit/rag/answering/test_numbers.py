"""Numbers, however they are written."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.numbers import known_numbers, numbers, spoken_numbers, told_amounts


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1 200,50 ₽", ["1200.5"]),
        ("1,200.50 USD", ["1200.5"]),
        ("0,1 %", ["0.1"]),
        ("120 000 и 14", ["120000", "14"]),
        ("1.200 штук", ["1.2", "1200"]),
        ("PG-15", ["15"]),
        ("до 10%", ["10"]),
    ],
)
def test_digits_are_read_as_people_write_them(text: str, values: list[str]) -> None:
    assert {Decimal(value) for value in values} == numbers(text)


def test_a_dotted_date_gives_its_parts() -> None:
    assert {Decimal(12), Decimal(5), Decimal(2024)} <= numbers("12.05.2024")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("двадцать пять дней", 25),
        ("в течение тридцати дней", 30),
        ("три тысячи", 3000),
        ("twenty-five", 25),
        ("сто двадцать тысяч триста пять рублей", 120_305),
        ("one hundred and twenty-five thousand dollars", 125_000),
        ("два с половиной миллиона", 2_500_000),
        ("вдвое больше", 2),
        ("половина суммы", 50),
    ],
)
def test_numbers_in_words_are_heard(text: str, value: int) -> None:
    assert Decimal(value) in spoken_numbers(text)


def test_plain_words_are_no_numbers() -> None:
    assert spoken_numbers("Договор аренды офиса") == frozenset()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Срок тридцать дней.", ["30", "720"]),
        ("Через пять рабочих дней", ["5", "120"]),
        ("Гарантия полтора года", ["1.5", "18", "547.5"]),
        ("Аренда девятьсот девяносто девять тысяч рублей", ["999000"]),
        ("Twenty percent off", ["20"]),
        ("two and a half million", ["2500000"]),
        ("двадцать, тридцать", ["20", "30"]),
        ("тысяча-две рублей", ["2"]),
        ("Полтора километра", ["1.5", "1500"]),
    ],
)
def test_amounts_in_words_are_told_with_what_they_may_be_turned_into(text: str, values: list[str]) -> None:
    told = {value for number in told_amounts(text) for reading in number.readings for value in reading}
    assert told == {Decimal(value) for value in values}


@pytest.mark.parametrize(
    "text",
    [
        "Один из вариантов, во-первых, с одной стороны, раз уж так.",
        "Two of them, at first, one by one, on second thoughts.",
        "Двадцать первого мая, двадцать первый век, три пятых, одна десятая процента.",
        "Тысячи людей и 250 тысяч рублей, есть тысяча причин.",
        "Построен в тысяча семьсот третьем году, в двадцать пятой главе.",
        "На сто процентов, в двух словах, три документа.",
    ],
)
def test_what_says_no_amount_is_none(text: str) -> None:
    assert list(told_amounts(text)) == []


@given(st.integers(min_value=11, max_value=999_999))
def test_a_number_in_words_is_known_by_its_digits(value: int) -> None:
    (told,) = told_amounts(f"Всего {spelled(value)}.")
    assert told.is_among(known_numbers(f"Всего {value}."))
    assert Decimal(value) in known_numbers(f"Всего {spelled(value)}.")


TENS = ("двадцать", "тридцать", "сорок", "пятьдесят", "шестьдесят", "семьдесят", "восемьдесят", "девяносто")
HUNDREDS = ("сто", "двести", "триста", "четыреста", "пятьсот", "шестьсот", "семьсот", "восемьсот", "девятьсот")
SMALL = (
    *("один", "два", "три", "четыре", "пять", "шесть", "семь", "восемь", "девять", "десять", "одиннадцать"),
    *("двенадцать", "тринадцать", "четырнадцать", "пятнадцать", "шестнадцать", "семнадцать", "восемнадцать"),
    "девятнадцать",
)


def spelled(value: int) -> str:
    if value >= 1000:
        return f"{spelled(value // 1000)} тысяч {spelled(value % 1000)}".strip()
    hundreds, rest = divmod(value, 100)
    words = [HUNDREDS[hundreds - 1]] if hundreds else []
    if rest >= 20:
        words.append(TENS[rest // 10 - 2])
        rest %= 10
    return " ".join([*words, *([SMALL[rest - 1]] if rest else [])])
