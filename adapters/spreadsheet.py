"""A table as a spreadsheet that people can open anywhere.

In: a `FactTable`, and how a passage's place is called. Out: the bytes of an XLSX file: the columns, and where each row
stands. Every cell is text, so that nothing in a document can become a formula, a link or a number that it was not.
"""

import re
from collections.abc import Callable, Sequence
from io import BytesIO

from rag.records import FactTable, Passage, TableRow

MAX_CELL_CHARS = 32_767  # Excel's own limit
MAX_SHEET_NAME = 31
NARROWEST, WIDEST = 10, 60  # of a column, in characters
MEASURED = 500  # rows whose cells decide the widths
_NOT_IN_SHEET_NAMES = re.compile(r"[\[\]:*?/\\']")


def table_to_xlsx(table: FactTable, *, source: str, place_of: Callable[[Passage], str]) -> bytes:
    """`source` heads the last column; `place_of` names a passage's document and its page or minute there."""
    import xlsxwriter  # rarely needed: one question in many makes a table

    rows = [_cells(row, place_of) for row in table.rows]
    headings = (*table.columns, source)
    file = BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True, "constant_memory": True}) as book:
        bold, wrapped = book.add_format({"bold": True}), book.add_format({"text_wrap": True, "valign": "top"})
        sheet = book.add_worksheet(_sheet_name(table.title))
        for place, width in enumerate(_widths([headings, *rows[:MEASURED]])):
            sheet.set_column(place, place, width)
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, len(rows), len(headings) - 1)
        for number, cells in enumerate([headings, *rows]):
            for place, cell in enumerate(cells):
                sheet.write_string(number, place, cell[:MAX_CELL_CHARS], wrapped if number else bold)
    return file.getvalue()


def _cells(row: TableRow, place_of: Callable[[Passage], str]) -> tuple[str, ...]:
    places = dict.fromkeys(place_of(each.passage) for each in (row.passage, *row.also))
    return (*row.cells, "\n".join(places))


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Of the longest line in each column, within bounds."""
    longest = [
        max(len(line) for cell in column for line in (cell.splitlines() or [""])) for column in zip(*rows, strict=True)
    ]
    return [min(max(width + 2, NARROWEST), WIDEST) for width in longest]


def _sheet_name(title: str) -> str | None:
    """As Excel takes it, which keeps the name History for itself; None for its own."""
    name = _NOT_IN_SHEET_NAMES.sub(" ", title).strip()[:MAX_SHEET_NAME].strip()
    return name if name.casefold() != "history" and name else None
