"""Reads DOCX by python-docx: paragraphs, headings, lists, tables, text boxes and notes in reading order.

In: a WordprocessingML file, transitional or strict. Out: a `Document` with heading paths. Page numbers are unknown:
Word computes pages when it displays the file.
"""

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from docx.opc.exceptions import OpcError
from docx.oxml.exceptions import XmlchemyError
from docx.oxml.text.paragraph import CT_P

from ingestion.errors import FailureCode, SourceError
from ingestion.language import language_of
from ingestion.parsers.docx_flow import Rows, read_body, words
from ingestion.parsers.docx_package import open_docx
from ingestion.parsers.docx_styles import NO_LIST, DocxStyles, Role
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.outline import INDENT, Outline
from ingestion.parsers.tables import render_table
from ingestion.parsers.titles import choose_title
from ingestion.records import Block, BlockKind, Document

ARCHIVE_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)
XML_DAMAGE = (SyntaxError, XmlchemyError, ValueError, RecursionError)  # lxml's XMLSyntaxError is a SyntaxError
PACKAGE_DAMAGE = (OpcError, LookupError, AttributeError, TypeError)  # parts missing, or of another type than declared
"""What python-docx raises on fuzzed files."""

OUT_OF_MEMORY = 2  # libxml2's XML_ERR_NO_MEMORY; lxml raises an XMLSyntaxError with this code


def accepts(file: FileInfo) -> bool:
    """An archive that contains a Word document."""
    return file.kind is FileKind.DOCX


def parse(path: Path, info: FileInfo) -> Document:
    """Raises SourceError: FILE_DAMAGED, FILE_TOO_HEAVY."""
    try:
        return _read(path, info)
    except (*ARCHIVE_DAMAGE, *XML_DAMAGE, *PACKAGE_DAMAGE) as error:
        is_short = getattr(error, "code", None) == OUT_OF_MEMORY
        code = FailureCode.FILE_TOO_HEAVY if is_short else FailureCode.FILE_DAMAGED
        raise SourceError(code, name=info.name, detail=f"{type(error).__name__}: {error}") from error


def _read(path: Path, info: FileInfo) -> Document:
    with open_docx(path, name=info.name) as opened:
        reader = _Reader(DocxStyles(opened.parts))
        for element in read_body(opened.main, opened.parts):
            reader.read(element)
        stated = opened.parts.core_properties
    blocks = reader.finish()
    return Document(
        title=choose_title(stated.title, blocks, name=info.name),
        blocks=blocks,
        language=language_of(blocks),
        author=stated.author.strip() or None,  # the creation date is often the template's, so it is ignored
    )


class _Reader:
    """Reads paragraphs and tables; adjacent list items or code lines become one block."""

    def __init__(self, styles: DocxStyles) -> None:
        self._outline = Outline()
        self._styles = styles
        self._counts: dict[int, dict[int, int]] = {}  # by list and depth

    def read(self, element: CT_P | Rows) -> None:
        """Add the next child of the body."""
        if isinstance(element, list):
            self._outline.add(BlockKind.TABLE, render_table(element))
            return
        text = words(element)
        if text.strip():
            self._read_paragraph(self._styles.role(element), text)

    def finish(self) -> Sequence[Block]:
        """All blocks, after the last element."""
        return self._outline.finish()

    def _read_paragraph(self, role: Role, text: str) -> None:
        if role.heading_level is not None:
            self._outline.add_heading(text, role.heading_level)
        elif role.is_code:
            self._outline.add_line(BlockKind.CODE, text)
        elif role.list_id != NO_LIST:
            self._outline.add_line(BlockKind.LIST, self._bullet(role.list_id, role.depth) + text.strip())
        else:
            self._outline.add(BlockKind.PARAGRAPH, text)

    def _bullet(self, list_id: int, depth: int) -> str:
        """Numbers continue through the document for each list; deeper levels restart below each item."""
        indent = INDENT * depth
        counts = self._counts.setdefault(list_id, {})
        for deeper in [level for level in counts if level > depth]:
            del counts[deeper]
        if not self._styles.is_ordered(list_id, depth):
            return f"{indent}- "
        counts[depth] = counts.get(depth, 0) + 1
        return f"{indent}{counts[depth]}. "
