"""What cells mean."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.values import Amount, amount, day, same


@pytest.mark.parametrize(
    ("cell", "value", "unit"),
    [
        ("1 200,50 ₽", "1200.50", "₽"),
        ("120\u00a0000 руб.", "120000", "₽"),
        ("120 000 (сто двадцать тысяч) рублей 00 копеек", "120000", "₽"),
        ("1,5 млн руб.", "1500000", "₽"),
        ("250 тыс. рублей", "250000", "₽"),
        ("$1,200.50", "1200.50", "$"),
        ("USD 3,000", "3000", "$"),
        ("1.200 руб.", "1200", "₽"),
        ("1,200 кг", "1.200", "кг"),
        ("0,1 %", "0.1", "%"),
        ("14 дней", "14", "дн."),
        ("1 день", "1", "дн."),
        ("−5", "-5", ""),
        ("42", "42", ""),
    ],
)
def test_a_cell_is_read_as_a_number_with_its_unit(cell: str, value: str, unit: str) -> None:
    assert amount(cell) == Amount(value=Decimal(value), unit=unit)


@pytest.mark.parametrize(
    "cell", ["", "ООО «Ромашка»", "12.03.2024", "12 марта 2024", "10–20 дней", "от 10 до 20", "№A12"]
)
def test_what_is_no_single_number_is_not_read_as_one(cell: str) -> None:
    assert amount(cell) is None


@pytest.mark.parametrize(
    "cell",
    [
        "12 марта 2024",
        "12.03.2024",
        "2024-03-12",
        "12/03/2024",
        "March 12, 2024",
        "12 March 2024",
        "«12» марта 2024 г.",
    ],
)
def test_a_date_is_read_in_every_spelling(cell: str) -> None:
    assert day(cell) == date(2024, 3, 12)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("1 мая 2025", date(2025, 5, 1)), ("март 2024", date(2024, 3, 1)), ("1.2.24", date(2024, 2, 1))],
)
def test_short_dates_are_read_too(cell: str, expected: date) -> None:
    assert day(cell) == expected


@pytest.mark.parametrize("cell", ["31.02.2024", "Приказ 2024", "14 дней", ""])
def test_what_is_no_date_is_not_read_as_one(cell: str) -> None:
    assert day(cell) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("120 000 ₽", "120000 рублей"),
        ("12.03.2024", "12 марта 2024 г."),
        ("ООО «Ромашка»", "ООО Ромашка, Москва"),
        ("30 дней", "30"),
        ("ООО «Дельта-Софт»", "Delta-Soft LLC"),  # nobody can tell
    ],
)
def test_cells_that_say_the_same(one: str, other: str) -> None:
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("120 000 ₽", "150 000 ₽"),
        ("12.03.2024", "13.03.2024"),
        ("30 дней", "30 %"),
        ("12/2024", "12/2025"),
        ("ИП А", "ИП Б"),
    ],
)
def test_cells_that_differ(one: str, other: str) -> None:
    assert not same(one, other)


@given(st.integers(0, 10**12), st.sampled_from([" ", "\u00a0", "\u202f"]))
def test_grouped_digits_are_one_number(number: int, gap: str) -> None:
    assert amount(f"{number:,} ₽".replace(",", gap)) == Amount(value=Decimal(number), unit="₽")


@given(st.text(max_size=40))
def test_no_cell_is_an_error(cell: str) -> None:
    amount(cell), day(cell), same(cell, "1")
