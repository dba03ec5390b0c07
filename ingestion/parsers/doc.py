"""Reads DOC, the binary Word format of 1997 to 2003: paragraphs, headings, lists, tables, notes.

In: an OLE2 file with a Word document ([MS-DOC]; comments give the section of each structure). Out: a `Document`. It
reads the text and four properties of a paragraph, nothing else. Libraries for DOC need another program, and people
still have many such files.
"""

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import INDENT, Outline, render_table
from ingestion.records import BlockKind, Document

MAGIC = 0xA5EC  # 2.5.2 FibBase.wIdent
FIRST_UNICODE_VERSION = 193  # 2.5.14 nFib: Word 97
FLAGS_AT, ENCRYPTED_FLAG, SECOND_TABLE_FLAG = 0x0A, 0x0100, 0x0200
LENGTHS_AT = 0x4C  # 2.5.5 FibRgLw97: characters of the body, notes, headers, macros, remarks, end notes, text boxes
PAPX_TABLE_AT, PIECE_TABLE_AT = 0x0102, 0x01A2  # 2.5.6 FibRgFcLcb97: fcPlcfBtePapx, fcClx
PAGE_BYTES = 512  # 2.9.175 PapxFkp
COMPRESSED_FLAG = 0x40000000  # 2.9.73 FcCompressed
ROW_SPRM, ROW_END_SPRM, LIST_SPRM, LIST_LEVEL_SPRM = 0x2416, 0x2417, 0x460B, 0x260A  # 2.6.2
OPERAND_BYTES = (1, 1, 2, 4, 2, 2, None, 3)  # 2.2.5.1 Sprm.spra; None: the first byte gives the size
LONG_OPERAND_SPRM = 0xD608  # 2.9.351: two bytes give the size
HEADING_STYLES = range(1, 10)
DEEPEST_LIST = 8
CELL_END, LINE_END, PAGE_END = "\x07", "\r", "\x0c"
FIELD_BEGIN, FIELD_RESULT, FIELD_END = "\x13", "\x14", "\x15"
FIELD_MARKS = frozenset({FIELD_BEGIN, FIELD_RESULT, FIELD_END})
ENDS = frozenset({CELL_END, LINE_END, PAGE_END})
MOST_FIELDS = 1_000  # nested fields
_TOKEN = re.compile("[\x07\r\x0c\x13\x14\x15]|[^\x07\r\x0c\x13\x14\x15]+")
_SPELLED = str.maketrans({"\x0b": "\n", "\x1e": "-", "\x1f": None})
_UNSPELLED = re.compile(r"[\x00-\x08\x0e-\x1f]")


class BadDoc(ValueError):
    """The tables contradict each other, or the file is too short for them."""


@dataclass(frozen=True, kw_only=True)
class ParagraphFacts:
    """Properties of a paragraph."""

    style: int = 0  # 1 to 9: headings of that level (2.9.271)
    in_table: bool = False
    ends_row: bool = False
    list_id: int = 0  # 0: not in a list
    list_level: int = 0


class _Piece(NamedTuple):
    first: int
    end: int
    offset: int
    width: int  # bytes per character


@dataclass(frozen=True, kw_only=True)
class DocText:
    """The characters of the file, and their positions in it."""

    body: str
    others: tuple[str, ...]  # notes, end notes, text boxes
    _pieces: Sequence[_Piece]
    _starts: Sequence[int] = field(default=())  # bytes at which paragraphs begin
    _facts: Sequence[ParagraphFacts] = field(default=())

    def facts(self, position: int) -> ParagraphFacts:
        """Properties of the paragraph with the body's character at `position`."""
        index = bisect_right(self._pieces, position, key=lambda piece: piece.first) - 1
        first, _, offset, width = self._pieces[index]
        found = bisect_right(self._starts, offset + (position - first) * width) - 1
        return self._facts[found] if found >= 0 else ParagraphFacts()


