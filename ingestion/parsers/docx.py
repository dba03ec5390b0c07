"""Reads DOCX by python-docx's elements: paragraphs, headings, lists, tables, text boxes and notes in reading order.

In: a WordprocessingML file; one of the strict variant is translated to the transitional, the only one that python-docx
knows. Out: a `Document` with heading paths. The main part is streamed by paragraphs and rows, since `docx.Document`
holds its whole tree and every picture; what is deleted is left out, wrappers are taken off (python-docx skips what is
in them), text boxes and notes follow the paragraph that they belong to. Fonts and colours are ignored. Page numbers
are unknown: Word computes pages when it displays the file.
"""

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from docx.oxml.ns import nsmap, qn
from docx.oxml.parser import element_class_lookup
from docx.oxml.table import CT_Row, CT_Tbl
from docx.oxml.text.paragraph import CT_P
from docx.oxml.text.parfmt import CT_PPr
from lxml import etree  # type: ignore[import-untyped] # it brings no types

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.outline import Outline
from ingestion.parsers.xml import Element, Package, local_name, read_tree, stated_in, stream_elements
from ingestion.records import BlockKind, Document

LARGEST_MAIN_BYTES = 64 * 1024 * 1024  # inflated: a shelf of books
STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/([\w/]+[\"'])")
"""Namespaces of ISO 29500-1, annex A; those of the transitional variant (ISO 29500-4) name the same elements."""
TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/\2"
LONGEST_START = 4096  # bytes of a part that hold its first namespaces
UNREAD = ("{*}del", "{*}moveFrom", "{*}tabs", "{*}Fallback")
"""Deletions, definitions of tab stops, and the fallback copies of drawings."""
WRAPPERS = frozenset({"sdt", "sdtContent", "ins", "moveTo", "customXml", "AlternateContent", "Choice"})
"""Elements around paragraphs, tables, rows and cells."""
WRAPPER_TAGS = tuple(f"{{*}}{name}" for name in WRAPPERS)
CHARACTERS = {
    **{qn(name): "\t" for name in ("w:tab", "w:ptab")},
    **{qn(name): "\n" for name in ("w:br", "w:cr")},
    qn("w:noBreakHyphen"): "-",
}
NOTE_PARTS = {qn("w:footnoteReference"): "footnotes", qn("w:endnoteReference"): "endnotes"}
WORDS = frozenset({*map(qn, ("w:t", "m:t", "a:t")), *CHARACTERS, *NOTE_PARTS})  # m:t: formulas; a:t: drawings
CONTENT = (qn("w:p"), qn("w:tbl"))
STREAMED = frozenset({*CONTENT, qn("w:tr")})
BOX = qn("w:txbxContent")
ROLE_TAGS = tuple(map(qn, ("w:pStyle", "w:numPr", "w:outlineLvl")))  # a paragraph without these is plain
TAB_STOPS = qn("w:tabs")
INSIDE = (*STREAMED, *WORDS, *ROLE_TAGS, BOX, *UNREAD, *WRAPPER_TAGS)  # streamed: to search each paragraph takes longer
SIMPLE = frozenset({*WORDS, *ROLE_TAGS, TAB_STOPS}) - NOTE_PARTS.keys()  # a paragraph with only these needs no search
WIDEST_SPAN = 100  # columns; a damaged file may claim any number
HEADING_STYLE = re.compile(r"(?:heading|заголовок)\s*(\d)", re.IGNORECASE)
TITLE_STYLES = frozenset({"title", "название"})
CODE_STYLES = frozenset({"html preformatted", "code", "source code", "preformatted text", "plain text"})
BODY_OUTLINE_LEVEL = 9  # in w:outlineLvl, 0 is the outermost heading and 9 is no heading
NO_LIST = 0  # this w:numId takes a paragraph out of its style's list
UNORDERED_FORMATS = frozenset({"", "bullet", "none"})
LEVEL_FORMAT = etree.XPath("string(w:lvl[@w:ilvl = $depth]/w:numFmt/@w:val)", namespaces=nsmap)


@dataclass(frozen=True, kw_only=True)
class Role:
    """Of a paragraph in its document."""

    heading_level: int | None = None  # 1 is the outermost; None: no heading
    list_id: int = NO_LIST
    depth: int = 0  # in the list; 0 is the outermost
    is_code: bool = False  # line breaks and spaces are significant


PLAIN = Role()


def parse(path: Path, name: str) -> Document:
    """Raises SourceError: FILE_DAMAGED (no main part), FILE_TOO_HEAVY; and python-docx's errors."""
    with Package(path) as package:
        main = package.related(package.relations(""), "officeDocument")
        if not main:
            raise SourceError(FailureCode.FILE_DAMAGED, detail="no main part")
        links = package.relations(main)
        parts: dict[str, Element] = {}  # by kind
        for kind in ("styles", "numbering", *NOTE_PARTS.values()):
            if part := package.related(links, kind):
                data = STRICT.sub(TRANSITIONAL, package.part(part))
                parts[kind] = read_tree(data, lookup=element_class_lookup)
        reader = _Reader(parts)
        with package.stream(main, most_bytes=LARGEST_MAIN_BYTES) as stream:
            is_strict = STRICT.search(stream.read(LONGEST_START))
            stream.seek(0)
            body = io.BytesIO(STRICT.sub(TRANSITIONAL, stream.read())) if is_strict else stream
            for element in stream_elements(body, *INSIDE, is_whole=reader.is_whole, lookup=element_class_lookup):
                reader.read(element)
        core = package.tree("docProps/core.xml")
    # The creation date is often the template's, so it is ignored.
    return reader.outline.document(name, stated_in(core, "title"), author=stated_in(core, "creator"))


def _is_of_body(element: Element) -> bool:
    """Whether a paragraph, table or row stands in no other one."""
    above = element.getparent()
    while (holder := "" if above is None else local_name(above)) in WRAPPERS:
        above = above.getparent()
    return holder == "body" or (holder == "tbl" and local_name(element) == "tr" and _is_of_body(above))


def _said(element: Element) -> str:
    return CHARACTERS.get(element.tag) or element.text or ""


class _Reader:
    """Reads paragraphs and rows; adjacent list items or code lines become one block."""

    def __init__(self, parts: Mapping[str, Element]) -> None:
        self.outline = Outline()
        self._inside: list[Element] = []  # of the paragraph or row to be read next
        self._notes: dict[str, dict[str | None, str]] = {mark: {} for mark in NOTE_PARTS}
        self._notes |= {mark: self._note_texts(parts[kind]) for mark, kind in NOTE_PARTS.items() if kind in parts}
        self._styles = {style.styleId: style for style in parts["styles"].style_lst} if "styles" in parts else {}
        self._roles: dict[str | None, Role] = {None: PLAIN}  # of styles
        self._lists: dict[int, Element | None] = {}  # the element with its levels; lists may share one
        if "numbering" in parts:
            shared = {each.get(qn("w:abstractNumId")): each for each in parts["numbering"].findall(qn("w:abstractNum"))}
            self._lists = {each.numId: shared.get(str(each.abstractNumId.val)) for each in parts["numbering"].num_lst}
        self._counts: dict[int, dict[int, int]] = {}  # by list and depth

    def is_whole(self, element: Element) -> bool:
        """Whether to `read` it; all else of INSIDE is in the paragraph or row that is read next."""
        if element.tag in STREAMED and _is_of_body(element):
            return True
        while element.tag == TAB_STOPS and self._inside and self._inside[-1].getparent() is element:
            self._inside.pop()  # the definition of a stop is no tab
        self._inside.append(element)
        return False

    def read(self, element: CT_P | CT_Row | CT_Tbl) -> None:
        """Add the next paragraph, or row or end of a table, of the body; `element` is changed."""
        inside, self._inside = self._inside, []
        tags = {each.tag for each in inside}
        if isinstance(element, CT_P) and tags <= SIMPLE:
            text = "".join(_said(each) for each in inside if each.tag in WORDS)
            self._add(text, None if tags.isdisjoint(ROLE_TAGS) else element.pPr)
            return
        etree.strip_elements(element, *UNREAD, with_tail=False)
        etree.strip_tags(element, *WRAPPER_TAGS)
        self._read(element)

    def _read(self, element: CT_P | CT_Row | CT_Tbl) -> None:
        """The same of the body or of a text box, without what must not be read."""
        if isinstance(element, CT_Row):
            self.outline.add_row(self._cells(element))
        elif isinstance(element, CT_Tbl):
            for row in element.tr_lst:  # none is left of a table that was streamed
                self.outline.add_row(self._cells(row))
            self.outline.flush()
        else:
            text, boxes, notes = self._words(element)
            self._add(text, element.pPr)
            for inner in (each for box in boxes for each in box.iterchildren(*CONTENT)):
                self._read(inner)
            for note in notes:
                self.outline.add(BlockKind.PARAGRAPH, note)

    def _words(self, paragraph: Element) -> tuple[str, list[Element], list[str]]:
        """The text, including links, fields and formulas, which `Paragraph.text` gives only in part; the text boxes,
        which are taken out; the notes."""
        boxes = list(paragraph.iter(BOX))
        for box in boxes:
            box.getparent().remove(box)
        pieces, notes = [], []
        for inner in paragraph.iter(*WORDS):
            if inner.tag in NOTE_PARTS:
                key = inner.get(qn("w:id"))
                pieces.append(f"[{key}]")
                notes += [f"[{key}] {note}"] if (note := self._notes[inner.tag].get(key)) else []
            else:
                pieces.append(_said(inner))
        return "".join(pieces), boxes, notes

    def _note_texts(self, part: Element) -> dict[str | None, str]:
        """Id -> note on one line; separators are skipped."""
        etree.strip_elements(part, *UNREAD, with_tail=False)
        return {
            note.get(qn("w:id")): " ".join(" ".join(self._words(line)[0] for line in note.iter(qn("w:p"))).split())
            for note in part
            if note.get(qn("w:type")) in (None, "normal")
        }

    def _add(self, text: str, properties: CT_PPr | None) -> None:
        if not text.strip():
            return
        role = PLAIN if properties is None else _refine(self._style(properties.style), "", properties)
        if role.heading_level is not None:
            self.outline.add_heading(text, role.heading_level)
        elif role.is_code:
            self.outline.add_line(BlockKind.CODE, text)
        elif role.list_id != NO_LIST:
            self.outline.add_item(text, depth=role.depth, mark=self._mark(role.list_id, role.depth))
        else:
            self.outline.add(BlockKind.PARAGRAPH, text)

    def _mark(self, list_id: int, depth: int) -> str:
        """Numbers continue through the document for each list; deeper levels restart below each item."""
        counts = self._counts.setdefault(list_id, {})
        for deeper in [level for level in counts if level > depth]:
            del counts[deeper]
        levels = self._lists.get(list_id)
        if levels is None or LEVEL_FORMAT(levels, depth=depth) in UNORDERED_FORMATS:
            return "-"
        counts[depth] = counts.get(depth, 0) + 1
        return f"{counts[depth]}."

    def _cells(self, row: CT_Row) -> list[str]:
        """A merged cell's text is in its first place, and the places it covers are empty."""
        cells = [""] * min(row.grid_before, WIDEST_SPAN)
        for cell in row.tc_lst:
            cells.append("" if cell.vMerge == "continue" else "\n".join(filter(str.strip, self._lines(cell))))
            cells.extend([""] * (min(cell.grid_span, WIDEST_SPAN) - 1))
        return cells

    def _lines(self, container: Element) -> Iterator[str]:
        """The paragraphs of a cell or box; each row of a table inside is one line."""
        for element in container.iterchildren(*CONTENT):
            if isinstance(element, CT_Tbl):
                yield from ("; ".join(filter(None, self._cells(row))) for row in element.tr_lst)
            else:
                text, boxes, notes = self._words(element)
                yield text
                for box in boxes:
                    yield from self._lines(box)
                yield from notes

    def _style(self, style_id: str | None) -> Role:
        """By its own name and properties, then those of the styles that it is based on."""
        if style_id not in self._roles:
            self._roles[style_id] = PLAIN  # the value for a cycle of styles
            if (style := self._styles.get(style_id)) is not None:
                name = (style.name_val or "").lower()
                self._roles[style_id] = _refine(self._style(style.basedOn_val), name, style.pPr)
        return self._roles[style_id]


def _refine(base: Role, name: str, properties: CT_PPr | None) -> Role:
    """A role by a style's name ("" for a paragraph) and properties; `base` where these say nothing."""
    numbering: Element | None = properties.numPr if properties is not None else None
    outline = properties.outlineLvl if properties is not None else None
    list_id, depth = (numbering.numId, numbering.ilvl) if numbering is not None else (None, None)
    level = base.heading_level if outline is None else outline.val + 1
    if (found := HEADING_STYLE.fullmatch(name)) or name in TITLE_STYLES:
        level = max(1, int(found.group(1))) if found else 1
    return Role(
        heading_level=level if level is None or level <= BODY_OUTLINE_LEVEL else None,
        list_id=base.list_id if list_id is None else list_id.val,
        depth=base.depth if depth is None else depth.val,
        is_code=base.is_code or name in CODE_STYLES,
    )
