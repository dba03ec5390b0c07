"""Reads OpenDocument: texts in their order, sheets as tables, slides by their frames.

In: an ODT, ODS or ODP file. Out: a `Document`. It uses structure, not appearance; the style tells whether a list is
numbered. Pictures and formulas are not read.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.outline import INDENT, Outline, render_table
from ingestion.parsers.sheets import MOST_COLUMNS, SheetRow, add_sheet
from ingestion.parsers.xml import Element, Package, attribute, child, local_name, stated_in, words_of
from ingestion.records import BlockKind, Document

_UNREAD_TEXT = (
    "tracked-changes sequence-decls forms annotation table-of-content alphabetical-index settings "
    "object object-ole image note-citation script event-listeners"
)
UNREAD = frozenset(_UNREAD_TEXT.split())
WIDEST_SPAN = 100  # columns
DEEPEST_HEADING = 10
_BLANKS = re.compile(r"[ \t\r\n]+")
MOST_COPIED_CELLS = 2_000  # of a row with content, including its identical repetitions; a file may claim billions
CELLS = frozenset({"table-cell", "covered-table-cell"})
CONTENT = "content.xml"
META = "meta.xml"


class OdfReader:
    """Reads elements one after another; counts numbered lists."""

    def __init__(self, outline: Outline, content: Element) -> None:
        """`content` is the root, for its list styles."""
        self._outline = outline
        self._ordered = _ordered_levels(content)
        self._steps: Mapping[str, Callable[[Element], None]] = {
            "h": self._read_paragraph,
            "p": self._read_paragraph,
            "list": self._read_list,
            "table": lambda table: outline.add(BlockKind.TABLE, render_table(list(map(_cells, _table_rows(table))))),
        }

    def read(self, element: Element) -> None:
        """The element with its content."""
        name = local_name(element)
        if name and name not in UNREAD:
            self._steps.get(name, self.read_inside)(element)

    def read_inside(self, element: Element) -> None:
        """The content of an element, such as a section, frame, text box or group."""
        for inner in element:
            self.read(inner)

    def _read_paragraph(self, element: Element) -> None:
        """With the notes referenced in it, and the text boxes anchored in it."""
        if local_name(element) == "h":
            level = attribute(element, "outline-level") or "1"
            self._outline.add_heading(_text(element), min(int(level), DEEPEST_HEADING) if level.isdecimal() else 1)
        else:
            self._outline.add(BlockKind.PARAGRAPH, _text(element))
        for note in element.iter("{*}note"):
            mark, body = words_of(child(note, "note-citation")), words_of(child(note, "note-body"))
            self._outline.add(BlockKind.PARAGRAPH, f"[{mark}] {body}")
        for box in element.iter("{*}text-box"):
            self.read_inside(box)

    def _read_list(self, element: Element, *, style: str = "", depth: int = 0) -> None:
        style = attribute(element, "style-name") or style
        is_ordered = (style, depth + 1) in self._ordered
        number = 0
        for item in element:
            if local_name(item) not in ("list-item", "list-header"):
                continue
            number += 1
            bullet = INDENT * depth + (f"{number}. " if is_ordered else "- ")
            self._read_item(item, bullet, style=style, depth=depth)
        if depth == 0:
            self._outline.flush()

    def _read_item(self, item: Element, bullet: str, *, style: str, depth: int) -> None:
        """The item's paragraphs, each on one line, then its nested lists; a heading in a list is a heading."""
        for inner in item:
            name = local_name(inner)
            if name == "list":
                self._read_list(inner, style=style, depth=depth + 1)
            elif name == "p":
                self._outline.add_line(BlockKind.LIST, bullet + " ".join(_text(inner).split()))
                bullet = " " * len(bullet)
            else:
                self.read(inner)


def _ordered_levels(content: Element) -> frozenset[tuple[str, int]]:
    return frozenset(
        (attribute(style, "name") or "", int(attribute(level, "level") or 0))
        for style in content.iter("{*}list-style")
        for level in style.iterchildren("{*}list-level-style-number")
        if attribute(level, "num-format")
    )


def _table_rows(table: Element) -> Iterator[Element]:
    """Rows of the table, without those of nested tables."""
    for element in table:
        if local_name(element) == "table-row":
            yield element
        elif local_name(element) in ("table-row-group", "table-header-rows", "table-rows"):
            yield from _table_rows(element)


def _cells(row: Element) -> list[str]:
    """Texts of the cells; a merged cell's text is in its first place."""
    cells: list[str] = []
    for cell in row:
        name = local_name(cell)
        if name in CELLS:
            count = min(_count(cell, "number-columns-repeated"), WIDEST_SPAN)
            lines = (_text(line) for line in cell.iter("{*}p", "{*}h"))
            cells.extend([" ".join(filter(None, lines)) if name == "table-cell" else ""] * count)
    return cells


