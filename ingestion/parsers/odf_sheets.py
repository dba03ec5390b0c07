"""Reads the rows of an OpenDocument sheet.

In: a `table:table` element. Out: `SheetRow`s with the displayed values. Repeated cells and rows are counted, not
copied: a sheet of one word may claim a million rows.
"""

from collections.abc import Iterator

from ingestion.parsers.sheets import MOST_COLUMNS, SheetRow
from ingestion.parsers.xml_trees import Element, attribute, local_name, words_of

MOST_COPIES = 100  # of a cell with content, in a row
MOST_COPIED_CELLS = 2_000  # of a row with content, including its identical repetitions; a file may claim billions
ROW_GROUPS = frozenset({"table-row-group", "table-header-rows", "table-rows"})
CELLS = frozenset({"table-cell", "covered-table-cell"})
UNREAD_IN_CELL = "annotation"


def read_rows(table: Element) -> Iterator[SheetRow]:
    """Rows with content, with the row numbers that the program shows."""
    number = 1
    for row in _rows(table):
        copies = _count(row, "number-rows-repeated")
        cells, has_values = _read_cells(row)
        for copy in range(min(copies, max(1, MOST_COPIED_CELLS // len(cells))) if cells else 0):
            yield SheetRow(number=number + copy, cells=cells, has_values=has_values)
        number += copies


def _rows(container: Element) -> Iterator[Element]:
    for element in container:
        if local_name(element) == "table-row":
            yield element
        elif local_name(element) in ROW_GROUPS:
            yield from _rows(element)


def _read_cells(row: Element) -> tuple[dict[int, str], bool]:
    """Texts by column, and whether there is a number or date among them."""
    cells: dict[int, str] = {}
    has_values = False
    column = 0
    for cell in row:
        if local_name(cell) not in CELLS or column >= MOST_COLUMNS:
            continue
        copies = _count(cell, "number-columns-repeated")
        text, kind = _text(cell), attribute(cell, "value-type") or "string"
        if text:
            cells.update(dict.fromkeys(range(column, min(column + min(copies, MOST_COPIES), MOST_COLUMNS)), text))
            has_values = has_values or kind != "string"
        column += copies
    return cells, has_values


def _text(cell: Element) -> str:
    """The displayed text; dates in ISO format."""
    date = attribute(cell, "date-value")
    if date is not None:
        return date.replace("T", " ").removesuffix(" 00:00:00").removesuffix(":00" if "T" in date else "")
    lines = (words_of(line) for line in cell if local_name(line) not in ("", UNREAD_IN_CELL))
    return "\n".join(filter(None, lines))


def _count(element: Element, name: str) -> int:
    stated = attribute(element, name) or "1"
    return int(stated) if stated.isdecimal() and len(stated) < 10 else 1
