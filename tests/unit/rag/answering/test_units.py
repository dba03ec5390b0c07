"""Amounts with their units."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.units import (
    by_unit,
    days,
    is_told_by,
    measured,
    neighbours_together,
    values_with_units,
    without_amounts,
)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("30 дней", "30", "d"),
        ("30-дневный", "30", "d"),
        ("30 (тридцать) рабочих дней", "30", "d"),
        ("тридцать календарных дней", "30", "d"),
        ("0,1 %", "0.1", "%"),
        ("250 тыс. руб.", "250000", "rub"),
        ("$1.2m", "1200000", "usd"),
        ("usd 100", "100", "usd"),
        ("2-year", "2", "year"),
        ("полгода", "0.5", "year"),
        ("полтора часа", "1.5", "h"),
        ("10 гбит/с", "10", "Gbit"),
    ],
)
def test_an_amount_has_its_value_and_unit(text: str, value: str, unit: str) -> None:
    assert values_with_units(measured(text)) >= {(Decimal(value).normalize(), unit)}


@pytest.mark.parametrize(
    "text", ["30 г", "5 м", "3 л", "2 т", "100 р.", "50 м²", "50 кв. м", "2024 года", "ст. 12 ч. 3", "01.02.2025 года"]
)
def test_what_may_be_several_things_has_no_unit(text: str) -> None:
    assert measured(text) == []


def test_a_range_has_the_unit_of_its_end() -> None:
    assert [(amount.shown, *amount.units) for amount in measured("10-15 дней")] == [
        ("10-15 дней", "d"),
        ("15 дней", "d"),
    ]


@pytest.mark.parametrize("date", ["12.05.2024", "2024-05-12"])
def test_a_date_is_of_days_months_and_years(date: str) -> None:
    parts = {(Decimal(12), "d"), (Decimal(5), "month"), (Decimal(2024).normalize(), "year")}
    assert values_with_units(list(days(date))) == parts


def test_neighbours_of_different_size_come_to_a_sum() -> None:
    text = "1 ч 30 мин"
    assert neighbours_together(measured(text), text) == {(Decimal(90), "min")}


@pytest.mark.parametrize(
    ("told", "said"), [("2 недели", "14 дней"), ("24 часа", "1 день"), ("полгода", "6 месяцев"), ("1 тб", "1024 гб")]
)
def test_an_amount_is_told_in_another_unit_both_ways(told: str, said: str) -> None:
    (one,), (other,) = measured(told), measured(said)
    assert is_told_by(one, by_unit(values_with_units([other])))
    assert is_told_by(other, by_unit(values_with_units([one])))


@pytest.mark.parametrize(("told", "said"), [("30 лет", "30 дней"), ("2 недели", "16 дней"), ("5 евро", "5 рублей")])
def test_another_amount_is_not(told: str, said: str) -> None:
    (one,), (other,) = measured(told), measured(said)
    assert not is_told_by(one, by_unit(values_with_units([other])))


def test_a_text_without_its_amounts_keeps_the_rest() -> None:
    text = "срок 30 дней, пункт 5"
    assert without_amounts(measured(text), text).split() == ["срок", "|", ",", "пункт", "5"]


@given(st.text(max_size=200))
def test_no_text_breaks_the_reading(text: str) -> None:
    plain = text.casefold()
    found = measured(plain)
    assert all(amount.shown in plain and 0 <= amount.start < amount.end <= len(plain) for amount in found)


def test_a_range_rises() -> None:
    falling, rising = measured("- 150 000 — 5 %"), measured("от 5 — 10 %")
    assert [each.shown for each in falling] == ["5 %"]
    assert len(rising) == 2
