"""Reads DOC, the binary Word format of 1997 to 2003: paragraphs, headings, lists, tables, notes.

In: an OLE2 file with a Word document ([MS-DOC]; comments give the section of each structure). Out: a `Document`. It
reads the text and four properties of a paragraph, nothing else. Libraries for DOC need another program, and people
still have many such files.
"""

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate, chain
from operator import itemgetter
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.outline import Outline
from ingestion.records import BlockKind, Document

MAGIC = 0xA5EC  # 2.5.2 FibBase.wIdent
FIRST_UNICODE_VERSION = 193  # 2.5.14 nFib: Word 97
FLAGS_AT, ENCRYPTED_FLAG, SECOND_TABLE_FLAG = 0x0A, 0x0100, 0x0200
LENGTHS_AT = 0x4C  # 2.5.5 FibRgLw97: characters of the body, notes, headers, macros, remarks, end notes, text boxes
PAPX_TABLE_AT, PIECE_TABLE_AT = 0x0102, 0x01A2  # 2.5.6 FibRgFcLcb97: fcPlcfBtePapx, fcClx
PAGE_BYTES = 512  # 2.9.175 PapxFkp
COMPRESSED_FLAG = 0x40000000  # 2.9.73 FcCompressed
ROW_SPRM, ROW_END_SPRM, LIST_SPRM, LIST_LEVEL_SPRM = 0x2416, 0x2417, 0x460B, 0x260A  # 2.6.2
STYLE = 0  # no code of 2.6.2
HEADINGS = range(1, 10)  # styles of headings of that level (2.9.271)
OPERAND_BYTES = (1, 1, 2, 4, 2, 2, None, 3)  # 2.2.5.1 Sprm.spra; None: the first byte gives the size
LONG_OPERAND_SPRM = 0xD608  # 2.9.351: two bytes give the size
CELL_END, LINE_END, PAGE_END = "\x07", "\r", "\x0c"
FIELD_BEGIN, FIELD_RESULT, FIELD_END = "\x13", "\x14", "\x15"
ENDS = frozenset({CELL_END, LINE_END, PAGE_END})
_TOKEN = re.compile("[\x07\r\x0c\x13\x14\x15]|[^\x07\r\x0c\x13\x14\x15]+")
_SPELLED = str.maketrans({"\x0b": "\n", "\x1e": "-", "\x1f": None})
_UNSPELLED = re.compile(r"[\x00-\x08\x0e-\x1f]")

Properties = Mapping[int, int]
"""Of a paragraph: code -> operand; STYLE is the first of them (2.9.113)."""


def _number(data: bytes, at: int, form: str = "<I") -> int:
    """Raises struct.error where the file ends early."""
    return int(struct.unpack_from(form, data, at)[0])


def _pieces(clx: bytes) -> Iterator[tuple[int, int, int, int]]:
    """First character, end, offset in the file, bytes per character. 2.9.38 Clx: lists, then the table (2.8.35)."""
    at = 0
    while at < len(clx) and clx[at] == 1:
        at += 3 + _number(clx, at + 1, "<H")
    if at >= len(clx) or clx[at] != 2:
        raise ValueError("no piece table")
    size = _number(clx, at + 1)
    table = clx[at + 5 : at + 5 + size]
    count = (len(table) - 4) // 12
    for index in range(count):
        first, end = _number(table, 4 * index), _number(table, 4 * index + 4)
        place = _number(table, 4 * (count + 1) + 8 * index + 2)
        width = 1 if place & COMPRESSED_FLAG else 2
        if end > first:
            yield first, end, (place & ~COMPRESSED_FLAG) * width // 2, width


def _read_page(page: bytes) -> Iterator[tuple[int, Properties]]:
    """Each paragraph's first byte and properties (2.9.175 PapxFkp, 2.9.20 BxPap, 2.9.174 PapxInFkp, 2.9.113)."""
    count = page[PAGE_BYTES - 1] if len(page) == PAGE_BYTES else 0
    for index in range(count):
        entry = 4 * (count + 1) + 13 * index
        if entry >= PAGE_BYTES:
            return
        at = page[entry] * 2
        words = page[at] if at else 0
        size = 2 * words - 1 if words else (2 * page[at + 1] if at else 0)
        data = page[at + (1 if words else 2) :][:size] if at else b""
        style = {STYLE: _number(data, 0, "<H")} if len(data) >= 2 else {}
        yield _number(page, 4 * index), style | dict(_sprms(data[2:]))


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


