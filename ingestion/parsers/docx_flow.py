"""Flattens the body of a DOCX into one flow of paragraphs and tables, and extracts their text.

In: the main part in pieces, and python-docx's document of the other parts. Out: the paragraphs and tables of the body,
one at a time: deletions removed, content controls and insertions unwrapped, text boxes and notes as paragraphs after
the one they belong to. python-docx itself skips all of these, and holds the whole tree.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import qn
from docx.oxml.parser import element_class_lookup
from docx.oxml.table import CT_Row, CT_Tbl, CT_Tc
from docx.oxml.text.paragraph import CT_P
from lxml import etree  # type: ignore[import-untyped] # python-docx's elements are lxml's, which brings no types

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


def related_element(document: Document, relationship: str) -> Element | None:
    """The root of the part with this relationship to the main part; None without such a part."""
    related = (found.target_part for found in document.part.rels.values() if found.reltype == relationship)
    return next((parse_xml(part.blob) for part in related), None)


def read_body(main: Iterable[bytes], document: Document) -> Iterator[CT_P | Rows]:
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
