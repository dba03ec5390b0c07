"""Reads DOC, the binary Word format of 1997 to 2003: paragraphs, headings, lists, tables, notes.

In: an OLE2 file with a Word document. Out: a `Document`. `doc_file` knows the format; this module turns its paragraphs
into blocks. Libraries for DOC need another program, and people still have many such files.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.language import language_of
from ingestion.parsers.doc_file import BadDoc, DocText, ParagraphFacts, is_encrypted, read_doc, table_name
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.outline import INDENT, Outline
from ingestion.parsers.tables import render_table
from ingestion.parsers.titles import choose_title
from ingestion.records import Block, BlockKind, Document

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


def accepts(file: FileInfo) -> bool:
    """An OLE2 file with Word's stream."""
    return file.kind is FileKind.DOC


def parse(path: Path, info: FileInfo) -> Document:
    """Raises SourceError: FILE_ENCRYPTED, FILE_DAMAGED (also for Word 95 and older)."""
    # Imported here: few files are of this kind.
    import olefile  # type: ignore[import-untyped] # it brings no types

    with olefile.OleFileIO(str(path)) as container:
        document = container.openstream("WordDocument").read()
        if is_encrypted(document):
            raise SourceError(FailureCode.FILE_ENCRYPTED, name=info.name)
        try:
            text = read_doc(document, container.openstream(table_name(document)).read())
        except (BadDoc, OSError) as error:
            raise SourceError(FailureCode.FILE_DAMAGED, name=info.name, detail=str(error)) from error
    blocks = _Reader(text).read()
    return Document(
        title=choose_title(None, blocks, name=info.name),
        blocks=blocks,
        language=language_of(blocks),
    )


class _Reader:
    """Reads the body paragraph by paragraph, then notes and text boxes."""

    def __init__(self, text: DocText) -> None:
        self._source = text
        self._outline = Outline()
        self._text: list[str] = []
        self._row: list[str] = []
        self._rows: list[list[str]] = []

    def read(self) -> Sequence[Block]:
        """All blocks."""
        for words, mark, position in _paragraphs(self._source.body):
            self._read_paragraph(words, mark, self._source.facts(position))
        self._end_table()
        for part in (self._source.notes, self._source.end_notes, self._source.boxes):
            for words, _, _ in _paragraphs(part):
                self._outline.add(BlockKind.PARAGRAPH, words)
        return self._outline.finish()

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
            self._add(words, facts)

    def _add(self, words: str, facts: ParagraphFacts) -> None:
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
