"""Numbers, however they are written."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.numbers import known_numbers, numbers, spoken_numbers


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
        ("вдвое больше", 2),
        ("половина суммы", 50),
    ],
)
def test_numbers_in_words_are_heard(text: str, value: int) -> None:
    assert Decimal(value) in spoken_numbers(text)


def test_plain_words_are_no_numbers() -> None:
    assert spoken_numbers("Договор аренды офиса") == frozenset()


@given(st.integers(min_value=11, max_value=999_999))
def test_a_number_in_words_is_known_by_its_digits(value: int) -> None:
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
