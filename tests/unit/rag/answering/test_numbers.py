"""Numbers, however they are written."""

from decimal import Decimal

import pytest

from rag.answering.numbers import numbers, spoken_numbers


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
    [("двадцать пять дней", 25), ("в течение тридцати дней", 30), ("три тысячи", 3000), ("twenty-five", 25)],
)
def test_numbers_in_words_are_heard(text: str, value: int) -> None:
    assert Decimal(value) in spoken_numbers(text)


def test_plain_words_are_no_numbers() -> None:
    assert spoken_numbers("Договор аренды офиса") == frozenset()
