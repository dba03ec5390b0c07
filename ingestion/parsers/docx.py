"""Reads DOCX by python-docx: paragraphs, headings, lists, tables, text boxes and notes in reading order.

In: a WordprocessingML file, transitional or strict (`docx_package` opens it). Out: a `Document` with heading paths. The
body is flattened first: deletions removed, content controls and insertions unwrapped, text boxes and notes after the
paragraph they belong to (python-docx skips all of these, and holds the whole tree). Fonts and colours are ignored. Page
numbers are unknown: Word computes pages when it displays the file.
"""

import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docx.document import Document as DocxDocument
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.exceptions import OpcError
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.exceptions import XmlchemyError
from docx.oxml.ns import nsmap, qn
from docx.oxml.parser import element_class_lookup
from docx.oxml.table import CT_Row, CT_Tbl, CT_Tc
from docx.oxml.text.paragraph import CT_P
from docx.oxml.text.parfmt import CT_PPr
from lxml import etree  # type: ignore[import-untyped] # python-docx's elements are lxml's, which brings no types

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.docx_package import open_docx
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import INDENT, Outline, render_table
from ingestion.records import BlockKind, Document

Element = Any  # lxml's
Rows = list[list[str]]  # texts of cells
COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
UNREAD = (qn("w:del"), qn("w:moveFrom"), qn("w:tabs"), f"{COMPATIBILITY}Fallback")
"""Deletions, definitions of tab stops, and the fallback copies of drawings."""
WRAPPERS = (
    *map(qn, ("w:sdt", "w:sdtContent", "w:ins", "w:moveTo", "w:customXml")),
    f"{COMPATIBILITY}AlternateContent",
    f"{COMPATIBILITY}Choice",
)
"""Elements around paragraphs, tables, rows and cells; python-docx looks for those only one level deep."""
CHARACTERS: Mapping[str, str] = {
    qn("w:tab"): "\t",
    qn("w:ptab"): "\t",
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:noBreakHyphen"): "-",
}
WORDS = (qn("w:t"), qn("m:t"), *CHARACTERS)  # m:t: text of formulas
BODY = qn("w:body")
PARAGRAPH = qn("w:p")
TABLE = qn("w:tbl")
ROW = qn("w:tr")
TAB_STOPS = qn("w:tabs")
TEXT_BOX = qn("w:txbxContent")
NOTE_PARTS = {
    qn("w:footnoteReference"): RELATIONSHIP_TYPE.FOOTNOTES,
    qn("w:endnoteReference"): RELATIONSHIP_TYPE.ENDNOTES,
}
RARE = frozenset((*UNREAD, *WRAPPERS, TEXT_BOX, *NOTE_PARTS))
"""Elements that need a paragraph to be flattened; most paragraphs have none and are read in place."""
WIDEST_SPAN = 100  # columns; a damaged file may claim any number
HEADING_STYLE = re.compile(r"(?:heading|заголовок)\s*(\d)", re.IGNORECASE)
TITLE_STYLES = frozenset({"title", "название"})
CODE_STYLES = frozenset({"html preformatted", "code", "source code", "preformatted text", "plain text"})
BODY_OUTLINE_LEVEL = 9  # in w:outlineLvl, 0 is the outermost heading and 9 is no heading
DEEPEST_LIST_LEVEL = 8  # Word has nine levels; a damaged file may claim any number
TELLING = (qn("w:numPr"), qn("w:outlineLvl"))  # properties that can change a role, besides the style
PROPERTIES, STYLE = map(qn, ("w:pPr", "w:pStyle"))
NO_LIST = 0  # this w:numId takes a paragraph out of its style's list
UNORDERED_FORMATS = frozenset({"", "bullet", "none"})
LEVEL_FORMAT = "string(w:lvl[@w:ilvl = $depth]/w:numFmt/@w:val)"
ARCHIVE_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)
XML_DAMAGE = (SyntaxError, XmlchemyError, ValueError, RecursionError)  # lxml's XMLSyntaxError is a SyntaxError
PACKAGE_DAMAGE = (OpcError, LookupError, AttributeError, TypeError)  # parts missing, or of another type than declared
"""What python-docx raises on fuzzed files."""
OUT_OF_MEMORY = 2  # libxml2's XML_ERR_NO_MEMORY; lxml raises an XMLSyntaxError with this code


def related_element(document: DocxDocument, relationship: str) -> Element | None:
    """The root of the part with this relationship to the main part; None without such a part."""
    related = (found.target_part for found in document.part.rels.values() if found.reltype == relationship)
    return next((parse_xml(part.blob) for part in related), None)


