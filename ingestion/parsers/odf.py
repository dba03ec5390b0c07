"""Reads OpenDocument: texts in their order, sheets as tables, slides by their frames.

In: an ODT, ODS or ODP file. Out: a `Document`. It uses structure, not appearance; the style tells whether a list is
numbered. Pictures and formulas are not read.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree  # type: ignore[import-untyped] # lxml brings no types

from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.outline import Outline
from ingestion.parsers.sheets import MOST_COLUMNS, SheetRow, add_sheet
from ingestion.parsers.xml import Element, Package, attribute, child, local_name, stated_in, words_of
from ingestion.records import BlockKind, Document

_UNREAD_TEXT = (
    "tracked-changes sequence-decls forms annotation table-of-content alphabetical-index settings "
    "object object-ole image script event-listeners"
)
UNREAD = tuple(f"{{*}}{name}" for name in _UNREAD_TEXT.split())
DEEPEST_HEADING = 10
_BLANKS = re.compile(r"[ \t\r\n]+")
MOST_COPIES = 100  # of a cell or a blank
MOST_COPIED_CELLS = 2_000  # of a row with content, including its identical repetitions; a file may claim billions


def parse(path: Path, name: str) -> Document:
    """Raises SourceError: FILE_ENCRYPTED, FILE_DAMAGED (no content), FILE_TOO_HEAVY."""
    with Package(path) as package:
        manifest = package.tree("META-INF/manifest.xml")
        if manifest is not None and next(manifest.iter("{*}encryption-data"), None) is not None:
            raise SourceError(FailureCode.FILE_ENCRYPTED)
        content = package.tree("content.xml")
        body = next(content.iter("{*}body"), None) if content is not None else None
        if body is None:
            raise SourceError(FailureCode.FILE_DAMAGED, detail="no content")
        etree.strip_elements(body, *UNREAD, with_tail=False)
        reader = _Reader(content)
        slides = 0
        for part in body:
            kind = local_name(part)
            if kind == "presentation":
                slides = reader.read_slides(part)
            for table in part.iterchildren("{*}table") if kind == "spreadsheet" else ():
                reader.outline.add_heading(attribute(table, "name") or "", 1)
                add_sheet(reader.outline, _sheet_rows(table))
            if kind not in ("presentation", "spreadsheet"):
                reader.read_inside(part)
        meta = package.tree("meta.xml")
    return reader.outline.document(
        name,
        stated_in(meta, "title"),
        is_sheets=next(body.iterchildren("{*}spreadsheet"), None) is not None,
        author=stated_in(meta, "initial-creator") or stated_in(meta, "creator"),
        pages=slides or None,
    )


class _Reader:
    def __init__(self, content: Element) -> None:
        """`content` is the root, for its list styles."""
        self.outline = Outline()
        self._ordered = {
            (attribute(style, "name") or "", int(attribute(level, "level") or 0))
            for style in content.iter("{*}list-style")
            for level in style.iterchildren("{*}list-level-style-number")
            if attribute(level, "num-format")
        }

    def read(self, element: Element) -> None:
        """The element with its content."""
        match local_name(element):
            case "h" | "p":
                self._read_paragraph(element)
            case "list":
                self._read_list(element)
            case "table":
                for row in _rows(element):
                    cells = {column: text for column, text, _ in _cells(row)}
                    self.outline.add_row([cells.get(column, "") for column in range(max(cells, default=-1) + 1)])
                self.outline.flush()
            case _:
                self.read_inside(element)

    def read_inside(self, element: Element) -> None:
        """The content of an element, such as a section, frame, text box or group."""
        for inner in element:
            self.read(inner)

    def read_slides(self, presentation: Element) -> int:
        """Frames are in order of creation, so the title is looked up and becomes the slide's heading wherever it is."""
        pages = list(presentation.iterchildren("{*}page"))
        for number, page in enumerate(pages, start=1):
            self.outline.leave(1)
            self.outline.place = Locator(slide=number)
            title = next((frame for frame in page if attribute(frame, "class") == "title"), None)
            if title is not None:
                self.outline.add_heading(words_of(title), 1)
            for frame in page:
                if frame is not title:
                    self.read(frame)
        return len(pages)

    def _read_paragraph(self, element: Element) -> None:
        """With the notes referenced in it, and the text boxes anchored in it."""
        if local_name(element) == "h":
            level = attribute(element, "outline-level") or "1"
            self.outline.add_heading(_text(element), min(int(level), DEEPEST_HEADING) if level.isdecimal() else 1)
        else:
            self.outline.add(BlockKind.PARAGRAPH, _text(element))
        for note in element.iter("{*}note"):
            mark, body = words_of(child(note, "note-citation")), words_of(child(note, "note-body"))
            self.outline.add(BlockKind.PARAGRAPH, f"[{mark}] {body}")
        for box in element.iter("{*}text-box"):
            self.read_inside(box)

    def _read_list(self, element: Element, *, style: str = "", depth: int = 0) -> None:
        """Each paragraph of an item is a line, its nested lists follow; a heading in a list is a heading."""
        style = attribute(element, "style-name") or style
        for number, item in enumerate(element.iterchildren("{*}list-item", "{*}list-header"), start=1):
            mark = f"{number}." if (style, depth + 1) in self._ordered else "-"
            for inner in item:
                if local_name(inner) == "list":
                    self._read_list(inner, style=style, depth=depth + 1)
                elif local_name(inner) == "p":
                    self.outline.add_item(" ".join(_text(inner).split()), depth=depth, mark=mark)
                    mark = " " * len(mark)
                else:
                    self.read(inner)
        if depth == 0:
            self.outline.flush()