def parse(path: Path, name: str) -> Document:
    """Raises SourceError FILE_ENCRYPTED, and ValueError for Word 95 and older."""
    # Imported here: few files are of this kind.
    import olefile  # type: ignore[import-untyped] # it brings no types

    with olefile.OleFileIO(str(path)) as container:
        document = container.openstream("WordDocument").read()
        flags = _number(document, FLAGS_AT, "<H")
        if flags & ENCRYPTED_FLAG:
            raise SourceError(FailureCode.FILE_ENCRYPTED)
        table = container.openstream("1Table" if flags & SECOND_TABLE_FLAG else "0Table").read()
    return _Reader(document, table).read().document(name)


class _Reader:
    """Reads the body paragraph by paragraph, then notes and text boxes."""

    def __init__(self, document: bytes, table: bytes) -> None:
        if _number(document, 0, "<H") != MAGIC or _number(document, 2, "<H") < FIRST_UNICODE_VERSION:
            raise ValueError("not a file of Word 97 to 2003")
        clx, papx = (
            table[_number(document, at) :][: _number(document, at + 4)] for at in (PIECE_TABLE_AT, PAPX_TABLE_AT)
        )
        self._pieces = list(_pieces(clx))
        if sum(end - first for first, end, _, _ in self._pieces) > len(document):
            raise ValueError("more characters than bytes")
        texts = []
        for first, end, offset, width in self._pieces:
            data = document[offset : offset + (end - first) * width]
            text = data.decode("cp1252" if width == 1 else "utf-16-le", errors="replace")
            texts.append(text.ljust(end - first, "\0")[: end - first])
        self._source = "".join(texts)
        self._parts = list(accumulate(struct.unpack_from("<7I", document, LENGTHS_AT)))
        count = max(0, (len(papx) - 4) // 8)  # 2.8.6 PlcBtePapx
        pages = (number & 0x3FFFFF for number in struct.unpack_from(f"<{count}I", papx, 4 * (count + 1)))
        read = (_read_page(document[page * PAGE_BYTES : (page + 1) * PAGE_BYTES]) for page in pages)
        self._properties = sorted(dict(chain.from_iterable(read)).items())
        self._outline = Outline()
        self._text: list[str] = []
        self._row: list[str] = []

    def read(self) -> Outline:
        body, notes, _, _, remarks, end_notes, boxes = self._parts
        for words, mark, position in _paragraphs(self._source[:body]):
            self._read_paragraph(words, mark, self._properties_at(position))
        self._end_row()
        for begin, end in ((body, notes), (remarks, end_notes), (end_notes, boxes)):
            for words, _, _ in _paragraphs(self._source[begin:end]):
                self._outline.add(BlockKind.PARAGRAPH, words)
        return self._outline

    def _properties_at(self, position: int) -> Properties:
        """Of the paragraph with the character at `position`: they are told for places in the file."""
        first, _, offset, width = self._pieces[bisect_right(self._pieces, position, key=itemgetter(0)) - 1]
        place = offset + (position - first) * width
        found = bisect_right(self._properties, place, key=itemgetter(0)) - 1
        return self._properties[found][1] if found >= 0 else {}

    def _read_paragraph(self, words: str, mark: str, properties: Properties) -> None:
        if properties.get(ROW_END_SPRM):
            self._end_row()
        elif mark == CELL_END:
            self._row.append("\n".join((*self._text, words)))
            self._text.clear()
        elif properties.get(ROW_SPRM):
            self._text.append(words)
        else:
            self._end_row()
            if (style := properties.get(STYLE, 0)) in HEADINGS:
                self._outline.add_heading(words, style)
            elif properties.get(LIST_SPRM) and words.strip():
                self._outline.add_item(words, depth=properties.get(LIST_LEVEL_SPRM, 0))
            else:
                self._outline.add(BlockKind.PARAGRAPH, words)

    def _end_row(self) -> None:
        if self._row:
            self._outline.add_row(self._row)
            self._row = []


def _paragraphs(text: str) -> Iterator[tuple[str, str, int]]:
    """(words, the mark that ends them, its position). A field yields its result, not its instruction."""
    words: list[str] = []
    fields: list[bool] = []  # those that are open: whether the result has begun
    for token in _TOKEN.finditer(text):
        mark = token.group()
        if mark == FIELD_BEGIN:
            fields = [*fields[-1_000:], False]
        elif mark in (FIELD_RESULT, FIELD_END):
            fields[-1:] = [True] if mark == FIELD_RESULT and fields else []
        elif not all(fields):
            continue
        elif mark in ENDS:
            yield "".join(words), mark, token.start()
            words = []
        else:
            words.append(_UNSPELLED.sub("", mark.translate(_SPELLED)))
    if words:
        yield "".join(words), LINE_END, len(text) - 1
