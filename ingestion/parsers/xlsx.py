"""Reads workbooks: every sheet as tables, with the values that the program had computed.

In: a SpreadsheetML file, transitional or strict; a binary workbook (XLS, XLSB), which calamine reads: of number formats
it only tells dates, so percentages appear as fractions. Out: a `Document` with sheet names as headings and row numbers
as places. XLSX is read element by element, so that memory does not grow with the sheet. Formulas, charts and comments
are not read. Why not a library: openpyxl took four times as long (26 s for 480,000 cells against 7), python-calamine
knows no number formats and allocates a cell for every gap between used ones (`docs/formats.md`).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import IO

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.outline import Outline
from ingestion.parsers.sheets import (
    BUILT_IN,
    GENERAL,
    LETTERS,
    Format,
    SheetRow,
    add_sheet,
    number_format,
    plain_number,
)
from ingestion.parsers.xml import Element, Package, attribute, child, read_tree, stated_in, stream_elements
from ingestion.records import Document

WORKBOOK = "xl/workbook.xml"
MOST_MERGED_ROWS = 100_000
MOST_COLUMNS = 16_384  # of a sheet
MERGE_BYTES = 200  # more than a single element takes
_MERGE = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=[\"']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})[\"']")


@dataclass(frozen=True, kw_only=True)
class _Book:
    """The workbook data that cells refer to."""

    shared: Sequence[bytes]  # as UTF-8, half the memory of text in Cyrillic
    formats: Sequence[Format]  # by style


def parse(path: Path, name: str) -> Document:
    """Raises SourceError FILE_TOO_HEAVY."""
    with Package(path) as package:
        outline = Outline()
        workbook = read_tree(package.part(WORKBOOK))
        relations = package.relations(WORKBOOK)
        properties = child(workbook, "workbookPr")
        is_1904 = properties is not None and properties.get("date1904") in ("1", "true")
        formats = _read_formats(package.tree("xl/styles.xml"), epoch_1904=is_1904)
        shared: list[bytes] = []
        if "xl/sharedStrings.xml" in package.names:
            with package.stream("xl/sharedStrings.xml") as stream:
                shared = [_rich_text(item).encode(errors="replace") for item in stream_elements(stream, "{*}si")]
        book = _Book(shared=shared, formats=formats)
        for sheet in workbook.iter("{*}sheet"):
            relation = relations.get(attribute(sheet, "id") or "")
            if relation is None or relation.kind != "worksheet" or relation.target not in package.names:
                continue
            outline.add_heading(sheet.get("name", ""), 1)
            with package.stream(relation.target) as stream:
                spans = _merged_down(stream)
            with package.stream(relation.target) as stream:
                add_sheet(outline, _read_rows(stream, book, spans))
        core = package.tree("docProps/core.xml")
    return outline.document(name, stated_in(core, "title"), author=stated_in(core, "creator"), is_sheets=True)


def _rich_text(item: Element) -> str:
    """The text of its runs, without phonetic hints (`rPh`) for Japanese."""
    pieces: list[str] = []
    for inner in item:
        if inner.tag.endswith("}t"):
            pieces.append(inner.text or "")
        elif inner.tag.endswith(("}r", "}is")):
            pieces.append(_rich_text(inner))
    return "".join(pieces)


def _read_formats(styles: Element | None, *, epoch_1904: bool) -> list[Format]:
    if styles is None:
        return []
    stated = {int(each.get("numFmtId", "0")): each.get("formatCode", GENERAL) for each in styles.iter("{*}numFmt")}
    codes = {**BUILT_IN, **stated}
    chosen = (codes.get(int(entry.get("numFmtId", "0")), GENERAL) for entry in styles.iterfind("{*}cellXfs/*"))
    return [number_format(code, epoch_1904=epoch_1904) for code in chosen]


def _merged_down(stream: IO[bytes]) -> Mapping[int, Mapping[int, int]]:
    """First row -> column -> last row, of cells merged over several rows. They come after the rows in the file, so its
    text is searched for them first; those at the border of two pieces may come twice."""
    spans: defaultdict[int, dict[int, int]] = defaultdict(dict)
    window = b""
    while len(spans) < MOST_MERGED_ROWS and (piece := stream.read(1024 * 1024)):
        window = window[-MERGE_BYTES:] + piece
        for letters, first, _, last in _MERGE.findall(window):
            if int(last) > int(first):
                spans[int(first)][_column(letters.decode())] = int(last)
    return spans


def _read_rows(stream: IO[bytes], book: _Book, spans: Mapping[int, Mapping[int, int]]) -> Iterator[SheetRow]:
    """Each row that a merged cell covers shows its text."""
    merged: dict[int, tuple[int, str]] = {}  # column -> last row and text
    number = 0
    for row in stream_elements(stream, "{*}row"):
        number = int(row.get("r") or number + 1)
        cells: dict[int, str] = {}
        has_values = False
        column = -1
        for cell in row:
            letters = (cell.get("r") or "").rstrip("0123456789")
            column = _column(letters) if letters else column + 1
            text, is_value = _read_cell(cell, book)
            if text.strip():
                cells[column] = text
                has_values = has_values or is_value
        merged |= {column: (last, cells.get(column, "")) for column, last in spans.get(number, {}).items()}
        if cells:
            shown = {column: text for column, (last, text) in merged.items() if text and number <= last}
            yield SheetRow(number=number, cells=shown | cells, has_values=has_values)


def _read_cell(cell: Element, book: _Book) -> tuple[str, bool]:
    """Its text, and whether it is a number or a date."""
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return _rich_text(cell), False
    value = next((inner.text for inner in cell if inner.tag.endswith("}v")), None) or ""
    if kind == "s":
        ordinal = int(value or -1)
        return book.shared[ordinal].decode() if 0 <= ordinal < len(book.shared) else "", False
    if kind == "b":
        return ("TRUE" if value == "1" else "FALSE"), True
    if kind == "d":
        return value.replace("T", " ").removesuffix(" 00:00:00"), True
    if kind != "n" or not value:
        return value, False
    style = int(cell.get("s") or 0)
    show = book.formats[style] if style < len(book.formats) else plain_number
    try:
        return show(float(value)), True
    except ValueError:  # no number
        return value, True


@lru_cache(maxsize=MOST_COLUMNS)
def _column(letters: str) -> int:
    column = 0
    for letter in letters[:3]:
        column = column * LETTERS + (ord(letter) - ord("A")) % LETTERS + 1
    return column - 1


def parse_binary(path: Path, name: str) -> Document:
    """Raises SourceError FILE_ENCRYPTED."""
    # Imported here: few files are of this kind.
    from python_calamine import CalamineWorkbook, PasswordError, SheetTypeEnum

    outline = Outline()
    try:
        book = CalamineWorkbook.from_path(str(path))
        for sheet in book.sheets_metadata:
            if sheet.typ is SheetTypeEnum.WorkSheet:
                outline.add_heading(sheet.name, 1)
                content = book.get_sheet_by_name(sheet.name)
                # `iter_rows` starts at row 1, but at the first used column.
                first_column = content.start[1] if content.start else 0
                add_sheet(outline, _binary_rows(content.iter_rows(), first_column))
    except PasswordError as error:
        raise SourceError(FailureCode.FILE_ENCRYPTED, detail=str(error)) from error
    return outline.document(name, is_sheets=True)


def _binary_rows(rows: Iterable[Sequence[object]], first_column: int) -> Iterator[SheetRow]:
    for number, row in enumerate(rows, start=1):
        cells: dict[int, str] = {}
        for column, cell in enumerate(row, first_column):
            match cell:
                case bool():
                    cells[column] = str(cell).upper()
                case int() | float():
                    cells[column] = plain_number(float(cell))
                case datetime():
                    cells[column] = cell.isoformat(" ", "minutes").removesuffix(" 00:00")
                case _ if str(cell).strip():
                    cells[column] = str(cell)
        if cells:
            has_values = any(not isinstance(row[column - first_column], str) for column in cells)
            yield SheetRow(number=number, cells=cells, has_values=has_values)
