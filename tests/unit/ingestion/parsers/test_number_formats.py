"""How numbers are shown: by the format of their cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.parsers.number_formats import NumberFormat, plain_number, read_format, show_number

SHOWN = [
    ("General", 12.0, "12"),
    ("General", 0.1 + 0.2, "0.3"),
    ("General", 1234567.891, "1234567.891"),
    ("0%", 0.15, "15%"),
    ("0.0%", 0.155, "15.5%"),
    ("#,##0.00", 1200.5, "1200.50"),
    ('#,##0.00"₽"', 1200, "1200.00 ₽"),
    ("[$$-409]#,##0.00", 9.5, "$ 9.50"),
    ('#,##0\\ "руб.";[Red]-#,##0\\ "руб."', 1200, "1200 руб."),
    ("_-* #,##0.00_-;-* #,##0.00_-", 5, "5.00"),
    ("dd/mm/yyyy", 46143, "2026-05-01"),
    ("[$-419]d mmmm yyyy;@", 46143, "2026-05-01"),
    ("yyyy-mm-dd h:mm", 46143.4375, "2026-05-01 10:30"),
    ("h:mm", 0.4375, "10:30"),
    ("mm:ss", 0.5 / 24, "00:30"),
    ("[h]:mm", 1.25, "30:00:00"),
    ("0000", 7, "7"),
    ("@", 7, "7"),
    ('"нет"', 7, "7"),
]


@pytest.mark.parametrize(("code", "value", "shown"), SHOWN)
def test_a_number_is_shown_by_its_format(code: str, value: float, shown: str) -> None:
    assert show_number(value, read_format(code)) == shown


def test_days_count_from_1904_where_the_book_says_so() -> None:
    assert show_number(46143 - 1462, read_format("yyyy-mm-dd"), epoch_1904=True) == "2026-05-01"


def test_a_day_that_never_was_stays_a_number() -> None:
    assert show_number(-5, read_format("yyyy-mm-dd")) == "-5"
    assert show_number(1e9, read_format("yyyy-mm-dd")) == "1000000000"


@pytest.mark.parametrize(
    ("value", "shown"), [(1e20, "1e+20"), (1e-7, "1e-07"), (0.0, "0"), (-0.0, "0"), (123456789012.0, "123456789012")]
)
def test_a_plain_number_is_readable(value: float, shown: str) -> None:
    assert plain_number(value) == shown


@given(st.text(max_size=60), st.floats(allow_nan=True, allow_infinity=True))
def test_no_format_and_no_number_breaks_it(code: str, value: float) -> None:
    assert show_number(value, read_format(code))


@given(st.integers(-(10**11), 10**11))
def test_whole_numbers_are_exact(value: int) -> None:
    assert show_number(value, NumberFormat()) == str(value)
