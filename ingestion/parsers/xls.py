"""Reads XLS and XLSB, the binary workbooks, by calamine.

In: an OLE2 or ZIP container with a binary workbook. Out: a `Document` like that of `xlsx`. Of number formats calamine
only tells dates: percentages appear as fractions.
"""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import Outline
from ingestion.parsers.sheets import SheetRow, add_sheet, plain_number
from ingestion.records import Document

Cell = int | float | str | bool | time | date | datetime | timedelta


def parse(path: Path, info: FileInfo) -> Document:
    """Raises SourceError FILE_ENCRYPTED, FILE_DAMAGED."""
    # Imported here: few files are of this kind.
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum

    outline = Outline()
    try:
        book = CalamineWorkbook.from_path(str(path))
        for sheet in book.sheets_metadata:
            if sheet.typ is SheetTypeEnum.WorkSheet:
                outline.add_heading(sheet.name, 1)
                content = book.get_sheet_by_name(sheet.name)
                # `iter_rows` starts at row 1, but at the first used column.
                first_column = content.start[1] if content.start else 0
                add_sheet(outline, _rows(content.iter_rows(), first_column))
    except PasswordError as error:
        raise SourceError(FailureCode.FILE_ENCRYPTED, name=info.name, detail=str(error)) from error
    except CalamineError as error:
        raise SourceError(FailureCode.FILE_DAMAGED, name=info.name, detail=str(error)) from error
    return outline.document(info.name, is_sheets=True)


def _rows(rows: Iterable[list[Cell]], first_column: int) -> Iterator[SheetRow]:
    for number, row in enumerate(rows, start=1):
        cells = {column: text for column, cell in enumerate(row, first_column) if (text := _show(cell)).strip()}
        if cells:
            has_values = any(not isinstance(row[column - first_column], str) for column in cells)
            yield SheetRow(number=number, cells=cells, has_values=has_values)


def _show(cell: Cell) -> str:
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, int | float):
        return plain_number(float(cell))
    if isinstance(cell, datetime):
        return cell.isoformat(" ", "minutes").removesuffix(" 00:00")
    return str(cell)
