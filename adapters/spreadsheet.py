"""A table as a spreadsheet that people can open anywhere.

In: a `SourcedTable` (made of a `FactTable` by bot/replies/places.py). Out: the bytes of an XLSX file, and its
name. Cells are text, so that nothing in a document can become a formula or a link; numbers are numbers, amounts too,
with their unit as the format, and dates are dates, so that people can calculate with them.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, time
from functools import cache
from io import BytesIO
from typing import Any

from domain.documents import SourcedTable
from rag.values import Amount, exact_amount, only_day

MAX_CELL_CHARS = 32_767  # Excel's own limit
MAX_ROWS = 1_048_575  # of a sheet (Excel's own limit, less the header)
MAX_SHEET_NAME = 31
MAX_FILE_NAME = 60  # characters
NARROWEST, WIDEST = 10, 60  # of a column, in characters
MEASURED = 500  # rows whose cells decide the widths

_NUMBER = re.compile(r"-?\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d{1,6})?|-?\d{1,12}(?:[.,]\d{1,6})?")
_CODE = re.compile(r"-?0\d")  # 007, 0123456: what begins with a zero is a code
_PER = re.compile(  # «60 000 рублей в год»: what the number is for is shown behind its unit
    r"\s*((?:(?:в|за|per|a)\s+|/\s*)(?:год|полугодие|квартал|месяц|мес\.?|неделю|сутки|день|час|шт\.?|"
    r"year|quarter|month|week|day|hour))\s*$",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")
_UNQUOTED = re.compile(r'["\\]')
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
        formats = cache(lambda shown: book.add_format({"num_format": shown, "valign": "top"}))
        name = _NOT_IN_SHEET_NAMES.sub(" ", table.title).strip()[:MAX_SHEET_NAME].strip()
        sheet = book.add_worksheet(None if name.casefold() in ("", "history") else name)  # History is reserved
        for place, column in enumerate(zip(table.columns, *rows[:MEASURED], strict=True)):
            width = max(len(line) for cell in column for line in (cell.splitlines() or [""]))
            sheet.set_column(place, place, min(max(width + 2, NARROWEST), WIDEST))
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, len(rows), len(table.columns) - 1)
        for place, name in enumerate(table.columns):
            sheet.write_string(0, place, name[:MAX_CELL_CHARS], bold)
        cells = ((number, place, cell) for number, row in enumerate(rows, start=1) for place, cell in enumerate(row))
        for number, place, cell in cells:
            if not _write_value(sheet, number, place, cell, formats):
                sheet.write_string(number, place, cell[:MAX_CELL_CHARS], wrapped)
    return file.getvalue()


def file_name(table: SourcedTable) -> str:
    """Made of its title, without characters that a file system rejects."""
    plain = " ".join(_NOT_IN_FILE_NAMES.sub(" ", table.title).split())[:MAX_FILE_NAME].strip(" .")
    return f"{plain or 'table'}.xlsx"


def _write_value(sheet: Any, row: int, column: int, cell: str, formats: Callable[[str], object]) -> bool:
    """Writes a number, an amount or a date; False for any other text. `formats`: number format -> cell format."""
    text = cell.strip()
    if _CODE.match(text):
        return False
    if _NUMBER.fullmatch(text):
        sheet.write_number(row, column, float(_GROUPING.sub("", text).replace(",", ".")), formats("General"))
    elif (found := exact_amount(_PER.sub("", text))) and (found.unit or _LETTER.search(text)):  # «1,5 млн» has no unit
        per = _PER.search(text)
        shown = _shown(replace(found, unit=f"{found.unit} {per[1]}")) if per else _shown(found)
        value = found.value / 100 if shown.endswith("%") else found.value
        sheet.write_number(row, column, float(value), formats(shown))
    elif moment := only_day(text):
        sheet.write_datetime(row, column, datetime.combine(moment, time.min), formats("dd.mm.yyyy"))
    else:
        return False
    return True


def _shown(found: Amount) -> str:
    """Excel's number format of an amount: as many decimals as it has, and its unit."""
    decimals = max(0, -int(found.value.normalize().as_tuple().exponent))
    digits = f"0.{'0' * decimals}" if decimals else "0"
    return f"{digits}%" if found.unit == "%" else f'#,##{digits} "{_UNQUOTED.sub("", found.unit)}"'.removesuffix(' ""')
