"""Derives from the styles and lists of a DOCX which paragraphs are headings and which are list items.

In: python-docx's document. Out: each paragraph's role. It ignores fonts and colours.
"""

import re
from dataclasses import dataclass

from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml.ns import nsmap, qn
from docx.oxml.text.paragraph import CT_P
from docx.oxml.text.parfmt import CT_PPr

from ingestion.parsers.docx_flow import Element, related_element

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

    def __init__(self, document: Document) -> None:
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
