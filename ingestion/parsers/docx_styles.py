"""What the styles and lists of a DOCX file mean for its text: which paragraphs are headings, which are list items.

In: the styles and numbering parts. Out: answers about a paragraph. It knows nothing of fonts and colours.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ingestion.parsers.docx_package import Element, attribute, child, children, value_of

HEADING_STYLE = re.compile(r"(?:heading|заголовок)\s*(\d)", re.IGNORECASE)
TITLE_STYLES = frozenset({"title", "название"})
CODE_STYLES = frozenset({"html preformatted", "code", "source code", "preformatted text", "plain text"})
BODY_OUTLINE_LEVEL = 9  # in w:outlineLvl, 0 is the outermost heading and 9 is no heading
LONGEST_STYLE_CHAIN = 20  # styles are based on one another; a damaged file may do so in a ring
NO_LIST = "0"  # w:numId 0 takes a paragraph out of its style's list


@dataclass(frozen=True, kw_only=True)
class ListPlace:
    """Where in which list an item stands."""

    list_id: str
    depth: int  # 0 the outermost
    ordered: bool


class DocxStyles:
    """Answers about a paragraph's properties (`w:pPr`), which name a style, which is based on another style."""

    def __init__(self, styles: Element | None, numbering: Element | None) -> None:
        self._styles = {attribute(style, "styleId"): style for style in children(styles, "style")}
        self._formats = dict(_list_formats(numbering))

    def heading_level(self, properties: Element | None) -> int | None:
        """1 the outermost; None for what is no heading."""
        for layer in self._layers(properties):
            name = (value_of(layer, "name") or "").lower()
            if name in TITLE_STYLES:
                return 1
            found = HEADING_STYLE.fullmatch(name)
            if found is not None:
                return max(1, int(found.group(1)))
            outline = value_of(child(layer, "pPr") if name else layer, "outlineLvl")
            if outline is not None and outline.isdigit():
                return int(outline) + 1 if int(outline) < BODY_OUTLINE_LEVEL else None
        return None

    def list_place(self, properties: Element | None) -> ListPlace | None:
        """None for a paragraph outside of lists."""
        list_id = depth = None
        for layer in self._layers(properties):
            numbering = child(layer if layer is properties else child(layer, "pPr"), "numPr")
            list_id = list_id or value_of(numbering, "numId")
            depth = depth or value_of(numbering, "ilvl")
        if list_id is None or list_id == NO_LIST:
            return None
        level = int(depth) if depth is not None and depth.isdigit() else 0
        ordered = self._formats.get((list_id, level), "bullet") not in {"bullet", "none"}
        return ListPlace(list_id=list_id, depth=level, ordered=ordered)

    def is_code(self, properties: Element | None) -> bool:
        """Whether line breaks and spaces are meant."""
        return any((value_of(layer, "name") or "").lower() in CODE_STYLES for layer in self._layers(properties))

    def _layers(self, properties: Element | None) -> Iterator[Element]:
        """The paragraph's own properties, then its style and the styles below that."""
        if properties is None:
            return
        yield properties
        style = self._styles.get(value_of(properties, "pStyle"))
        for _ in range(LONGEST_STYLE_CHAIN):
            if style is None:
                return
            yield style
            style = self._styles.get(value_of(style, "basedOn"))


def _list_formats(numbering: Element | None) -> Iterator[tuple[tuple[str, int], str]]:
    """(list, depth) -> bullet, decimal, lowerLetter ..."""
    abstract: Mapping[str | None, Element] = {
        attribute(definition, "abstractNumId"): definition for definition in children(numbering, "abstractNum")
    }
    for number in children(numbering, "num"):
        list_id = attribute(number, "numId") or ""
        for level in children(abstract.get(value_of(number, "abstractNumId")), "lvl"):
            depth = attribute(level, "ilvl") or "0"
            if depth.isdigit():
                yield (list_id, int(depth)), value_of(level, "numFmt") or "bullet"
