"""Tables as files, read again by another library."""

from collections.abc import Sequence
from datetime import date
from io import BytesIO

import pytest
from python_calamine import load_workbook

from adapters.spreadsheet import MAX_CELL_CHARS, file_name, spreadsheet
from domain.documents import SourcedTable


def read(*rows: tuple[str, ...]) -> Sequence[Sequence[object]]:
    """The rows of the file, without its header."""
    table = SourcedTable(title="Договоры", columns=tuple("abcdefgh"[: len(rows[0])]), rows=rows)
    sheet = load_workbook(BytesIO(spreadsheet(table))).get_sheet_by_index(0)
    return sheet.to_python()[1:]


@pytest.mark.parametrize("cell", ["=1+1", "+7 900 000-00-00", "@SUM(A1)", "-cmd|' /C calc'!A0", "https://a.example"])
def test_what_looks_like_a_formula_stays_text(cell: str) -> None:
    assert read((cell,)) == [[cell]]


@pytest.mark.parametrize(("cell", "number"), [("1 200,50", 1200.5), ("17", 17), ("-3.5", -3.5), ("1\u00a0000", 1000)])
def test_numbers_can_be_counted_with(cell: str, number: float) -> None:
    assert read((cell,)) == [[number]]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("1 200 ₽", 1200),
        ("350 000,50 руб.", 350000.5),
        ("1,2 млн руб.", 1_200_000),
        ("1,5 млн", 1_500_000),
        ("12 000 долларов США", 12_000),
        ("$1,200.50", 1200.5),
        ("5 %", 0.05),
        ("30 дней", 30),
        ("60 000 рублей в год", 60_000),
        ("$90/month", 90),
        ("12.05.2024", date(2024, 5, 12)),
        ("12 мая 2024 г.", date(2024, 5, 12)),
    ],
)
def test_amounts_and_dates_can_be_counted_with(cell: str, value: float | date) -> None:
    assert read((cell,)) == [[value]]


@pytest.mark.parametrize(
    "cell",
    [
        "007",
        "40817810099910004312",
        "не более 10 дней",
        "10–12 дней",
        "5 яблок",
        "12/2024",
        "до 12.05.2024",
        "5 % в день, но не больше 10 %",
        "9 500 руб. за монтаж",
        "март 2024",
        "цена: 350 000 руб. (Договор.txt)",
    ],
)
def test_whatever_says_more_than_a_number_stays_as_written(cell: str) -> None:
    assert read((cell,)) == [[cell]]


def test_a_cell_that_is_too_long_is_cut() -> None:
    assert read(("я" * (MAX_CELL_CHARS + 1),)) == [["я" * MAX_CELL_CHARS]]


@pytest.mark.parametrize(
    ("title", "name"), [("Договоры: 2024/25", "Договоры 2024 25.xlsx"), ("../..", "table.xlsx"), ("", "table.xlsx")]
)
def test_the_file_is_named_after_its_title(title: str, name: str) -> None:
    assert file_name(SourcedTable(title=title, columns=(), rows=())) == name


@pytest.mark.parametrize("title", ["History", "a/b:c*d?", "", "я" * 80, "'Итоги'"])
def test_any_title_names_a_sheet(title: str) -> None:
    table = SourcedTable(title=title, columns=("a",), rows=(("x",),))
    assert load_workbook(BytesIO(spreadsheet(table))).get_sheet_by_index(0).to_python() == [["a"], ["x"]]
