"""Reads the flow of an OpenDocument text: headings, paragraphs, lists, tables, notes, in order.

In: elements of `office:text`, of frames on slides, or of anything that contains them. Out: blocks on an outline. It
uses structure, not appearance; the style tells whether a list is numbered.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from ingestion.parsers.outline import INDENT, Outline
from ingestion.parsers.tables import render_table
from ingestion.parsers.xml_trees import Element, attribute, child, local_name, words_of
from ingestion.records import BlockKind

_UNREAD_TEXT = (
    "tracked-changes sequence-decls forms annotation table-of-content alphabetical-index settings "
    "object object-ole image note-citation script event-listeners"
)
UNREAD = frozenset(_UNREAD_TEXT.split())
MOST_BLANKS = 100  # that one element may represent
WIDEST_SPAN = 100  # columns
DEEPEST_HEADING = 10

_BLANKS = re.compile(r"[ \t\r\n]+")


class OdfReader:
    """Reads elements one after another; counts numbered lists."""

    def __init__(self, outline: Outline, content: Element) -> None:
        """`content` is the root, for its list styles."""
        self._outline = outline
        self._ordered = _ordered_levels(content)
        self._depth = 0
        self._steps: Mapping[str, Callable[[Element], None]] = {
            "h": self._read_heading,
            "p": self._read_paragraph,
            "list": self._read_list,
            "table": self._read_table,
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

    def _read_heading(self, element: Element) -> None:
        level = attribute(element, "outline-level") or "1"
        self._outline.add_heading(_text(element), min(int(level), DEEPEST_HEADING) if level.isdecimal() else 1)

    def _read_paragraph(self, element: Element) -> None:
        self._outline.add(BlockKind.PARAGRAPH, _text(element))
        self._read_hanging(element)

    def _read_hanging(self, element: Element) -> None:
        """Notes referenced in a paragraph, and text boxes anchored in it."""
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
            bullet = f"{number}. " if is_ordered else "- "
            self._read_item(item, INDENT * depth + bullet, style=style, depth=depth)
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

    def _read_table(self, element: Element) -> None:
        self._outline.add(BlockKind.TABLE, render_table([_cells(row) for row in _table_rows(element)]))


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
        elif local_name(element) in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _table_rows(element)


def _cells(row: Element) -> list[str]:
    """Texts of the cells; a merged cell's text is in its first place."""
    cells: list[str] = []
    for cell in row:
        name = local_name(cell)
        if name in ("table-cell", "covered-table-cell"):
            repeated = attribute(cell, "number-columns-repeated") or "1"
            count = min(int(repeated), WIDEST_SPAN) if repeated.isdecimal() and len(repeated) < 9 else 1
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
            count = attribute(inner, "c") or "1"
            yield " " * min(int(count), MOST_BLANKS) if count.isdecimal() and len(count) < 9 else " "
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
