"""DOCX: paragraphs, headings, lists, tables, text boxes and notes in the order in which they are read.

In: a WordprocessingML file, transitional or strict. Out: a `Document` with heading paths. Pages are not known: Word
makes them when it shows the file.
"""

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import ParseError

from ingestion.errors import FailureCode, SourceError
from ingestion.language import detect_language
from ingestion.parsers.docx_package import Element, attribute, child, children, local_name, open_docx
from ingestion.parsers.docx_styles import DocxStyles, ListPlace
from ingestion.parsers.docx_tables import table_rows
from ingestion.parsers.docx_text import TABLE, body_elements, note_ids, paragraph_text, text_boxes
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.outline import Outline
from ingestion.parsers.tables import render_table
from ingestion.parsers.titles import choose_title
from ingestion.records import BlockKind, Document

DAMAGE = (zipfile.BadZipFile, zlib.error, ParseError, EOFError, NotImplementedError, RecursionError, ValueError)
INDENT = "  "


def accepts(file: FileInfo) -> bool:
    """An archive that holds a Word document."""
    return file.kind is FileKind.DOCX


def parse(path: Path, info: FileInfo) -> Document:
    """Raises SourceError: FILE_DAMAGED, FILE_TOO_HEAVY."""
    try:
        return _read(path, info)
    except DAMAGE as error:
        detail = f"{type(error).__name__}: {error}"
        raise SourceError(FailureCode.FILE_DAMAGED, name=info.name, detail=detail) from error


def _read(path: Path, info: FileInfo) -> Document:
    parts = open_docx(path, name=info.name)
    notes = {"footnoteReference": _note_texts(parts.footnotes), "endnoteReference": _note_texts(parts.endnotes)}
    reader = _Reader(DocxStyles(parts.styles, parts.numbering), notes)
    body = child(parts.document, "body")
    if body is not None:
        reader.read(body)
    blocks = tuple(reader.outline.blocks)
    return Document(
        title=choose_title(_property(parts.core, "title"), blocks, name=info.name),
        blocks=blocks,
        language=detect_language("\n".join(block.text for block in blocks)),
        author=_property(parts.core, "creator"),  # the date of creation is often the template's: not taken
    )


class _Reader:
    """Walks paragraphs and tables; neighbouring list items and code lines become one block."""

    def __init__(self, styles: DocxStyles, notes: Mapping[str, Mapping[str, str]]) -> None:
        self.outline = Outline()
        self._styles = styles
        self._notes = notes
        self._lines: list[str] = []
        self._lines_kind = BlockKind.LIST
        self._numbers: dict[tuple[str, int], int] = {}

    def read(self, container: Element) -> None:
        """Add all that a body or a text box holds."""
        for element in body_elements(container):
            if local_name(element) == TABLE:
                self._flush()
                self.outline.add(BlockKind.TABLE, render_table(table_rows(element)))
            else:
                self._read_paragraph(element)
            for box in text_boxes(element):
                self.read(box)
        self._flush()

    def _read_paragraph(self, paragraph: Element) -> None:
        properties = child(paragraph, "pPr")
        text = paragraph_text(paragraph)
        level = self._styles.heading_level(properties)
        place = self._styles.list_place(properties)
        if not text.strip():
            return
        if level is not None:
            self._flush()
            self.outline.add_heading(text, level)
        elif self._styles.is_code(properties):
            self._gather(BlockKind.CODE, text)
        elif place is not None:
            self._gather(BlockKind.LIST, self._bullet(place) + text.strip())
        else:
            self._flush()
            self.outline.add(BlockKind.PARAGRAPH, text)
        self._add_notes(paragraph)

    def _gather(self, kind: BlockKind, line: str) -> None:
        if self._lines and self._lines_kind is not kind:
            self._flush()
        self._lines_kind = kind
        self._lines.append(line)

    def _flush(self) -> None:
        self.outline.add(self._lines_kind, "\n".join(self._lines))
        self._lines.clear()

    def _bullet(self, place: ListPlace) -> str:
        """Numbers count on through the document for each list, and anew for a deeper level below each item."""
        for list_id, depth in list(self._numbers):
            if list_id == place.list_id and depth > place.depth:
                del self._numbers[list_id, depth]
        indent = INDENT * place.depth
        if not place.ordered:
            return f"{indent}- "
        number = self._numbers[place.list_id, place.depth] = self._numbers.get((place.list_id, place.depth), 0) + 1
        return f"{indent}{number}. "

    def _add_notes(self, paragraph: Element) -> None:
        found = [(identifier, self._notes[kind].get(identifier)) for kind, identifier in note_ids(paragraph)]
        for identifier, note in found:
            if note:
                self._flush()
                self.outline.add(BlockKind.PARAGRAPH, f"[{identifier}] {note}")


def _note_texts(part: Element | None) -> dict[str, str]:
    notes = [*children(part, "footnote"), *children(part, "endnote")]
    return {
        attribute(note, "id") or "": " ".join(" ".join(map(paragraph_text, children(note, "p"))).split())
        for note in notes
        if attribute(note, "type") in (None, "normal")
    }


def _property(core: Element | None, name: str) -> str | None:
    found = child(core, name)
    return found.text.strip() or None if found is not None and found.text else None
