"""Reads DOCX by python-docx: paragraphs, headings, lists, tables, text boxes and notes in reading order.

In: a WordprocessingML file, transitional or strict. Out: a `Document` with heading paths. python-docx inflates every
related part and knows only the transitional variant, so it gets a copy in memory with the XML parts that a text needs,
translated; the main part, nearly all of a file, stays in the archive and is streamed. The body is flattened first:
deletions removed, content controls and insertions unwrapped, text boxes and notes after the paragraph they belong to
(python-docx skips all of these, and holds the whole tree). Fonts and colours are ignored. Page numbers are unknown:
Word computes pages when it displays the file.
"""

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import docx
from docx.document import Document as DocxDocument
from docx.opc.constants import RELATIONSHIP_TARGET_MODE, RELATIONSHIP_TYPE
from docx.opc.exceptions import OpcError
from docx.opc.oxml import parse_xml as parse_links
from docx.opc.oxml import serialize_part_xml
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.exceptions import XmlchemyError
from docx.oxml.ns import nsmap, qn
from docx.oxml.parser import element_class_lookup
from docx.oxml.table import CT_Row, CT_Tbl, CT_Tc
from docx.oxml.text.paragraph import CT_P
from docx.oxml.text.parfmt import CT_PPr
from lxml import etree  # type: ignore[import-untyped] # python-docx's elements are lxml's, which brings no types

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import INDENT, Outline, render_table
from ingestion.records import BlockKind, Document

LARGEST_XML_BYTES = 64 * 1024 * 1024
"""Limit of all XML parts, inflated; 64 MB is a shelf of books."""

LARGEST_OTHER_BYTES = 16 * 1024 * 1024  # of the parts besides the main one: as trees they take about ten times as much
ROOT = "_rels/.rels"
TYPES = "[Content_Types].xml"
PIECE_BYTES = 256 * 1024
EMPTY_MAIN = (
    b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body/></w:document>'
)

XML_ENDINGS = (".xml", ".rels")
NEEDED_RELATIONSHIPS = frozenset({"officeDocument", "core-properties", "styles", "numbering", "footnotes", "endnotes"})
"""Last words of relationship types. The others are dropped, so pictures may be missing: many files name one that is."""

DIALECTS = (
    (rb"http://purl\.oclc\.org/ooxml/(\w+)/([\w/]+[\"'])", rb"http://schemas.openxmlformats.org/\1/2006/\2"),
    (
        rb"application/vnd\.(?:ms-word\.|openxmlformats-officedocument\.wordprocessingml\.)"
        rb"(?:document\.macroEnabled|template|template\.macroEnabledTemplate)\.main\+xml",
        rb"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    ),
)
"""Patterns that python-docx refuses, and their replacements. The URIs of the strict variant (ISO 29500-1, annex A) and
of the transitional one (ISO 29500-4, annex A) name the same elements; the types are those of documents with macros and
of templates."""
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


@dataclass(frozen=True, kw_only=True)
class OpenedDocx:
    """`parts` is a document with an empty body; `main` yields the real main part, translated, piece by piece."""

    parts: DocxDocument
    main: Iterator[bytes]


@contextmanager
def open_docx(path: Path, *, name: str) -> Iterator[OpenedDocx]:
    """Raises SourceError FILE_TOO_HEAVY before inflating, and the errors of zipfile, lxml and python-docx."""
    with zipfile.ZipFile(path) as archive:
        members = {member.filename: member for member in archive.infolist() if member.filename.endswith(XML_ENDINGS)}
        sizes = {part: member.file_size for part, member in members.items()}
        _check(sum(sizes.values()) <= LARGEST_XML_BYTES and sizes.get(ROOT, 0) <= LARGEST_OTHER_BYTES, sizes, name)
        main = _main_part(archive.read(ROOT)) if ROOT in members else ""
        _check(sum(sizes.values()) - sizes.get(main, 0) <= LARGEST_OTHER_BYTES, sizes, name)
        copy = io.BytesIO()
        with zipfile.ZipFile(copy, "w") as target:
            for part, content in _related(archive, members.keys(), main):
                target.writestr(part, content)
        parts = docx.Document(copy)
        copy.close()
        with archive.open(main) as stream:
            yield OpenedDocx(parts=parts, main=_translated(main, stream))


def _check(is_small: bool, sizes: Mapping[str, int], name: str) -> None:
    if not is_small:
        detail = f"inflates to {sum(sizes.values())} bytes of XML"
        raise SourceError(FailureCode.FILE_TOO_HEAVY, name=name, detail=detail)


def _main_part(relationships: bytes) -> str:
    """The main part's name; empty when none is declared: python-docx then raises its own error."""
    links = parse_links(relationships).Relationship_lst  # type: ignore[arg-type] # lxml takes bytes
    targets = (link.target_ref for link in links if link.reltype.endswith("/officeDocument"))
    return posixpath.normpath(next(targets, "")).lstrip("/")


def _related(archive: zipfile.ZipFile, members: Collection[str], main: str) -> Iterator[tuple[str, bytes]]:
    """The parts that python-docx reaches by relationships: about half of all. zipfile never inflates beyond the size
    stated in the directory."""
    if TYPES in members:
        yield TYPES, _translate(TYPES, archive.read(TYPES))
    waiting, met = [""], {""}
    while waiting:
        part = waiting.pop()
        if part:
            yield part, EMPTY_MAIN if part == main else _translate(part, archive.read(part))
        folder, name = posixpath.split(part)
        links = posixpath.join(folder, "_rels", f"{name}.rels")
        if links not in members:
            continue
        kept = _translate(links, archive.read(links))
        yield links, kept
        named = {posixpath.normpath(posixpath.join("/", folder, ref)).lstrip("/") for ref in _targets(kept)}
        waiting.extend(each for each in named if each in members and each not in met)
        met.update(named)


def _targets(relationships: bytes) -> list[str]:
    links = parse_links(relationships).Relationship_lst  # type: ignore[arg-type] # lxml takes bytes
    return [link.target_ref for link in links]


def _translated(part: str, stream: IO[bytes]) -> Iterator[bytes]:
    """Translated pieces that end after a tag: no URI and no document type is cut in two."""
    rest: list[bytes] = []
    while piece := stream.read(PIECE_BYTES):
        whole, end, begun = piece.rpartition(b">")
        if end:
            yield _translate(part, b"".join([*rest, whole, end]))
            rest = []
        rest.append(begun)
    yield _translate(part, b"".join(rest))


def _translate(part: str, data: bytes) -> bytes:
    """Translate the dialect. Raises ValueError for a part with a DTD. One in UTF-16 goes unnoticed, but lxml resolves
    nothing of it either."""
    if b"<!DOCTYPE" in data:
        message = f"{part} has a document type, which ISO 29500-2 forbids"
        raise ValueError(message)
    for refused, taken in DIALECTS:
        data = re.sub(refused, taken, data)
    return _keep_needed(data) if part.endswith(".rels") else data


def _keep_needed(relationships: bytes) -> bytes:
    root = parse_links(relationships)  # type: ignore[arg-type] # lxml takes bytes, and a declared encoding only in them
    for relationship in root.Relationship_lst:
        is_needed = relationship.reltype.rpartition("/")[2] in NEEDED_RELATIONSHIPS
        if not is_needed or relationship.target_mode == RELATIONSHIP_TARGET_MODE.EXTERNAL:
            root.remove(relationship)
    return serialize_part_xml(root)


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