def read_doc(document: bytes, table: bytes) -> DocText:
    """Raises BadDoc, also for Word 95 and older."""
    if _number(document, 0, 2) != MAGIC or _number(document, 2, 2) < FIRST_UNICODE_VERSION:
        raise BadDoc("not a file of Word 97 to 2003")
    pieces = list(_pieces(_table(document, table, PIECE_TABLE_AT)))
    if sum(piece.end - piece.first for piece in pieces) > len(document):
        raise BadDoc("more characters than bytes")
    text = "".join(_decode(document, piece) for piece in pieces)
    lengths = struct.unpack_from("<7I", document, LENGTHS_AT)
    body, notes, _, _, _, end_notes, boxes = accumulate(lengths)
    starts, facts = _read_facts(document, _table(document, table, PAPX_TABLE_AT))
    return DocText(
        body=text[: lengths[0]],
        others=(text[body:notes], text[end_notes - lengths[5] : end_notes], text[end_notes:boxes]),
        _pieces=pieces or [_Piece(first=0, end=0, offset=0, width=1)],
        _starts=starts,
        _facts=facts,
    )


def _number(data: bytes, at: int, size: int) -> int:
    piece = data[at : at + size]
    if len(piece) < size:
        raise BadDoc("the file ends early")
    return int.from_bytes(piece, "little")


def _table(document: bytes, table: bytes, at: int) -> bytes:
    start, size = _number(document, at, 4), _number(document, at + 4, 4)
    return table[start : start + size]


