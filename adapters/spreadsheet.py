"""A table as a spreadsheet that people can open anywhere.

In: a `SourcedTable` (made of a `FactTable` by bot/replies/sourced_table.py). Out: the bytes of an XLSX file, and its
name. Cells are text, so that nothing in a document can become a formula or a link; plain numbers are numbers, so that
people can calculate with them.
"""

import re
from collections.abc import Sequence
from io import BytesIO
from typing import Protocol

from domain.tables import SourcedTable

MAX_CELL_CHARS = 32_767  # Excel's own limit
MAX_ROWS = 1_048_575  # of a sheet (Excel's own limit, less the header)
MAX_SHEET_NAME = 31
MAX_FILE_NAME = 60  # characters
NARROWEST, WIDEST = 10, 60  # of a column, in characters
MEASURED = 500  # rows whose cells decide the widths

_NUMBER = re.compile(r"-?\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d{1,6})?|-?\d{1,12}(?:[.,]\d{1,6})?")
_CODE = re.compile(r"-?0\d")  # 007, 0123456: what begins with a zero is a code
_GROUPING = re.compile(r"[ \u00a0\u202f]")
_NOT_IN_SHEET_NAMES = re.compile(r"[\[\]:*?/\\']")
_NOT_IN_FILE_NAMES = re.compile(r"[^\w .,()-]+")


def spreadsheet(table: SourcedTable) -> bytes:
    """One sheet with a header that stays in sight."""
    import xlsxwriter  # rarely needed: one question in many makes a table

    rows = table.rows[:MAX_ROWS]
    file = BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True, "constant_memory": True}) as book:
        bold, wrapped = book.add_format({"bold": True}), book.add_format({"text_wrap": True, "valign": "top"})
        sheet = book.add_worksheet(_sheet_name(table.title))
        for place, width in enumerate(_widths([table.columns, *rows[:MEASURED]])):
            sheet.set_column(place, place, width)
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, len(rows), len(table.columns) - 1)
        for number, cells in enumerate([table.columns, *rows]):
            for place, cell in enumerate(cells):
                _write(sheet, number, place, cell, wrapped if number else bold)
    return file.getvalue()


def file_name(table: SourcedTable) -> str:
    """Made of its title, without characters that a file system rejects."""
    plain = " ".join(_NOT_IN_FILE_NAMES.sub(" ", table.title).split())[:MAX_FILE_NAME].strip(" .")
    return f"{plain or 'table'}.xlsx"


class _Sheet(Protocol):
    """What is used of a worksheet of XlsxWriter, which comes without types."""

    def write_string(self, row: int, column: int, text: str, form: object) -> int: ...
    def write_number(self, row: int, column: int, number: float, form: object) -> int: ...


def _write(sheet: _Sheet, row: int, column: int, cell: str, form: object) -> None:
    text = cell.strip()
    if not _NUMBER.fullmatch(text) or _CODE.match(text):
        sheet.write_string(row, column, cell[:MAX_CELL_CHARS], form)
        return
    sheet.write_number(row, column, float(_GROUPING.sub("", text).replace(",", ".")), form)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """The length of the longest line in each column, within bounds."""
    longest = [
        max(len(line) for cell in column for line in (cell.splitlines() or [""])) for column in zip(*rows, strict=True)
    ]
    return [min(max(width + 2, NARROWEST), WIDEST) for width in longest]


def _sheet_name(title: str) -> str | None:
    """The title as Excel accepts it (History is reserved); None to leave the name to Excel."""
    name = _NOT_IN_SHEET_NAMES.sub(" ", title).strip()[:MAX_SHEET_NAME].strip()
    return name if name.casefold() != "history" and name else None
