"""Reads PPTX slide by slide: the title as heading, the texts in visual order, then the notes.

In: a PresentationML file, transitional or strict. Out: a `Document` whose blocks know their slide. Shapes are read in
bands from top to bottom, each from left to right (positions in EMU, 914,400 an inch), those of a group together,
charts by their cached data. No pictures are read. python-pptx is not used: it holds every picture in memory and reads
neither diagrams nor charts.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from operator import itemgetter
from pathlib import Path

from domain.locator import Locator
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import INDENT, Outline, render_table
from ingestion.parsers.sheets import plain_number
from ingestion.parsers.xml import Element, Package, Relation, attribute, child, local_name, stated_in, words_of
from ingestion.records import BlockKind, Document

EMU_OF_BAND = 350_000  # about a centimetre: shapes whose tops differ by less are side by side
FAR_BELOW = 10**9  # for a shape without a position
TITLE_TYPES = frozenset({"title", "ctrTitle"})
PRESENTATION = "ppt/presentation.xml"
BODY_TYPES = frozenset({"body", "obj", "subTitle", ""})
UNREAD_TYPES = frozenset({"dt", "ftr", "sldNum", "hdr", "sldImg"})  # date, footer, number: the same on every slide
DEEPEST_LIST = 8


def chart_rows(chart: Element) -> list[list[str]]:
    """The rows; empty for a chart without data."""
    names: list[str] = []
    columns: list[dict[int, str]] = []
    categories: dict[int, str] = {}
    for series in chart.iter("{*}ser"):
        names.append(_name(child(series, "tx")))
        columns.append(_points(_first(series, "val", "yVal")))
        categories = categories or _points(_first(series, "cat", "xVal"))
    places = sorted({place for column in (categories, *columns) for place in column})[:10_000]
    if not names or not places:
        return []
    header = ["", *names]
    return [header, *([categories.get(place, ""), *(column.get(place, "") for column in columns)] for place in places)]


def _first(series: Element, *names: str) -> Element | None:
    return next((found for name in names if (found := child(series, name)) is not None), None)


def _points(values: Element | None) -> dict[int, str]:
    points = () if values is None else values.iter("{*}pt")
    texts = ((point.get("idx", ""), words_of(child(point, "v"))) for point in points)
    return {int(place): _tidy(text) for place, text in texts if place.isdecimal() and len(place) < 9}


def _name(text: Element | None) -> str:
    """The name of a series, without the formula that it comes from."""
    return "" if text is None else " ".join(words_of(value) for value in text.iter("{*}v", "{*}t"))


def _tidy(text: str) -> str:
    try:
        return plain_number(float(text))
    except ValueError:
        return text


Corner = tuple[float, float]
"""Top and left of a shape."""
Placeholders = Mapping[tuple[str, str], Corner]
"""("idx", number) or ("type", name) -> position."""


def _shapes(container: Element | None, inherited: Placeholders) -> Iterator[Element]:
    """The shapes of a slide's tree or of a group in visual order."""
    placed = [(*_corner(element, inherited), element) for element in _content(container)]
    banded: list[tuple[float, float, Element]] = []
    for top, left, element in sorted(placed, key=itemgetter(0)):
        is_beside = bool(banded) and top - banded[-1][0] <= EMU_OF_BAND
        banded.append((banded[-1][0] if is_beside else top, left, element))
    for *_, element in sorted(banded, key=itemgetter(0, 1)):
        if local_name(element) == "grpSp":
            yield from _shapes(element, inherited)
        else:
            yield element


def _content(container: Element | None) -> Iterator[Element]:
    for element in () if container is None else container:
        if local_name(element) == "AlternateContent":
            yield from _content(child(element, "Choice"))  # the fallback is a picture of the same
        elif local_name(element) in ("sp", "graphicFrame", "cxnSp", "grpSp"):
            yield element


def _corner(element: Element, inherited: Placeholders) -> Corner:
    """Of a shape or group by its properties, of a frame by its own transform, else of its placeholder."""
    properties = _first(element, "spPr", "grpSpPr")
    transform = child(element if properties is None else properties, "xfrm")
    offset = None if transform is None else child(transform, "off")
    with suppress(ValueError):  # the strict variant allows units
        if offset is not None:
            return float(offset.get("y", 0)), float(offset.get("x", 0))
    return next((inherited[key] for key in _keys(element) if key in inherited), (FAR_BELOW, 0))


def _keys(element: Element) -> list[tuple[str, str]]:
    """Under which a layout knows the placeholder that the shape is; none for any other."""
    if local_name(element) == "grpSp" or (mark := next(element.iter("{*}ph"), None)) is None:
        return []
    kind = mark.get("type", "body")
    keys = [("idx", mark.get("idx")), ("type", "title" if kind in TITLE_TYPES else kind)]
    return [key for key in keys if key[1]]


def _placeholder(element: Element) -> str | None:
    """The type of placeholder, "" if unstated; None: it is none."""
    mark = next(element.iter("{*}ph"), None)
    return None if mark is None else mark.get("type", "")


def _tree(slide: Element | None) -> Element | None:
    return None if slide is None else next(slide.iter("{*}spTree"), None)