def _pieces(clx: bytes) -> Iterator[_Piece]:
    """2.9.38 Clx: property lists, then the piece table (2.8.35)."""
    at = 0
    while at < len(clx) and clx[at] == 1:
        at += 3 + _number(clx, at + 1, 2)
    if at >= len(clx) or clx[at] != 2:
        raise BadDoc("no piece table")
    size = _number(clx, at + 1, 4)
    table = clx[at + 5 : at + 5 + size]
    count = (len(table) - 4) // 12
    for index in range(count):
        first, end = _number(table, 4 * index, 4), _number(table, 4 * index + 4, 4)
        place = _number(table, 4 * (count + 1) + 8 * index + 2, 4)
        width = 1 if place & COMPRESSED_FLAG else 2
        if end > first:
            yield _Piece(first=first, end=end, offset=(place & ~COMPRESSED_FLAG) * width // 2, width=width)


def _decode(document: bytes, piece: _Piece) -> str:
    length = piece.end - piece.first
    data = document[piece.offset : piece.offset + length * piece.width]
    text = data.decode("cp1252" if piece.width == 1 else "utf-16-le", errors="replace")
    return text.ljust(length, "\0")[:length]


def _read_facts(document: bytes, table: bytes) -> tuple[list[int], list[ParagraphFacts]]:
    """2.8.6 PlcBtePapx: pages with paragraphs, sorted by byte."""
    count = (len(table) - 4) // 8
    found: dict[int, ParagraphFacts] = {}
    for index in range(count):
        number = _number(table, 4 * (count + 1) + 4 * index, 4) & 0x3FFFFF
        page = document[number * PAGE_BYTES : (number + 1) * PAGE_BYTES]
        if len(page) == PAGE_BYTES:
            found.update(_read_page(page))
    starts = sorted(found)
    return starts, [found[start] for start in starts]


def _read_page(page: bytes) -> Iterator[tuple[int, ParagraphFacts]]:
    """2.9.175 PapxFkp, 2.9.20 BxPap, 2.9.174 PapxInFkp."""
    count = page[PAGE_BYTES - 1]
    for index in range(count):
        entry = 4 * (count + 1) + 13 * index
        if entry >= PAGE_BYTES:
            return
        at = page[entry] * 2
        words = page[at] if at else 0
        size = 2 * words - 1 if words else (2 * page[at + 1] if at else 0)
        properties = page[at + (1 if words else 2) :][:size] if at else b""
        yield _number(page, 4 * index, 4), _read_properties(properties)


def _read_properties(data: bytes) -> ParagraphFacts:
    """2.9.113 GrpPrlAndIstd."""
    if len(data) < 2:
        return ParagraphFacts()
    values = dict(_sprms(data[2:]))
    return ParagraphFacts(
        style=_number(data, 0, 2),
        in_table=bool(values.get(ROW_SPRM)),
        ends_row=bool(values.get(ROW_END_SPRM)),
        list_id=values.get(LIST_SPRM, 0),
        list_level=values.get(LIST_LEVEL_SPRM, 0),
    )


def _sprms(data: bytes) -> Iterator[tuple[int, int]]:
    """2.2.5.1: (code, operand) of each property."""
    at = 0
    while at + 2 < len(data):
        code = int.from_bytes(data[at : at + 2], "little")
        at += 2
        size = OPERAND_BYTES[code >> 13]
        if size is None:
            size = int.from_bytes(data[at : at + 2], "little") + 1 if code == LONG_OPERAND_SPRM else data[at] + 1
        yield code, int.from_bytes(data[at : at + size][:4], "little")
        at += size


def parse(path: Path, info: FileInfo) -> Document:
    """Raises SourceError FILE_ENCRYPTED, and BadDoc for Word 95 and older."""
    # Imported here: few files are of this kind.
    import olefile  # type: ignore[import-untyped] # it brings no types

    with olefile.OleFileIO(str(path)) as container:
        document = container.openstream("WordDocument").read()
        flags = _number(document, FLAGS_AT, 2)
        if flags & ENCRYPTED_FLAG:
            raise SourceError(FailureCode.FILE_ENCRYPTED)
        table = container.openstream("1Table" if flags & SECOND_TABLE_FLAG else "0Table").read()
    return _Reader(read_doc(document, table)).read().document(info.name)


class _Reader:
    """Reads the body paragraph by paragraph, then notes and text boxes."""

    def __init__(self, text: DocText) -> None:
        self._source = text
        self._outline = Outline()
        self._text: list[str] = []
        self._row: list[str] = []
        self._rows: list[list[str]] = []

    def read(self) -> Outline:
        """All of it."""
        for words, mark, position in _paragraphs(self._source.body):
            self._read_paragraph(words, mark, self._source.facts(position))
        self._end_table()
        for part in self._source.others:
            for words, _, _ in _paragraphs(part):
                self._outline.add(BlockKind.PARAGRAPH, words)
        return self._outline

    def _read_paragraph(self, words: str, mark: str, facts: ParagraphFacts) -> None:
        if facts.ends_row:
            self._rows.append(self._row)
            self._row = []
        elif mark == CELL_END:
            self._row.append("\n".join((*self._text, words)))
            self._text.clear()
        elif facts.in_table:
            self._text.append(words)
        else:
            self._end_table()
            if facts.style in HEADING_STYLES:
                self._outline.add_heading(words, facts.style)
            elif facts.list_id and words.strip():
                indent = INDENT * min(facts.list_level, DEEPEST_LIST)
                self._outline.add_line(BlockKind.LIST, f"{indent}- {words.strip()}")
            else:
                self._outline.add(BlockKind.PARAGRAPH, words)

    def _end_table(self) -> None:
        if self._row:
            self._rows.append(self._row)
            self._row = []
        if self._rows:
            self._outline.add(BlockKind.TABLE, render_table(self._rows))
            self._rows = []


def _paragraphs(text: str) -> Iterator[tuple[str, str, int]]:
    """(words, the mark that ends them, its position). A field yields its result, not its instruction."""
    words: list[str] = []
    fields: list[bool] = []
    for token in _TOKEN.finditer(text):
        mark = token.group()
        if mark in FIELD_MARKS:
            fields = _follow_field(fields, mark)
        elif not all(fields):
            continue
        elif mark in ENDS:
            yield "".join(words), mark, token.start()
            words = []
        else:
            words.append(_UNSPELLED.sub("", mark.translate(_SPELLED)))
    if words:
        yield "".join(words), LINE_END, len(text) - 1


def _follow_field(fields: list[bool], mark: str) -> list[bool]:
    """Update the open fields: for each, whether its result has begun."""
    if mark == FIELD_BEGIN:
        return [*fields[-MOST_FIELDS:], False]
    return [*fields[:-1], True] if mark == FIELD_RESULT and fields else fields[:-1]
