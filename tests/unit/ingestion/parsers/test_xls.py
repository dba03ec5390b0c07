"""XLS: binary workbooks, written here record by record ([MS-XLS])."""

import struct
from collections.abc import Sequence
from pathlib import Path

from ingestion.errors import FailureCode
from ingestion.records import BlockKind
from tests.unit.ingestion.parsers.ole2 import compound_file
from tests.unit.ingestion.parsers.reading import read, refusal, told

BOF, EOF, SHEET, LABEL, NUMBER, SIZE, PASSWORD = 0x0809, 0x000A, 0x0085, 0x0204, 0x0203, 0x0200, 0x002F
GLOBALS, WORKSHEET = 5, 16


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
