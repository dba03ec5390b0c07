"""DOC: the binary Word format, written here as its specification says."""

import struct
from pathlib import Path

import pytest

from ingestion.errors import FailureCode
from ingestion.records import BlockKind
from tests.unit.ingestion.parsers.ole2 import compound_file
from tests.unit.ingestion.parsers.reading import read, refusal, told

TEXT_AT = 2048  # of the stream, behind the header
PAGE = 8  # of 512 bytes: where the properties of paragraphs stand
HEADING_1, NORMAL = 1, 0
CELL, ROW_END = b"\x16\x24\x01", b"\x16\x24\x01\x17\x24\x01"  # sprmPFInTable, sprmPFTtp
LIST = b"\x0b\x46\x01\x00"  # sprmPIlfo
Paragraph = tuple[str, int, bytes]  # words with their end, style, properties


def _write(path: Path, *paragraphs: Paragraph, notes: str = "", wide: bool = True, flags: int = 0x0200) -> Path:
    body = "".join(words for words, _, _ in paragraphs)
    text = body + notes
    data = text.encode("utf-16-le" if wide else "cp1252")
    document = bytearray(PAGE * 512 + 512)
    struct.pack_into("<HH", document, 0, 0xA5EC, 193)
    struct.pack_into("<H", document, 0x0A, flags)
    struct.pack_into("<8I", document, 0x4C, len(body), len(notes), 0, 0, 0, 0, 0, 0)
    document[TEXT_AT : TEXT_AT + len(data)] = data
    document[PAGE * 512 :] = _page(paragraphs, width=2 if wide else 1)
    pieces = struct.pack("<II", 0, len(text)) + b"\0\0"
    pieces += struct.pack("<I", TEXT_AT if wide else TEXT_AT * 2 | 0x40000000) + b"\0\0"
    clx = b"\x02" + struct.pack("<I", len(pieces)) + pieces
    papx = struct.pack("<III", TEXT_AT, TEXT_AT + len(data), PAGE)
    struct.pack_into("<II", document, 0x01A2, 0, len(clx))
    struct.pack_into("<II", document, 0x0102, len(clx), len(papx))
    path.write_bytes(compound_file({"WordDocument": bytes(document), "1Table": clx + papx}))
    return path


def _page(paragraphs: tuple[Paragraph, ...], *, width: int) -> bytes:
    page = bytearray(512)
    page[511] = len(paragraphs)
    at, end = TEXT_AT, 510
    for number, (words, style, properties) in enumerate(paragraphs):
        struct.pack_into("<I", page, 4 * number, at)
        at += len(words) * width
        content = struct.pack("<H", style) + properties
        content += b"\0" * (len(content) % 2 == 0)
        end -= (len(content) + 1) + (len(content) + 1) % 2
        page[end : end + 1 + len(content)] = bytes([(len(content) + 1) // 2]) + content
        page[4 * (len(paragraphs) + 1) + 13 * number] = end // 2
    struct.pack_into("<I", page, 4 * len(paragraphs), at)
    return bytes(page)


def test_headings_lists_and_paragraphs_are_known(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "a.doc", ("Договор\r", HEADING_1, b""), ("слова\r", NORMAL, b""), ("пункт\r", NORMAL, LIST)
    )
    assert told(read(path)) == [
        (BlockKind.HEADING, "Договор"),
        (BlockKind.PARAGRAPH, "слова"),
        (BlockKind.LIST, "- пункт"),
    ]


def test_cells_are_a_table(tmp_path: Path) -> None:
    row = [("Срок\x07", NORMAL, CELL), ("Пеня\x07", NORMAL, CELL), ("\x07", NORMAL, ROW_END)]
    path = _write(tmp_path / "a.doc", *row, *row, ("после\r", NORMAL, b""))
    assert told(read(path)) == [
        (BlockKind.TABLE, "| Срок | Пеня |\n| --- | --- |\n| Срок | Пеня |"),
        (BlockKind.PARAGRAPH, "после"),
    ]


def test_of_fields_the_result_is_told(tmp_path: Path) -> None:
    words = 'см. \x13 HYPERLINK "http://e.org" \x14при\x13 X \x15ложение\x15\x0bдальше\x1e\r'
    path = _write(tmp_path / "a.doc", (words, NORMAL, b""))
    assert told(read(path)) == [(BlockKind.PARAGRAPH, "см. приложение\nдальше-")]


def test_notes_follow_the_body(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.doc", ("слово\x02\r", NORMAL, b""), notes="\x02 сноска\r")
    assert [text for _, text in told(read(path))] == ["слово", "сноска"]


def test_letters_of_one_byte_are_western(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.doc", ("caf\xe9\r", NORMAL, b""), wide=False)
    assert told(read(path)) == [(BlockKind.PARAGRAPH, "café")]


def test_a_password_is_the_reason(tmp_path: Path) -> None:
    assert refusal(_write(tmp_path / "a.doc", ("x\r", 0, b""), flags=0x0300)) is FailureCode.FILE_ENCRYPTED


@pytest.mark.parametrize(
    "streams", [{"WordDocument": b"\xdc\xa5e\0"}, {"WordDocument": b"\xec\xa5\xc1\0", "0Table": b""}]
)
def test_other_versions_and_broken_tables_are_damage(tmp_path: Path, streams: dict[str, bytes]) -> None:
    path = tmp_path / "a.doc"
    path.write_bytes(compound_file(streams))
    assert refusal(path) is FailureCode.FILE_DAMAGED
