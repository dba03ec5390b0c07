"""Reads DOCX: paragraphs, headings, lists, tables, text boxes and notes in reading order.

In: a WordprocessingML file, transitional or strict: elements are known by their local names. Out: a `Document` with
heading paths. The main part is streamed by paragraphs and rows; what is deleted is left out, text boxes and notes
follow the paragraph that they belong to. Fonts and colours are ignored. Page numbers are unknown: Word computes pages
when it displays the file. python-docx is not used: it holds the tree and every picture, and skips all that is wrapped.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lxml import etree  # type: ignore[import-untyped] # it brings no types

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import INDENT, Outline, render_table
from ingestion.parsers.xml import Element, Package, attribute, child, local_name, stated_in, stream_elements
from ingestion.records import BlockKind, Document

LARGEST_MAIN_BYTES = 64 * 1024 * 1024  # inflated: a shelf of books
UNREAD = ("{*}del", "{*}moveFrom", "{*}tabs", "{*}Fallback")
"""Deletions, definitions of tab stops, and the fallback copies of drawings."""
WRAPPERS = frozenset({"sdt", "sdtContent", "ins", "moveTo", "customXml", "AlternateContent", "Choice"})
"""Elements around paragraphs, tables, rows and cells."""
CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
NOTE_PARTS = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
WORDS = tuple(f"{{*}}{name}" for name in ("t", *CHARACTERS, *NOTE_PARTS))
WIDEST_SPAN = 100  # columns; a damaged file may claim any number
HEADING_STYLE = re.compile(r"(?:heading|заголовок)\s*(\d)", re.IGNORECASE)
TITLE_STYLES = frozenset({"title", "название"})
CODE_STYLES = frozenset({"html preformatted", "code", "source code", "preformatted text", "plain text"})
BODY_OUTLINE_LEVEL = 9  # in w:outlineLvl, 0 is the outermost heading and 9 is no heading
DEEPEST_LIST_LEVEL = 8  # Word has nine levels; a damaged file may claim any number
NO_LIST = "0"  # this w:numId takes a paragraph out of its style's list
UNORDERED_FORMATS = frozenset({None, "bullet", "none"})


@dataclass(frozen=True, kw_only=True)
class Role:
    """The role of a paragraph in its document."""

    heading_level: int | None = None  # 1 is the outermost; None: no heading
    list_id: str = NO_LIST
    depth: int = 0  # in the list; 0 is the outermost
    is_code: bool = False  # line breaks and spaces are significant


PLAIN = Role()


def parse(path: Path, info: FileInfo) -> Document:
    """Raises SourceError: FILE_DAMAGED (no main part), FILE_TOO_HEAVY."""
    with Package(path) as package:
        main = next((link.target for link in package.relations("").values() if link.kind == "officeDocument"), "")
        if main not in package.names:
            raise SourceError(FailureCode.FILE_DAMAGED, detail="no main part")
        related = {link.kind: link.target for link in package.relations(main).values()}
        parts = {
            kind: package.tree(related[kind]) for kind in (*_Reader.PARTS, *NOTE_PARTS.values()) if kind in related
        }
        reader = _Reader(parts)
        with package.stream(main, most_bytes=LARGEST_MAIN_BYTES) as stream:
            for element in stream_elements(stream, "{*}p", "{*}tr", "{*}tbl", is_whole=_is_of_body):
                reader.read(element)
        core = package.tree("docProps/core.xml")
    # The creation date is often the template's, so it is ignored.
    return reader.outline.document(info.name, stated_in(core, "title"), author=stated_in(core, "creator"))


def _is_of_body(element: Element) -> bool:
    """Whether a paragraph, table or row stands in no other one."""
    above = element.getparent()
    while above is not None and local_name(above) in WRAPPERS:
        above = above.getparent()
    holder = "" if above is None else local_name(above)
    return holder == "body" or (holder == "tbl" and local_name(element) == "tr" and _is_of_body(above))


class _Reader:
    """Reads paragraphs and rows; adjacent list items or code lines become one block."""

    PARTS = ("styles", "numbering")

    def __init__(self, parts: Mapping[str, Element]) -> None:
        """`parts` are the roots of those related to the main one, by kind."""
        self.outline = Outline()
        self._notes = {mark: _note_texts(parts.get(kind)) for mark, kind in NOTE_PARTS.items()}
        self._styles = {attribute(style, "styleId"): style for style in parts.get("styles", ())}
        self._roles: dict[str | None, Role] = {None: PLAIN}  # of styles
        self._formats = _list_formats(parts.get("numbering", ()))
        self._counts: dict[str, dict[int, int]] = {}  # by list and depth
        self._rows: list[list[str]] = []  # of the open table

    def read(self, element: Element) -> None:
        """Add the next paragraph, or row or end of a table, of the body or of a text box; `element` is changed."""
        name = local_name(element)
        if name == "tr":
            self._rows.append(self._cells(element))
        elif name == "tbl":
            self._rows += map(self._cells, _content(element, "tr"))  # none is left of a table that was streamed
            self.outline.add(BlockKind.TABLE, render_table(self._rows))
            self._rows = []
        else:
            text, boxes, notes = self._words(element)
            if text.strip():
                self._add(self._role(element), text)
            for inner in (each for box in boxes for each in _content(box, "p", "tbl")):
                self.read(inner)
            for note in notes:
                self.outline.add(BlockKind.PARAGRAPH, note)

    def _words(self, paragraph: Element) -> tuple[str, list[Element], list[str]]:
        """The text, including links, fields and formulas; the text boxes, which are taken out; the notes."""
        etree.strip_elements(paragraph, *UNREAD, with_tail=False)
        boxes = list(paragraph.iter("{*}txbxContent"))
        for box in boxes:
            box.getparent().remove(box)
        pieces, notes = [], []
        for inner in paragraph.iter(*WORDS):
            name = local_name(inner)
            if name in NOTE_PARTS:
                key = attribute(inner, "id")
                pieces.append(f"[{key}]")
                notes += [f"[{key}] {note}"] if (note := self._notes[name].get(key)) else []
            else:
                pieces.append(CHARACTERS.get(name) or inner.text or "")
        return "".join(pieces), boxes, notes

    def _add(self, role: Role, text: str) -> None:
        if role.heading_level is not None:
            self.outline.add_heading(text, role.heading_level)
        elif role.is_code:
            self.outline.add_line(BlockKind.CODE, text)
        elif role.list_id != NO_LIST:
            self.outline.add_line(BlockKind.LIST, self._bullet(role.list_id, role.depth) + text.strip())
        else:
            self.outline.add(BlockKind.PARAGRAPH, text)

    def _bullet(self, list_id: str, depth: int) -> str:
        """Numbers continue through the document for each list; deeper levels restart below each item."""
        counts = self._counts.setdefault(list_id, {})
        for deeper in [level for level in counts if level > depth]:
            del counts[deeper]
        if self._formats.get(list_id, {}).get(str(depth)) in UNORDERED_FORMATS:
            return f"{INDENT * depth}- "
        counts[depth] = counts.get(depth, 0) + 1
        return f"{INDENT * depth}{counts[depth]}. "

    def _cells(self, row: Element) -> list[str]:
        """A merged cell's text is in its first place, and the places it covers are empty."""
        cells = [""] * _count(child(row, "trPr"), "gridBefore", 0)
        for cell in _content(row, "tc"):
            properties = child(cell, "tcPr")
            merge = None if properties is None else child(properties, "vMerge")
            is_covered = merge is not None and attribute(merge, "val") in (None, "continue")
            cells.append("" if is_covered else "\n".join(filter(str.strip, self._lines(cell))))
            cells.extend([""] * (_count(properties, "gridSpan", 1) - 1))
        return cells

    def _lines(self, container: Element) -> Iterator[str]:
        """The paragraphs of a cell or box; each row of a table inside is one line."""
        for element in _content(container, "p", "tbl"):
            if local_name(element) == "tbl":
                yield from ("; ".join(filter(None, self._cells(row))) for row in _content(element, "tr"))
            else:
                text, boxes, notes = self._words(element)
                yield text
                for box in boxes:
                    yield from self._lines(box)
                yield from notes

    def _role(self, paragraph: Element) -> Role:
        """By a paragraph's own properties, then its style, then the styles that one is based on."""
        properties = child(paragraph, "pPr")
        return PLAIN if properties is None else _refine(self._style(_value(properties, "pStyle")), "", properties)

    def _style(self, style_id: str | None) -> Role:
        if style_id not in self._roles:
            self._roles[style_id] = PLAIN  # the value for a cycle of styles
            if (style := self._styles.get(style_id)) is not None:
                name = (_value(style, "name") or "").lower()
                self._roles[style_id] = _refine(self._style(_value(style, "basedOn")), name, child(style, "pPr"))
        return self._roles[style_id]


