"""Reads DOCX: paragraphs, headings, lists, tables, text boxes and notes in reading order.

In: a WordprocessingML file, transitional or strict. Out: a `Document` with heading paths. The main part, nearly all of
a file, is streamed; text boxes and notes come after the paragraph that they belong to. Why not python-docx: it reads
none of these, nor insertions and content controls, refuses strict files, templates and files with macros, and holds
every part in memory. Deletions, fonts and colours are ignored. Page numbers are unknown: Word computes pages when it
displays the file.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import INDENT, Outline, render_table
from ingestion.parsers.xml import Element, Package, attribute, child, forget, local_name, stated_in, stream_parts
from ingestion.records import BlockKind, Document

LARGEST_TEXT_BYTES = 64 * 1024 * 1024  # of the main part, inflated: a shelf of books
UNREAD = frozenset({"del", "moveFrom", "Fallback"})
"""Deletions, and the fallback copies of drawings."""
WRAPPERS = frozenset({"sdt", "sdtContent", "ins", "moveTo", "customXml", "AlternateContent", "Choice"})
"""Elements around paragraphs, tables, rows and cells."""
CHARACTERS: Mapping[str, str] = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
REFERENCES: Mapping[str, str] = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
"""To the kind of the part with the notes."""
TEXT_BOX, TAB_STOPS = "txbxContent", "tabs"
WORDS = tuple(f"{{*}}{name}" for name in ("t", *CHARACTERS))  # of runs and of formulas
HANGING = tuple(f"{{*}}{name}" for name in (TEXT_BOX, *REFERENCES))
RARE = (*HANGING, *(f"{{*}}{name}" for name in UNREAD))
"""Most paragraphs have none of these, and are read in one go."""
READ = tuple(f"{{*}}{name}" for name in ("p", "tbl", "tr", TAB_STOPS))
PARTS = ("styles", "numbering", *REFERENCES.values())
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
    """Raises SourceError: FILE_DAMAGED, FILE_TOO_HEAVY."""
    with Package(path, name=info.name) as package:
        of_file = {each.kind: each.target for each in package.relations("").values()}
        main = of_file.get("officeDocument")
        if main is None:
            raise SourceError(FailureCode.FILE_DAMAGED, name=info.name, detail="no main part")
        related = {each.kind: each.target for each in package.relations(main).values()}
        parts = {kind: package.tree(related[kind]) for kind in PARTS if kind in related}
        core = package.tree(of_file.get("core-properties", ""))
        reader = _Reader(parts)
        with package.open(main, most_bytes=LARGEST_TEXT_BYTES) as stream:
            reader.read_body(stream)
    # The creation date is often the template's, so it is ignored.
    return reader.outline.document(info.name, stated_in(core, "title"), author=stated_in(core, "creator"))


class DocxStyles:
    """Derives roles from a paragraph's own properties, then its style, then the styles that one is based on."""

    def __init__(self, styles: Element | None, numbering: Element | None) -> None:
        found = styles.iterchildren("{*}style") if styles is not None else ()
        self._styles = {attribute(style, "styleId"): style for style in found}
        self._ordered = frozenset(_ordered_levels(numbering)) if numbering is not None else frozenset()
        self._roles: dict[str | None, Role] = {}  # of styles

    def role(self, paragraph: Element) -> Role:
        """The role of a paragraph; one without properties is plain, because it names no style."""
        properties = child(paragraph, "pPr")
        if properties is None:
            return PLAIN
        return _refine(self._style_role(_value(properties, "pStyle")), "", properties)

    def is_ordered(self, list_id: str, depth: int) -> bool:
        """Whether the items of this list level are numbered."""
        return (list_id, str(depth)) in self._ordered

    def _style_role(self, style_id: str | None) -> Role:
        if style_id not in self._roles:
            self._roles[style_id] = PLAIN  # the value for a cycle of styles
            style = self._styles.get(style_id)
            if style is not None:
                base = self._style_role(_value(style, "basedOn"))
                self._roles[style_id] = _refine(base, (_value(style, "name") or "").lower(), child(style, "pPr"))
        return self._roles[style_id]


def _ordered_levels(numbering: Element) -> Iterator[tuple[str, str]]:
    """(list, depth) of the numbered levels; lists may share their definition."""
    shared = {attribute(each, "abstractNumId"): each for each in numbering.iterchildren("{*}abstractNum")}
    for number in numbering.iterchildren("{*}num"):
        levels = shared.get(_value(number, "abstractNumId"))
        for level in levels.iterchildren("{*}lvl") if levels is not None else ():
            if _value(level, "numFmt") not in UNORDERED_FORMATS:
                yield attribute(number, "numId") or "", attribute(level, "ilvl") or ""


def _refine(base: Role, name: str, properties: Element | None) -> Role:
    """A role by a style's name ("" for a paragraph) and properties; `base` where these say nothing."""
    numbering = child(properties, "numPr") if properties is not None else None
    depth = _number(numbering, "ilvl")
    return Role(
        heading_level=_heading_level(base, name, _number(properties, "outlineLvl")),
        list_id=_value(numbering, "numId") or base.list_id,
        depth=min(depth, DEEPEST_LIST_LEVEL) if depth is not None else base.depth,
        is_code=base.is_code or name in CODE_STYLES,
    )


def _heading_level(base: Role, name: str, outline: int | None) -> int | None:
    if name in TITLE_STYLES:
        return 1
    if found := HEADING_STYLE.fullmatch(name):
        return max(1, int(found.group(1)))
    if outline is None:
        return base.heading_level
    return outline + 1 if outline < BODY_OUTLINE_LEVEL else None


def _value(element: Element | None, name: str) -> str | None:
    """What the element's child of this name is set to."""
    found = child(element, name) if element is not None else None
    return None if found is None else attribute(found, "val")