def _text(element: Element) -> str:
    return "".join(_pieces(element)).strip()


def _pieces(element: Element) -> Iterator[str]:
    """The text of a paragraph; blanks, tabs and line breaks are elements, those of the markup are one blank."""
    yield _BLANKS.sub(" ", element.text or "")
    for inner in element:
        match local_name(inner):
            case "s":
                yield " " * min(_count(inner, "c"), MOST_COPIES)
            case "tab":
                yield "\t"
            case "line-break":
                yield "\n"
            case "note":
                yield f"[{words_of(child(inner, 'note-citation'))}]"
            case "" | "text-box" | "frame":
                pass
            case _:
                yield from _pieces(inner)
        yield _BLANKS.sub(" ", inner.tail or "")


def _rows(table: Element) -> Iterator[Element]:
    """Rows of the table, without those of nested tables."""
    for element in table:
        if local_name(element) == "table-row":
            yield element
        elif local_name(element) in ("table-row-group", "table-header-rows", "table-rows"):
            yield from _rows(element)


def _cells(row: Element) -> Iterator[tuple[int, str, Element]]:
    """Column, text and element of each cell with text; a merged cell's text is in its first place."""
    column = 0
    for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell"):
        copies = _count(cell, "number-columns-repeated")
        text = "\n".join(filter(None, map(_text, cell.iter("{*}p", "{*}h"))))
        if text and local_name(cell) == "table-cell":
            for place in range(column, min(column + min(copies, MOST_COPIES), MOST_COLUMNS)):
                yield place, text, cell
        column += copies


def _sheet_rows(table: Element) -> Iterator[SheetRow]:
    """Rows with content, with the row numbers that the program shows."""
    number = 1
    for row in _rows(table):
        copies = _count(row, "number-rows-repeated")
        found = list(_cells(row))
        cells = {column: _iso_date(cell) or text for column, text, cell in found}
        has_values = any((attribute(cell, "value-type") or "string") != "string" for _, _, cell in found)
        for copy in range(min(copies, max(1, MOST_COPIED_CELLS // len(cells))) if cells else 0):
            yield SheetRow(number=number + copy, cells=cells, has_values=has_values)
        number += copies


def _iso_date(cell: Element) -> str:
    date = attribute(cell, "date-value") or ""
    return date.replace("T", " ").removesuffix(" 00:00:00").removesuffix(":00" if "T" in date else "")


def _count(element: Element, name: str) -> int:
    stated = attribute(element, name) or "1"
    return int(stated) if stated.isdecimal() and len(stated) < 10 else 1