def parse(path: Path, info: FileInfo) -> Document:
    """Includes hidden slides. Raises SourceError FILE_TOO_HEAVY."""
    with Package(path) as package:
        outline = Outline()
        slides = list(_slides(package))
        for number, part in enumerate(slides, start=1):
            outline.place = Locator(slide=number)
            _SlideReader(package, part, outline).read()
        core = package.tree("docProps/core.xml")
    return outline.document(info.name, stated_in(core, "title"), author=stated_in(core, "creator"), pages=len(slides))


def _slides(package: Package) -> Iterator[str]:
    """Slide parts in the order of the presentation; the names of parts may be in another order."""
    presentation = package.tree(PRESENTATION)
    relations = package.relations(PRESENTATION)
    for slide in presentation.iter("{*}sldId") if presentation is not None else ():
        ids = [value for key, value in slide.attrib.items() if key.endswith("}id")]  # besides the slide's plain `id`
        relation = relations.get(ids[0]) if ids else None
        if relation is not None and relation.target in package.names:
            yield relation.target


class _SlideReader:
    """Reads one slide and its notes."""

    def __init__(self, package: Package, part: str, outline: Outline) -> None:
        self._package = package
        self._relations = package.relations(part)
        self._slide = package.tree(part)
        self._outline = outline

    def read(self) -> None:
        """Add all text of the slide."""
        shapes = list(_shapes(_tree(self._slide), self._inherited()))
        titles = (shape for shape in shapes if _placeholder(shape) in TITLE_TYPES and _paragraph_texts(shape))
        title = next(titles, None)
        self._outline.leave(1)
        if title is not None:
            self._outline.add_heading(" ".join(_paragraph_texts(title)), 1)
        for shape in shapes:
            if shape is not title and _placeholder(shape) not in UNREAD_TYPES:
                self._read_shape(shape)
        notes = self._related(self._relations, "notesSlide")
        for shape in _shapes(_tree(self._package.tree(notes)), {}) if notes else ():
            if _placeholder(shape) == "body":
                self._outline.add(BlockKind.PARAGRAPH, "\n".join(_paragraph_texts(shape)))

    def _inherited(self) -> Placeholders:
        """Positions of placeholders that the slide itself does not place, from its layout or the layout's master."""
        layout = self._related(self._relations, "slideLayout")
        master = self._related(self._package.relations(layout), "slideMaster") if layout else None
        trees = [_tree(self._package.tree(part)) for part in (master, layout) if part]
        placed = [(element, _corner(element, {})) for tree in trees for element in _shapes(tree, {})]
        return {key: corner for element, corner in placed if corner[0] < FAR_BELOW for key in _keys(element)}

    def _related(self, relations: Mapping[str, Relation], kind: str) -> str | None:
        found = (relation.target for relation in relations.values() if relation.kind == kind)
        return next((part for part in found if part in self._package.names), None)

    def _read_shape(self, shape: Element) -> None:
        if local_name(shape) == "graphicFrame":
            self._read_frame(shape)
            return
        paragraphs = list(_paragraphs(shape))
        if _placeholder(shape) in BODY_TYPES and len(paragraphs) > 1:
            for paragraph in paragraphs:
                self._outline.add_line(BlockKind.LIST, f"{INDENT * _depth(paragraph)}- {_text(paragraph)}")
            self._outline.flush()
        else:
            self._outline.add(BlockKind.PARAGRAPH, "\n".join(map(_text, paragraphs)))

    def _read_frame(self, frame: Element) -> None:
        for table in frame.iter("{*}tbl"):
            rows = [[" ".join(_paragraph_texts(cell)) for cell in row.iter("{*}tc")] for row in table.iter("{*}tr")]
            self._outline.add(BlockKind.TABLE, render_table(rows))
        for chart in frame.iter("{*}chart"):
            tree = self._target(attribute(chart, "id"))
            if tree is not None:
                self._outline.add(BlockKind.PARAGRAPH, words_of(next(tree.iter("{*}title"), None)))
                self._outline.add(BlockKind.TABLE, render_table(chart_rows(tree)))
        for diagram in frame.iter("{*}relIds"):
            tree = self._target(attribute(diagram, "dm"))
            for point in tree.iter("{*}pt") if tree is not None else ():
                for text in _paragraph_texts(point):
                    self._outline.add_line(BlockKind.LIST, f"- {text}")

    def _target(self, key: str | None) -> Element | None:
        relation = self._relations.get(key or "")
        return None if relation is None else self._package.tree(relation.target)


def _paragraphs(element: Element) -> Iterator[Element]:
    return (paragraph for paragraph in element.iter("{*}p") if _text(paragraph))


def _paragraph_texts(element: Element) -> list[str]:
    return [_text(paragraph) for paragraph in _paragraphs(element)]


def _text(paragraph: Element) -> str:
    """The text of a paragraph's runs, fields and formulas."""
    pieces = ("\n" if local_name(inner) == "br" else inner.text or "" for inner in paragraph.iter("{*}t", "{*}br"))
    return "\n".join(filter(None, (" ".join(line.split()) for line in "".join(pieces).split("\n"))))


def _depth(paragraph: Element) -> int:
    properties = child(paragraph, "pPr")
    level = properties.get("lvl", "0") if properties is not None else "0"
    return min(int(level), DEEPEST_LIST) if level.isdecimal() else 0