def read_body(main: Iterable[bytes], document: DocxDocument) -> Iterator[CT_P | Rows]:
    """The content of the body in order; nothing is held. Raises lxml's XMLSyntaxError."""
    notes = {reference: _note_texts(related_element(document, part)) for reference, part in NOTE_PARTS.items()}
    read = (PARAGRAPH, TABLE, ROW, *RARE)
    parser = etree.XMLPullParser(["end"], tag=read, resolve_entities=False, no_network=True)
    parser.set_element_class_lookup(element_class_lookup)
    rows: Rows = []  # of the open table
    is_plain = True  # no RARE element has ended since the last paragraph of the body
    for piece in main:
        parser.feed(piece)
        for _, element in parser.read_events():
            tag = element.tag
            if tag == TAB_STOPS:  # the only frequent one
                element.clear()
            elif tag in RARE:
                is_plain = False
            elif is_plain and tag == PARAGRAPH and _is_of_body(element):
                yield element
                _forget(element)
            else:
                yield from _read_part(element, rows, notes)
                is_plain = is_plain or _is_of_body(element)
    parser.close()


def _read_part(element: Element, rows: Rows, notes: "Notes") -> Iterator[CT_P | Rows]:
    """Yield a finished paragraph or table, add a finished row to `rows`. Nested elements are read with them."""
    holder = _holder(element)
    if element.tag == ROW and holder is not None and holder.tag == TABLE and _is_of_body(holder):
        table = OxmlElement("w:tbl")
        table.append(_taken(element))
        _flatten(table, notes)
        rows.extend(table_rows(table))
    elif element.tag == TABLE and _is_of_body(element):
        _taken(element)
        yield rows.copy()
        rows.clear()
    elif element.tag == PARAGRAPH and _is_of_body(element):
        body = OxmlElement("w:body")
        body.append(_taken(element))
        _flatten(body, notes)
        yield from _content(body)


def _content(body: Element) -> Iterator[CT_P | Rows]:
    """The paragraph itself, then its text boxes and notes."""
    for element in paragraphs_and_tables(body):
        yield table_rows(element) if isinstance(element, CT_Tbl) else element


def _holder(element: Element) -> Element | None:
    """The parent, skipping wrappers."""
    above = element.getparent()
    while above is not None and above.tag in WRAPPERS:
        above = above.getparent()
    return above


def _is_of_body(element: Element) -> bool:
    holder = _holder(element)
    return holder is not None and holder.tag == BODY


def _taken(element: Element) -> Element:
    """Move the element's content into a new element outside the parser's tree, and free the tree up to there."""
    taken = OxmlElement("w:" + element.tag.rpartition("}")[2])
    taken.extend(list(element))
    _forget(element)
    return taken


def _forget(element: Element) -> None:
    """Free the parser's tree: the element's content and everything before it."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]


Notes = Mapping[str, Mapping[str | None, str]]
"""Tag of the reference -> id -> text."""


def _flatten(part: Element, notes: Notes) -> None:
    """Change the tree so that all content is in direct children of the part and of its cells."""
    etree.strip_elements(part, *UNREAD, with_tail=False)
    etree.strip_tags(part, *WRAPPERS)
    for element in reversed(list(part.iter(TEXT_BOX, *NOTE_PARTS))):  # in reverse, so that followers end up in order
        paragraph = next(element.iterancestors(PARAGRAPH), None)
        if paragraph is not None:
            followers = list(element) if element.tag == TEXT_BOX else _spell_note(element, notes[element.tag])
            for follower in reversed(followers):
                paragraph.addnext(follower)


def paragraphs_and_tables(container: Element) -> Iterator[CT_P | CT_Tbl]:
    """Children of a body or cell. python-docx's `iter_inner_content` is quadratic in them: minutes for a book."""
    return container.iterchildren(PARAGRAPH, TABLE)  # type: ignore[no-any-return] # lxml's


def words(element: Element) -> str:
    """The text of a paragraph, including links, fields and formulas, which `Paragraph.text` gives only in part."""
    return "".join([CHARACTERS.get(inner.tag) or inner.text or "" for inner in element.iter(*WORDS)])


def table_rows(table: CT_Tbl) -> Rows:
    """A list of texts for each row; a merged cell's text is in its first place, and the places it covers are empty."""
    return [_row_cells(row) for row in table.tr_lst]


def _row_cells(row: CT_Row) -> list[str]:
    cells = [""] * min(row.grid_before, WIDEST_SPAN)
    for cell in row.tc_lst:
        cells.append("" if cell.vMerge == "continue" else _cell_text(cell))
        cells.extend([""] * (min(cell.grid_span, WIDEST_SPAN) - 1))
    return cells


def _cell_text(cell: CT_Tc) -> str:
    """The cell's paragraphs, line by line; each row of a nested table becomes one line."""
    lines: list[str] = []
    for element in paragraphs_and_tables(cell):
        if isinstance(element, CT_Tbl):
            lines.extend("; ".join(filter(None, row)) for row in table_rows(element))
        else:
            lines.append(words(element))
    return "\n".join(filter(str.strip, lines))


def _note_texts(part: Element | None) -> dict[str | None, str]:
    """Id -> note on one line; separators are skipped."""
    if part is None:
        return {}
    etree.strip_elements(part, *UNREAD, with_tail=False)
    return {
        note.get(qn("w:id")): " ".join(" ".join(map(words, note.iter(PARAGRAPH))).split())
        for note in part
        if note.get(qn("w:type")) in (None, "normal")
    }


