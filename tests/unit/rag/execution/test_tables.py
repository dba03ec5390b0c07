"""Counting, adding up, sorting."""

from decimal import Decimal
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.execution.tables import (
    Aggregate,
    Operator,
    Order,
    Rows,
    aggregate_column,
    group,
    meets,
    select,
    shown,
    sort,
)
from rag.records import TableRow
from tests.fakes.rag import make_passage


def rows(*cells: str) -> list[TableRow]:
    return [TableRow(cells=(cell,), sources=(make_passage("текст"),)) for cell in cells]


def totals(aggregate: Aggregate, *cells: str) -> list[str]:
    return [shown.replace("\u00a0", " ") for shown, _ in aggregate_column(rows(*cells), 0, aggregate, language="ru")[0]]


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ("sum", "1 500 350,50 ₽"),
        ("min", "100,50 ₽"),
        ("max", "1 500 000 ₽"),
        ("avg", "500 116,83 ₽"),
    ],
)
def test_numbers_are_reckoned_whatever_their_spelling(aggregate: Aggregate, expected: str) -> None:
    assert totals(aggregate, "100,50 ₽", "1,5 млн руб.", "250 рублей") == [expected]


def test_different_units_stay_apart() -> None:
    assert totals("sum", "100 ₽", "$5", "200 ₽") == ["300 ₽", "5 $"]


def test_numbers_without_a_unit_go_with_the_only_one_there_is() -> None:
    assert totals("sum", "100 ₽", "50") == ["150 ₽"]


def test_cells_without_a_number_are_counted() -> None:
    assert aggregate_column(rows("100 ₽", "", "по счёту"), 0, "sum", language="ru")[1] == 2


def test_the_first_of_dates_is_a_date() -> None:
    assert totals("min", "12.03.2025", "1 мая 2024", "2024-06-01") == ["1 мая 2024"]
    assert totals("sum", "12.03.2025", "1 мая 2024") == []


def test_english_numbers_are_shown_the_english_way() -> None:
    assert shown(Decimal("1234567.5"), "$", language="en") == "1,234,567.50\u00a0$"


def cells(found: Rows) -> list[str]:
    return [row.cells[0] for row in found]


def test_rows_are_sorted_by_what_their_cells_mean() -> None:
    assert cells(sort(rows("90 ₽", "1 000 ₽", "", "200 ₽"), 0, "desc")) == ["1 000 ₽", "200 ₽", "90 ₽", ""]
    assert cells(sort(rows("2 мая 2025", "01.03.2026", "12.12.2024"), 0, "asc")) == [
        "12.12.2024", "2 мая 2025", "01.03.2026",
    ]  # fmt: skip
    assert cells(sort(rows("бук", "Анис", "вяз"), 0, "asc")) == ["Анис", "бук", "вяз"]


@given(st.lists(st.sampled_from(("А", "а.", "Б", "", "В")), max_size=12))
def test_groups_hold_every_row_once_the_largest_first(names: list[str]) -> None:
    sizes = [len(each) for each in group(rows(*names), 0).values()]
    assert sum(sizes) == len(names)
    assert sizes == sorted(sizes, reverse=True)


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20))
def test_a_sum_is_the_sum(numbers: list[int]) -> None:
    written = [f"{number:,}".replace(",", " ") + " ₽" for number in numbers]
    assert aggregate_column(rows(*written), 0, "sum", language="ru")[0][0][0] == shown(
        Decimal(sum(numbers)), "₽", language="ru"
    )


@given(st.lists(st.text(max_size=12), max_size=8), st.sampled_from(get_args(Order)))
def test_sorting_loses_no_row(names: list[str], order: Order) -> None:
    assert sorted(cells(sort(rows(*names), 0, order))) == sorted(names)


@pytest.mark.parametrize(
    ("cell", "op", "value", "verdict"),
    [
        ("31 декабря 2025 г.", "<=", "2025-12-31", True),
        ("31.12.2025", "<", "2025-12-31", False),
        ("01.01.2026", ">", "2025", True),
        ("31.12.2025", ">", "2025", False),
        ("31.12.2025", ">=", "2025", True),
        ("15 апреля 2025", "=", "2025-04", True),
        ("15 апреля 2025", "=", "2025", True),
        ("15 апреля 2025", "!=", "2025", False),
        ("бессрочно", "<=", "2025-12-31", None),
        ("12 месяцев", "<=", "2025-12-31", None),
        ("", "=", "да", None),
        ("540 000 рублей", ">", "500 000", True),
        ("1,2 млн руб.", ">", "1 000 000 ₽", True),
        ("12 000 долларов США", ">", "500 000 рублей", None),  # another unit
        ("500 000,00 руб.", "=", "500000 ₽", True),
        ("ООО «Ромашка»", "=", "Ромашка", True),
        ("ООО «Ромашка»", "!=", "АО «Вектор»", True),
        ("ПАО «Гранит»", "=", "АО «Вектор»", False),
        ("да", "=", "да", True),
        ("нет", "=", "да", False),
        ("Ремонт офиса и склада", "contains", "офис", True),
        ("Ремонт офиса и склада", "contains", "сайт", False),
    ],
)
def test_a_condition_is_met_failed_or_cannot_be_judged(
    cell: str, op: Operator, value: str, verdict: bool | None
) -> None:
    assert meets(cell, op, value) is verdict


def test_rows_of_which_nobody_can_tell_are_neither_in_nor_out() -> None:
    chosen, undecided = select(rows("200 ₽", "50 ₽", "", "12 $"), [(0, ">", "100 ₽")])
    assert (cells(chosen), cells(undecided)) == (["200 ₽"], ["", "12 $"])


def test_dates_are_grouped_by_period_in_their_order() -> None:
    made = group(rows("01.06.2025", "31 мая 2024 г.", "бессрочно", "2024-02-03"), 0, "year")
    assert [(name, len(own)) for name, own in made.items()] == [("2024", 2), ("2025", 1), ("", 1)]
    quarters = group(rows("01.06.2025", "2025-04-03"), 0, "quarter")
    assert list(quarters) == ["2025 Q2"]