def _refine(base: Role, name: str, properties: Element | None) -> Role:
    """A role by a style's name ("" for a paragraph) and properties; `base` where these say nothing."""
    numbering = None if properties is None else child(properties, "numPr")
    outline = _value(properties, "outlineLvl")
    if not name and numbering is None and outline is None:
        return base
    level = base.heading_level if outline is None else int(outline) + 1
    if (found := HEADING_STYLE.fullmatch(name)) or name in TITLE_STYLES:
        level = max(1, int(found.group(1))) if found else 1
    return Role(
        heading_level=level if level is None or level <= BODY_OUTLINE_LEVEL else None,
        list_id=_value(numbering, "numId") or base.list_id,
        depth=min(int(_value(numbering, "ilvl") or base.depth), DEEPEST_LIST_LEVEL),
        is_code=base.is_code or name in CODE_STYLES,
    )


def _content(container: Element, *names: str) -> Iterator[Element]:
    """The children with these names, also those in wrappers."""
    for element in container:
        if (name := local_name(element)) in names:
            yield element
        elif name in WRAPPERS:
            yield from _content(element, *names)


def _value(element: Element | None, name: str) -> str | None:
    found = None if element is None else child(element, name)
    return None if found is None else attribute(found, "val")


def _count(properties: Element | None, name: str, least: int) -> int:
    stated = _value(properties, name) or ""
    return min(max(int(stated), least), WIDEST_SPAN) if stated.isdecimal() else least


def _list_formats(numbering: Element) -> dict[str | None, dict[str | None, str | None]]:
    """List id -> depth -> format of its numbers; lists may share their definition."""
    shared = {
        attribute(element, "abstractNumId"): {
            attribute(level, "ilvl"): _value(level, "numFmt") for level in element.iterchildren("{*}lvl")
        }
        for element in numbering
        if local_name(element) == "abstractNum"
    }
    return {
        attribute(element, "numId"): shared.get(_value(element, "abstractNumId"), {})
        for element in numbering
        if local_name(element) == "num"
    }


def _note_texts(part: Element | None) -> dict[str | None, str]:
    """Id -> note on one line; separators are skipped."""
    if part is None:
        return {}
    etree.strip_elements(part, *UNREAD, with_tail=False)
    return {
        attribute(note, "id"): " ".join(" ".join(_plain_words(line) for line in note.iter("{*}p")).split())
        for note in part
        if attribute(note, "type") in (None, "normal")
    }


def _plain_words(paragraph: Element) -> str:
    return "".join(CHARACTERS.get(local_name(inner)) or inner.text or "" for inner in paragraph.iter(*WORDS))