def _number(element: Element | None, name: str) -> int | None:
    value = _value(element, name) or ""
    return int(value) if value.isdecimal() and len(value) < 9 else None


class _Reader:
    """Reads paragraphs and tables; adjacent list items or code lines become one block."""

    def __init__(self, parts: Mapping[str, Element]) -> None:
        self.outline = Outline()
        self._styles = DocxStyles(parts.get("styles"), parts.get("numbering"))
        self._notes = {
            (reference, attribute(note, "id")): " ".join(" ".join(map(_words, note.iter("{*}p"))).split())
            for reference, kind in REFERENCES.items()
            for note in parts.get(kind, ())
            if attribute(note, "type") in (None, "normal")  # others are separators
        }
        self._counts: dict[str, dict[int, int]] = {}  # by list and depth

    def read_body(self, main: IO[bytes]) -> None:
        """Add the content of the body in order; of a table only its rows are held."""
        rows: list[list[str]] = []
        for element in stream_parts(main, READ):
            name, holder = local_name(element), _holder(element)
            if name == TAB_STOPS:
                element.clear()  # stops are no tabs
            elif name == "tr" and local_name(holder) == "tbl" and _is_of_body(holder):
                rows.append(self._cells(element))
                forget(element)
            elif name != "tr" and local_name(holder) == "body":
                self._read(element) if name == "p" else self._add_table(rows)
                rows.clear()
                forget(element)

    def _read(self, paragraph: Element) -> None:
        """The paragraph itself, then its text boxes and notes."""
        text = _words(paragraph)
        if text.strip():
            self._read_paragraph(self._styles.role(paragraph), text)
        for hanging in self._hanging(paragraph):
            if isinstance(hanging, str):
                self.outline.add(BlockKind.PARAGRAPH, hanging)
                continue
            for inner in _inside(hanging, "p", "tbl"):
                self._read(inner) if local_name(inner) == "p" else self._add_table(self._rows(inner))

    def _hanging(self, paragraph: Element) -> Iterator[Element | str]:
        """Text boxes, and texts of notes with the mark that refers to them."""
        for found in paragraph.iter(*HANGING):
            is_nested = any(local_name(above) in (TEXT_BOX, *UNREAD) for above in _between(found, paragraph))
            text = self._notes.get((local_name(found), attribute(found, "id")))
            if not is_nested and local_name(found) == TEXT_BOX:
                yield found
            elif not is_nested and text:
                yield f"[{attribute(found, 'id')}] {text}"

    def _add_table(self, rows: list[list[str]]) -> None:
        self.outline.add(BlockKind.TABLE, render_table(rows))

    def _rows(self, table: Element) -> list[list[str]]:
        return [self._cells(row) for row in _inside(table, "tr")]

    def _cells(self, row: Element) -> list[str]:
        """A merged cell's text is in its first place, and the places it covers are empty."""
        cells = [""] * min(_number(child(row, "trPr"), "gridBefore") or 0, WIDEST_SPAN)
        for cell in _inside(row, "tc"):
            properties = child(cell, "tcPr")
            merge = child(properties, "vMerge") if properties is not None else None
            is_covered = merge is not None and attribute(merge, "val") != "restart"
            cells.append("" if is_covered else "\n".join(filter(str.strip, self._lines(cell))))
            cells.extend([""] * (min(_number(properties, "gridSpan") or 1, WIDEST_SPAN) - 1))
        return cells

    def _lines(self, container: Element) -> Iterator[str]:
        """The lines of a cell; each row of a nested table becomes one line."""
        for element in _inside(container, "p", "tbl"):
            if local_name(element) == "tbl":
                yield from ("; ".join(filter(None, row)) for row in self._rows(element))
                continue
            yield _words(element)
            for hanging in self._hanging(element):
                yield from (hanging,) if isinstance(hanging, str) else self._lines(hanging)

    def _read_paragraph(self, role: Role, text: str) -> None:
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
        indent = INDENT * depth
        counts = self._counts.setdefault(list_id, {})
        for deeper in [level for level in counts if level > depth]:
            del counts[deeper]
        if not self._styles.is_ordered(list_id, depth):
            return f"{indent}- "
        counts[depth] = counts.get(depth, 0) + 1
        return f"{indent}{counts[depth]}. "


def _words(paragraph: Element) -> str:
    """The text, including links, fields and formulas, without what hangs on it."""
    if next(paragraph.iter(*RARE), None) is not None:
        return "".join(_pieces(paragraph))
    return "".join([CHARACTERS.get(local_name(inner)) or inner.text or "" for inner in paragraph.iter(*WORDS)])


def _pieces(element: Element) -> Iterator[str]:
    for inner in element:
        name = local_name(inner)
        if name == "t":
            yield inner.text or ""
        elif name in REFERENCES:
            yield f"[{attribute(inner, 'id')}]"
        elif name in CHARACTERS:
            yield CHARACTERS[name]
        elif name not in UNREAD and name != TEXT_BOX:
            yield from _pieces(inner)


def _inside(container: Element, *names: str) -> Iterator[Element]:
    """The elements of these names, through wrappers."""
    for inner in container:
        name = local_name(inner)
        if name in names:
            yield inner
        elif name in WRAPPERS:
            yield from _inside(inner, *names)


def _between(element: Element, outer: Element) -> Iterator[Element]:
    """The elements around it, up to `outer`."""
    while (element := element.getparent()) is not outer:
        yield element


def _holder(element: Element) -> Element:
    """The parent, skipping wrappers."""
    above = element.getparent()
    while above is not None and local_name(above) in WRAPPERS:
        above = above.getparent()
    return above


def _is_of_body(element: Element) -> bool:
    return local_name(_holder(element)) == "body"
