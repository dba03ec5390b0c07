"""XLSX: values as their cells show them, rows and sheets as places, nothing that claims to be huge."""

import struct
from collections.abc import Sequence
from pathlib import Path

from ingestion.errors import FailureCode
from ingestion.parsers.kinds import FileKind, kind_of
from ingestion.records import BlockKind
from tests.unit.ingestion.parsers.ole2 import compound_file
from tests.unit.ingestion.parsers.packages import sheet_rows, write_xlsx
from tests.unit.ingestion.parsers.reading import read, refusal, told

BOF, EOF, SHEET, LABEL, NUMBER, SIZE, PASSWORD = 0x0809, 0x000A, 0x0085, 0x0204, 0x0203, 0x0200, 0x002F
GLOBALS, WORKSHEET = 5, 16


def test_each_sheet_is_a_heading_and_its_rows_a_table(tmp_path: Path) -> None:
    sheets = {"Цены": sheet_rows(["Товар", "Цена"], ["Стол", 1200]), "Города": sheet_rows(["Город"])}
    document = read(write_xlsx(tmp_path / "прайс.xlsx", sheets))
    assert told(document) == [
        (BlockKind.HEADING, "Цены"),
        (BlockKind.TABLE, "| Товар | Цена |\n| --- | --- |\n| Стол | 1200 |"),
        (BlockKind.HEADING, "Города"),
        (BlockKind.PARAGRAPH, "Город"),
    ]
    table = document.blocks[1].locator
    assert (table.headings, table.row, table.row_end) == (("Цены",), 2, None)
    assert document.title == "прайс"


def test_numbers_are_shown_by_their_formats(tmp_path: Path) -> None:
    cells = "".join(f'<c r="{letter}2" s="{style}"><v>0.5</v></c>' for style, letter in enumerate("ABC"))
    names = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>0</v></c></row>'
    inner = f'<sheetData>{names}<row r="2">{cells}</row></sheetData>'
    path = write_xlsx(tmp_path / "a.xlsx", {"A": inner}, formats=["0%", "h:mm", "0.00"], shared=["доля", "час"])
    assert read(path).blocks[1].text.endswith("| 50% | 12:00 | 0.50 |")


def test_every_kind_of_cell_is_read(tmp_path: Path) -> None:
    cells = (
        '<c t="b"><v>1</v></c><c t="str"><f>A1&amp;"x"</f><v>итог</v></c><c t="e"><v>#N/A</v></c>'
        '<c t="d"><v>2026-05-01T00:00:00</v></c><c><f>1+1</f><v>2</v></c><c><f>NOW()</f></c><c t="s"><v>99</v></c>'
    )
    document = read(write_xlsx(tmp_path / "a.xlsx", {"A": f"<sheetData><row>{cells}</row></sheetData>"}))
    assert document.blocks[1].text.endswith("| TRUE | итог | #N/A | 2026-05-01 | 2 |")


def test_what_spans_rows_is_told_in_each(tmp_path: Path) -> None:
    rows = sheet_rows(["Отдел", "Кто"], ["Продажи", "Анна"], [None, "Иван"])
    inner = f'{rows}<mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>'
    document = read(write_xlsx(tmp_path / "a.xlsx", {"A": inner}))
    assert document.blocks[1].text.endswith("| Продажи | Анна |\n| Продажи | Иван |")


def test_days_count_from_where_the_book_says(tmp_path: Path) -> None:
    inner = '<sheetData><row r="1"><c r="A1" s="0"><v>44681</v></c></row></sheetData>'
    path = write_xlsx(tmp_path / "a.xlsx", {"A": inner}, formats=["d.m.yy"], book='<workbookPr date1904="1"/>')
    assert read(path).blocks[1].text == "2026-05-01"


def test_a_cell_at_the_far_end_costs_nothing(tmp_path: Path) -> None:
    row = '<row r="1048576"><c r="A1048576"><v>1</v></c><c r="XFD1048576"><v>2</v></c></row>'
    document = read(write_xlsx(tmp_path / "a.xlsx", {"A": f"<sheetData>{row}</sheetData>"}))
    assert document.blocks[1].text == "| A | XFD |\n| --- | --- |\n| 1 | 2 |"
    assert document.blocks[1].locator.row == 1_048_576


def test_the_content_decides_and_not_the_name(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "a.docx", {"A": sheet_rows(["x"])})
    assert kind_of(path, name="a.docx") is FileKind.XLSX


def test_a_book_without_cells_has_the_names_of_its_sheets(tmp_path: Path) -> None:
    document = read(write_xlsx(tmp_path / "a.xlsx", {"Смета 2026": "<sheetData/>"}))
    assert told(document) == [(BlockKind.HEADING, "Смета 2026")]


def _record(kind: int, data: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def _begin(kind: int) -> bytes:
    return _record(BOF, struct.pack("<HHHHII", 0x0600, kind, 0, 0, 0, 0))


def _write(
    path: Path, name: str, rows: Sequence[Sequence[str | float]], *, before: bytes = b"", inner: bytes = b""
) -> Path:
    cells = inner + b"".join(
        _cell(row, column, value) for row, line in enumerate(rows) for column, value in enumerate(line)
    )
    size = _record(SIZE, struct.pack("<IIHHH", 0, len(rows), 0, max(map(len, rows)), 0))
    start = _begin(GLOBALS) + before
    label = name.encode("utf-16-le")
    offset = len(start) + 4 + 8 + len(label) + 4
    listed = _record(SHEET, struct.pack("<IBBBB", offset, 0, 0, len(name), 1) + label)
    book = start + listed + _record(EOF) + _begin(WORKSHEET) + size + cells + _record(EOF)
    path.write_bytes(compound_file({"Workbook": book}))
    return path


def _cell(row: int, column: int, value: str | float) -> bytes:
    place = struct.pack("<HHH", row, column, 0)
    if isinstance(value, str):
        return _record(LABEL, place + struct.pack("<HB", len(value), 1) + value.encode("utf-16-le"))
    return _record(NUMBER, place + struct.pack("<d", value))


def test_sheets_are_tables(tmp_path: Path) -> None:
    document = read(_write(tmp_path / "a.xls", "Цены", [["Товар", "Цена"], ["Стол", 1200.5], ["Стул", 300]]))
    assert told(document) == [
        (BlockKind.HEADING, "Цены"),
        (BlockKind.TABLE, "| Товар | Цена |\n| --- | --- |\n| Стол | 1200.5 |\n| Стул | 300 |"),
    ]
    assert (document.blocks[1].locator.row, document.blocks[1].locator.row_end) == (2, 3)


def test_a_password_is_the_reason(tmp_path: Path) -> None:
    locked = _record(PASSWORD, struct.pack("<HHH", 1, 1, 1) + bytes(48))
    assert refusal(_write(tmp_path / "a.xls", "A", [["x"]], before=locked)) is FailureCode.FILE_ENCRYPTED


def test_a_book_that_is_no_book_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.xls"
    path.write_bytes(compound_file({"Workbook": b"\xff" * 100}))
    assert refusal(path) is FailureCode.FILE_DAMAGED


def test_rows_and_columns_are_counted_from_the_corner(tmp_path: Path) -> None:
    inner = b"".join(_cell(row, column, "x") for row in (3, 4) for column in (2, 3))
    document = read(_write(tmp_path / "a.xls", "A", [[]], inner=inner))
    assert document.blocks[1].locator.row == 5
