"""Turns HTML that is all text into blocks: chapters of books, bodies of letters, tables exported as documents.

In: markup without menus and advertisements (`html` reads web pages), such as that saved as .doc or .xls. Out: headings,
paragraphs, lists, tables and code on an outline; only invisible content is left out. Nothing is loaded.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from lxml import html as lxml_html  # type: ignore[import-untyped] # lxml brings no types
from lxml.etree import ParserError  # type: ignore[import-untyped] # lxml brings no types

from ingestion.parsers.encodings import decode_page
from ingestion.parsers.outline import Outline, render_table
from ingestion.parsers.xml import Element, local_name
from ingestion.records import BlockKind, Document

_UNREAD_TEXT = "script style head template noscript iframe object svg select button input audio video rt"
UNREAD = frozenset(_UNREAD_TEXT.split())
_BLOCKS_TEXT = (
    "p div section article aside header footer main nav figure figcaption blockquote address center dl dt dd form "
    "fieldset body html caption hr details summary"
)
BLOCKS = frozenset(_BLOCKS_TEXT.split())
HEADINGS = {f"h{level}": level for level in range(1, 7)}
LISTS = frozenset({"ul", "ol", "menu"})
FEWEST_TABLE_CELLS = 2  # in each direction; smaller tables are for layout, as in letters
SOFT_HYPHEN = "\u00ad"
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_BLANKS = re.compile(r"[ \t\r\n\f\u200b]+")
_SPACES = re.compile(r" {2,}")
_AROUND_BREAKS = re.compile(r" *\n *")
_EMPTY_LINES = re.compile(r"\n{2,}")  # old pages separate paragraphs by two line breaks
_HIDDEN_STYLE = re.compile(
    r"(^|;)\s*(display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(\.0+)?\s*(;|!|$)"
    r"|font-size\s*:\s*0(px|em|rem|pt|%)?\s*(;|!|$)|text-indent\s*:\s*-\d{3,}|(left|top)\s*:\s*-\d{4,}px)",
    re.IGNORECASE,
)
_COLOURS = re.compile(r"(?:^|;)\s*(color|background(?:-color)?)\s*:\s*([^;!]+)", re.IGNORECASE)


def add_markup(outline: Outline, source: str) -> None:
    """Add all text of `source`. Tolerates any markup."""
    text = _XML_DECLARATION.sub("", source).encode(errors="replace")  # the parser ends a text at a lone surrogate
    parser = lxml_html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    with suppress(ParserError):  # nothing is in it
        add_tree(outline, lxml_html.document_fromstring(text, parser=parser, ensure_head_body=True))


def add_tree(outline: Outline, root: Element) -> None:
    """The same for markup that is parsed already."""
    reader = _Reader(outline)
    reader.read(root)
    reader.close()


class _Reader:
    """Walks the tree once; inline text is collected until a block begins or ends."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._text: list[str] = []
        self._numbers: list[int | None] = []  # of each open list the next number; None for unordered ones
        self._mark = ""  # of the item that has begun
        self._steps: Mapping[str, Callable[[Element], None]] = {
            **dict.fromkeys(HEADINGS, self._read_heading),
            **dict.fromkeys(LISTS, self._read_list),
            **dict.fromkeys(BLOCKS, self._read_block),
            "li": self._read_item,
            "table": self._read_table,
            "br": lambda _: self._text.append("\n"),
        }

    def read(self, element: Element) -> None:
        """The element with its content, without the text after it."""
        name = local_name(element)
        if name in UNREAD or not name or is_hidden(element):
            return
        if name == "pre":
            self.close()
            self._outline.add(BlockKind.CODE, "".join(element.itertext()))
        else:
            self._steps.get(name, self._read_inside)(element)

    def close(self) -> None:
        """End the open paragraph or list item."""
        text = _AROUND_BREAKS.sub("\n", _SPACES.sub(" ", "".join(self._text))).strip()
        self._text.clear()
        if text and self._numbers:
            self._outline.add_item(text, depth=len(self._numbers) - 1, mark=self._mark or " ")
            self._mark = ""
        for part in () if self._numbers else _EMPTY_LINES.split(text):
            self._outline.add(BlockKind.PARAGRAPH, part)

    def _read_inside(self, element: Element) -> None:
        self._add_text(element.text)
        for inner in element:
            self.read(inner)
            self._add_text(inner.tail)

    def _add_text(self, text: str | None) -> None:
        if text:
            self._text.append(_BLANKS.sub(" ", text.replace(SOFT_HYPHEN, "")))

    def _read_block(self, element: Element) -> None:
        self.close()
        self._read_inside(element)
        self.close()

    def _read_heading(self, element: Element) -> None:
        if self._numbers:
            self._read_block(element)
        else:
            self.close()
            self._outline.add_heading(_flat(element), HEADINGS[local_name(element)])

    def _read_list(self, element: Element) -> None:
        self.close()
        if not self._numbers:
            self._outline.flush()
        start = element.get("start", "")
        first = int(start) if start.isdecimal() and len(start) < 6 else 1
        self._numbers.append(first if local_name(element) == "ol" else None)
        self._read_inside(element)
        self.close()
        self._numbers.pop()
        if not self._numbers:
            self._outline.flush()

    def _read_item(self, element: Element) -> None:
        self.close()
        above = self._numbers  # none of an item that stands alone
        self._numbers = above or [None]
        number = self._numbers[-1]
        if number is not None:
            self._numbers[-1] = number + 1
        self._mark = "-" if number is None else f"{number}."
        self._read_inside(element)
        self.close()
        self._mark = ""
        self._numbers = above

    def _read_table(self, element: Element) -> None:
        rows = [list(row.iterchildren("td", "th")) for row in element.iter("tr")]
        is_wide = len(rows) >= FEWEST_TABLE_CELLS and max(map(len, rows)) >= FEWEST_TABLE_CELLS
        if not (is_wide or element.find(".//th") is not None) or element.find(".//table") is not None:
            self._read_layout(element)
            return
        self.close()
        for caption in element.findall("caption"):
            self._outline.add(BlockKind.PARAGRAPH, _flat(caption), is_name=True)
        self._outline.add(BlockKind.TABLE, render_table([[_flat(cell) for cell in row] for row in rows]))

    def _read_layout(self, element: Element) -> None:
        """Read each cell of a layout table as a block."""
        self.close()
        for inner in element:
            if local_name(inner) in ("td", "th"):
                self._read_block(inner)
            elif local_name(inner) in ("tr", "tbody", "thead", "tfoot"):
                self._read_layout(inner)
            else:
                self.read(inner)
        self.close()


def _flat(element: Element) -> str:
    """The text on one line, with blanks between inner blocks."""
    return " ".join("".join(_pieces(element)).replace(SOFT_HYPHEN, "").split())


def _pieces(element: Element) -> Iterator[str]:
    name = local_name(element)
    if name in UNREAD or is_hidden(element):
        return
    separator = " " if name in BLOCKS or name in LISTS or name in ("br", "li", "td", "th") else ""
    yield separator
    yield element.text or ""
    for inner in element:
        yield from _pieces(inner)
        yield inner.tail or ""
    yield separator


def is_hidden(element: Element) -> bool:
    """By its own attributes; also white on white: text and background of the same colour."""
    style = element.get("style", "")
    colours = {name.lower().removesuffix("-color"): value.strip().lower() for name, value in _COLOURS.findall(style)}
    is_invisible = "color" in colours and colours["color"] == colours.get("background")
    return element.get("hidden") is not None or bool(_HIDDEN_STYLE.search(style)) or is_invisible


def parse(path: Path, name: str) -> Document:
    """Raises no errors of its own."""
    outline = Outline()
    add_markup(outline, decode_page(path.read_bytes()))
    return outline.document(name)