def _spell_note(reference: Element, texts: Mapping[str | None, str]) -> list[Element]:
    """Put [id] in place of the reference; returns the note as a paragraph with the same mark, if there is one."""
    key = reference.get(qn("w:id"))
    mark = OxmlElement("w:t")
    mark.text = f"[{key}]"
    reference.addprevious(mark)
    if not texts.get(key):
        return []
    paragraph: Element = OxmlElement("w:p")
    paragraph.add_r().add_t(f"[{key}] {texts[key]}")
    return [paragraph]


@dataclass(frozen=True, kw_only=True)
class Role:
    """The role of a paragraph in its document."""

    heading_level: int | None = None  # 1 is the outermost; None: no heading
    list_id: int = NO_LIST
    depth: int = 0  # in the list; 0 is the outermost
    is_code: bool = False  # line breaks and spaces are significant


PLAIN = Role()


class DocxStyles:
    """Derives roles from a paragraph's own properties, then its style, then the styles that one is based on."""

    def __init__(self, document: DocxDocument) -> None:
        self._styles = {style.styleId: style for style in document.styles.element.style_lst}
        self._lists = _list_definitions(related_element(document, RELATIONSHIP_TYPE.NUMBERING))
        self._roles: dict[str | None, Role] = {}  # of styles

    def role(self, paragraph: CT_P) -> Role:
        """The role of a paragraph; one without properties is plain, because it names no style."""
        properties = next(paragraph.iterchildren(PROPERTIES), None)  # python-docx's accessor takes twice as long
        if properties is None:
            return PLAIN
        style = next(properties.iterchildren(STYLE), None)
        role = self._style_role(style.val if style is not None else None)
        has_own = next(properties.iterchildren(*TELLING), None) is not None
        return _refine(role, "", properties) if has_own else role

    def is_ordered(self, list_id: int, depth: int) -> bool:
        """Whether the items of this list level are numbered."""
        levels = self._lists.get(list_id)
        if levels is None:
            return False
        return levels.xpath(LEVEL_FORMAT, namespaces=nsmap, depth=depth) not in UNORDERED_FORMATS

    def _style_role(self, style_id: str | None) -> Role:
        if style_id not in self._roles:
            self._roles[style_id] = PLAIN  # the value for a cycle of styles
            style = self._styles.get(style_id)
            if style is not None:
                base = self._style_role(style.basedOn_val)
                self._roles[style_id] = _refine(base, (style.name_val or "").lower(), style.pPr)
        return self._roles[style_id]


def _refine(base: Role, name: str, properties: CT_PPr | None) -> Role:
    """A role by a style's name ("" for a paragraph) and properties; `base` where these say nothing."""
    numbering: Element | None = properties.numPr if properties is not None else None
    list_id = numbering.numId if numbering is not None else None
    depth = numbering.ilvl if numbering is not None else None
    return Role(
        heading_level=_heading_level(base, name, properties),
        list_id=list_id.val if list_id is not None else base.list_id,
        depth=min(depth.val, DEEPEST_LIST_LEVEL) if depth is not None else base.depth,
        is_code=base.is_code or name in CODE_STYLES,
    )


def _heading_level(base: Role, name: str, properties: CT_PPr | None) -> int | None:
    if name in TITLE_STYLES:
        return 1
    found = HEADING_STYLE.fullmatch(name)
    if found is not None:
        return max(1, int(found.group(1)))
    outline = properties.outlineLvl if properties is not None else None
    if outline is None:
        return base.heading_level
    return outline.val + 1 if outline.val < BODY_OUTLINE_LEVEL else None


def _list_definitions(numbering: Element | None) -> dict[int, Element | None]:
    """List id -> the element with its levels; lists may share one."""
    if numbering is None:
        return {}
    shared = {element.get(qn("w:abstractNumId")): element for element in numbering.findall(qn("w:abstractNum"))}
    return {number.numId: shared.get(str(number.abstractNumId.val)) for number in numbering.num_lst}


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
    # The creation date is often the template's, so it is ignored.
    return reader.outline.document(info.name, stated.title, author=stated.author.strip() or None)


class _Reader:
    """Reads paragraphs and tables; adjacent list items or code lines become one block."""

    def __init__(self, styles: DocxStyles) -> None:
        self.outline = Outline()
        self._styles = styles
        self._counts: dict[int, dict[int, int]] = {}  # by list and depth

    def read(self, element: CT_P | Rows) -> None:
        """Add the next child of the body."""
        if isinstance(element, list):
            self.outline.add(BlockKind.TABLE, render_table(element))
            return
        text = words(element)
        if text.strip():
            self._read_paragraph(self._styles.role(element), text)

    def _read_paragraph(self, role: Role, text: str) -> None:
        if role.heading_level is not None:
            self.outline.add_heading(text, role.heading_level)
        elif role.is_code:
            self.outline.add_line(BlockKind.CODE, text)
        elif role.list_id != NO_LIST:
            self.outline.add_line(BlockKind.LIST, self._bullet(role.list_id, role.depth) + text.strip())
        else:
            self.outline.add(BlockKind.PARAGRAPH, text)

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
