"""A table as an XLSX file.

In: a `SourcedTable`. Out: the file's bytes. Every cell is text, also one that looks like a formula or a link: what
stands in a document is never run by the program that opens the file. Numbers are stored as numbers, so that people can
go on counting.
"""

import re
from io import BytesIO
from typing import Protocol

from domain.tables import SourcedTable

WIDEST = 60  # characters of a column; longer texts wrap
MOST_ROWS = 1_048_575  # of a sheet (Excel's own limit, less the header)
LONGEST_CELL = 32_767  # characters (Excel's own limit)

_NUMBER = re.compile(r"-?\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d{1,6})?|-?\d{1,12}(?:[.,]\d{1,6})?")
_CODE = re.compile(r"0\d")  # 007, 0123456: what begins with a zero is a code
_UNSAFE = re.compile(r"[^\w .,()-]+")
NAME_CHARACTERS = 60


def spreadsheet(table: SourcedTable) -> bytes:
    """One sheet with a header that stays in sight."""
    import xlsxwriter  # only a pressed button needs it

    file = BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(file, options) as book:
        sheet = book.add_worksheet()
        bold, wrapped = book.add_format({"bold": True}), book.add_format({"text_wrap": True, "valign": "top"})
        sheet.write_row(0, 0, table.columns, bold)
        sheet.freeze_panes(1, 0)
        for column in range(len(table.columns)):
            sheet.set_column(column, column, _width(table, column), wrapped)
        for place, cells in enumerate(table.rows[:MOST_ROWS], start=1):
            for column, cell in enumerate(cells):
                _write(sheet, place, column, cell)
    return file.getvalue()


def file_name(table: SourcedTable) -> str:
    """Of its title, with nothing that a file system minds."""
    plain = " ".join(_UNSAFE.sub(" ", table.title).split())[:NAME_CHARACTERS].strip(" .")
    return f"{plain or 'table'}.xlsx"


class _Sheet(Protocol):
    """What is used of a worksheet of XlsxWriter, which comes without types."""

    def write_string(self, row: int, column: int, text: str) -> int: ...
    def write_number(self, row: int, column: int, number: float) -> int: ...


def _write(sheet: _Sheet, row: int, column: int, cell: str) -> None:
    number = _number(cell)
    if number is None:
        sheet.write_string(row, column, cell[:LONGEST_CELL])
    else:
        sheet.write_number(row, column, number)


def _number(cell: str) -> float | None:
    text = cell.strip()
    if not _NUMBER.fullmatch(text) or _CODE.match(text.lstrip("-")):
        return None
    return float(re.sub(r"[ \u00a0\u202f]", "", text).replace(",", "."))


def _width(table: SourcedTable, column: int) -> int:
    longest = max((len(row[column]) for row in table.rows if column < len(row)), default=0)
    return min(max(longest, len(table.columns[column])) + 2, WIDEST)