def _text(element: Element) -> str:
    return "".join(_pieces(element)).strip()


def _pieces(element: Element) -> Iterator[str]:
    """The text of a paragraph; blanks, tabs and line breaks are elements."""
    yield _blanks(element.text)
    for inner in element:
        name = local_name(inner)
        if name == "s":
            yield " " * min(_count(inner, "c"), 100)
        elif name == "tab":
            yield "\t"
        elif name == "line-break":
            yield "\n"
        elif name == "note":
            yield f"[{words_of(child(inner, 'note-citation'))}]"
        elif name and name not in UNREAD and name not in ("text-box", "frame"):
            yield from _pieces(inner)
        yield _blanks(inner.tail)


def _blanks(text: str | None) -> str:
    """Collapse blanks and line ends of the markup into one blank."""
    return _BLANKS.sub(" ", text or "")


def read_rows(table: Element) -> Iterator[SheetRow]:
    """Rows with content, with the row numbers that the program shows."""
    number = 1
    for row in _table_rows(table):
        copies = _count(row, "number-rows-repeated")
        cells, has_values = _read_cells(row)
        for copy in range(min(copies, max(1, MOST_COPIED_CELLS // len(cells))) if cells else 0):
            yield SheetRow(number=number + copy, cells=cells, has_values=has_values)
        number += copies


def _read_cells(row: Element) -> tuple[dict[int, str], bool]:
    """Texts by column, and whether there is a number or date among them."""
    cells: dict[int, str] = {}
    has_values = False
    column = 0
    for cell in row:
        if local_name(cell) not in CELLS or column >= MOST_COLUMNS:
            continue
        copies = _count(cell, "number-columns-repeated")
        text, kind = _cell_text(cell), attribute(cell, "value-type") or "string"
        if text:
            cells.update(dict.fromkeys(range(column, min(column + min(copies, 100), MOST_COLUMNS)), text))
            has_values = has_values or kind != "string"
        column += copies
    return cells, has_values


def _cell_text(cell: Element) -> str:
    """The displayed text; dates in ISO format."""
    date = attribute(cell, "date-value")
    if date is not None:
        return date.replace("T", " ").removesuffix(" 00:00:00").removesuffix(":00" if "T" in date else "")
    lines = (words_of(line) for line in cell if local_name(line) not in ("", "annotation"))
    return "\n".join(filter(None, lines))


def _count(element: Element, name: str) -> int:
    stated = attribute(element, name) or "1"
    return int(stated) if stated.isdecimal() and len(stated) < 10 else 1


def parse(path: Path, info: FileInfo) -> Document:
    """Raises SourceError: FILE_ENCRYPTED, FILE_DAMAGED (no content), FILE_TOO_HEAVY."""
    with Package(path) as package:
        manifest = package.tree("META-INF/manifest.xml")
        if manifest is not None and next(manifest.iter("{*}encryption-data"), None) is not None:
            raise SourceError(FailureCode.FILE_ENCRYPTED)
        content = package.tree(CONTENT)
        body = next(content.iter("{*}body"), None) if content is not None else None
        if body is None:
            raise SourceError(FailureCode.FILE_DAMAGED, detail="no content")
        outline = Outline()
        reader = OdfReader(outline, content)
        slides = 0
        for part in body:
            kind = local_name(part)
            if kind == "presentation":
                slides = _read_slides(outline, part, reader)
            for table in part.iterchildren("{*}table") if kind == "spreadsheet" else ():
                outline.add_heading(attribute(table, "name") or "", 1)
                add_sheet(outline, read_rows(table))
            if kind not in ("presentation", "spreadsheet"):
                reader.read_inside(part)
        meta = package.tree(META)
    return outline.document(
        info.name,
        stated_in(meta, "title"),
        is_sheets=info.kind is FileKind.ODS,
        author=stated_in(meta, "initial-creator") or stated_in(meta, "creator"),
        pages=slides or None,
    )


def _read_slides(outline: Outline, presentation: Element, reader: OdfReader) -> int:
    """Frames are in order of creation, so the title is looked up and becomes the slide's heading wherever it is."""
    pages = list(presentation.iterchildren("{*}page"))
    for number, page in enumerate(pages, start=1):
        outline.leave(1)
        outline.place = Locator(slide=number)
        frames = list(page)
        title = next((frame for frame in frames if attribute(frame, "class") == "title"), None)
        if title is not None:
            outline.add_heading(words_of(title), 1)
        for frame in frames:
            if frame is not title:
                reader.read(frame)
    return len(pages)
