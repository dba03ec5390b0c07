"""Reads PPTX slide by slide: the title as heading, the texts in visual order, then the notes.

In: a PresentationML file, transitional or strict. Out: a `Document` whose blocks know their slide. Shapes are read in
bands from top to bottom, each from left to right (positions in EMU, 914,400 an inch), charts by their cached data. No
pictures are read. python-pptx is not used: it holds every picture in memory and reads neither diagrams nor charts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from domain.locator import Locator
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import INDENT, Outline, render_table
from ingestion.parsers.sheets import plain_number
from ingestion.parsers.xml import Element, Package, Relation, attribute, child, local_name, stated_in, words_of
from ingestion.records import BlockKind, Document

MOST_POINTS = 10_000
EMU_OF_BAND = 350_000  # about a centimetre: shapes whose tops differ by less are side by side
FAR_BELOW = 10**9  # for a shape without a position
TITLE_TYPES = frozenset({"title", "ctrTitle"})
WORDY = frozenset({"sp", "graphicFrame", "cxnSp"})
GROUP = "grpSp"
DEEPEST_GROUP = 30
ALTERNATIVES = "AlternateContent"
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
    places = sorted({place for column in (categories, *columns) for place in column})[:MOST_POINTS]
    if not names or not places:
        return []
    header = ["", *names]
    return [header, *([categories.get(place, ""), *(column.get(place, "") for column in columns)] for place in places)]


def _first(series: Element, *names: str) -> Element | None:
    return next((found for name in names if (found := child(series, name)) is not None), None)


def _points(values: Element | None) -> dict[int, str]:
    if values is None:
        return {}
    points = ((point.get("idx", ""), words_of(child(point, "v"))) for point in values.iter("{*}pt"))
    return {int(place): _tidy(text) for place, text in points if place.isdecimal() and len(place) < 9}


def _name(text: Element | None) -> str:
    """The name of a series, without the formula that it comes from."""
    return "" if text is None else " ".join(words_of(value) for value in text.iter("{*}v", "{*}t"))


def _tidy(text: str) -> str:
    try:
        return plain_number(float(text))
    except ValueError:
        return text


@dataclass(frozen=True, kw_only=True)
class Corner:
    """The upper left corner of a shape."""

    top: float
    left: float


Placeholders = Mapping[tuple[str, str], Corner]
"""("idx", number) or ("type", name) -> position."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A shape that may contain text, and its position."""

    element: Element
    corner: Corner
    placeholder: str | None  # its type, "" if unstated; None: no placeholder


@dataclass(frozen=True, kw_only=True)
class _Group:
    """Transforms coordinates inside a group into those of the slide."""

    left: float = 0
    top: float = 0
    scale_x: float = 1
    scale_y: float = 1

    def place(self, left: float, top: float) -> Corner:
        return Corner(left=self.left + left * self.scale_x, top=self.top + top * self.scale_y)


def shapes_in_order(slide: Element | None, inherited: Placeholders) -> list[Shape]:
    """The shapes of a slide or notes page; none if it does not exist."""
    tree = next(slide.iter("{*}spTree"), None) if slide is not None else None
    if tree is None:
        return []
    return _in_bands(list(_walk(tree, _Group(), inherited, depth=0)))


def placeholders(layout: Element | None) -> dict[tuple[str, str], Corner]:
    """Positions of the placeholders in a layout or master."""
    places: dict[tuple[str, str], Corner] = {}
    for shape in shapes_in_order(layout, {}):
        mark = _placeholder(shape.element)
        if mark is not None and shape.corner.top < FAR_BELOW:
            for key in _keys(mark):
                places.setdefault(key, shape.corner)
    return places


def is_title(shape: Shape) -> bool:
    """Whether the shape is the title placeholder and has text."""
    return shape.placeholder in TITLE_TYPES and any(text.text for text in shape.element.iter("{*}t"))


def _walk(container: Element, group: _Group, inherited: Placeholders, *, depth: int) -> Iterator[Shape]:
    for element in container:
        name = local_name(element)
        if name == ALTERNATIVES:
            choice = child(element, "Choice")  # the fallback is a picture of the same
            yield from _walk(choice, group, inherited, depth=depth) if choice is not None else ()
        elif name == GROUP and depth < DEEPEST_GROUP:
            yield from _walk(element, _enter(element, group), inherited, depth=depth + 1)
        elif name in WORDY:
            yield _shape(element, group, inherited)


def _shape(element: Element, group: _Group, inherited: Placeholders) -> Shape:
    mark = _placeholder(element)
    offset = _offset(element, "off")
    if offset is not None:
        corner = group.place(*offset)
    else:
        keys = _keys(mark) if mark is not None else []
        corner = next((inherited[key] for key in keys if key in inherited), Corner(top=FAR_BELOW, left=0))
    return Shape(element=element, corner=corner, placeholder=mark.get("type", "") if mark is not None else None)


def _placeholder(element: Element) -> Element | None:
    return next(element.iter("{*}ph"), None)


def _keys(mark: Element) -> list[tuple[str, str]]:
    keys = [("idx", mark.get("idx"))] if mark.get("idx") else []
    kind = mark.get("type", "body")
    return [*keys, ("type", "title" if kind in TITLE_TYPES else kind)]


def _enter(element: Element, outer: _Group) -> _Group:
    properties = child(element, "grpSpPr")
    transform = child(properties, "xfrm") if properties is not None else None
    if transform is None:
        return outer
    left, top = _pair(child(transform, "off"), "x", "y") or (0, 0)
    inner_left, inner_top = _pair(child(transform, "chOff"), "x", "y") or (left, top)
    width, height = _pair(child(transform, "ext"), "cx", "cy") or (1, 1)
    inner_width, inner_height = _pair(child(transform, "chExt"), "cx", "cy") or (width, height)
    scale_x = outer.scale_x * (width / inner_width if inner_width else 1)
    scale_y = outer.scale_y * (height / inner_height if inner_height else 1)
    corner = outer.place(left, top)
    return _Group(
        left=corner.left - inner_left * scale_x, top=corner.top - inner_top * scale_y, scale_x=scale_x, scale_y=scale_y
    )


def _offset(element: Element, name: str) -> tuple[float, float] | None:
    """The offset of a shape (`spPr/xfrm`) or a frame (`xfrm`)."""
    properties = child(element, "spPr")
    transform = child(element if properties is None else properties, "xfrm")
    return None if transform is None else _pair(child(transform, name), "x", "y")


def _pair(element: Element | None, first: str, second: str) -> tuple[float, float] | None:
    try:
        return None if element is None else (float(element.get(first)), float(element.get(second)))
    except (TypeError, ValueError):
        return None


def _in_bands(shapes: list[Shape]) -> list[Shape]:
    ordered: list[Shape] = []
    band: list[Shape] = []
    for shape in sorted(shapes, key=lambda shape: shape.corner.top):
        if band and shape.corner.top - band[0].corner.top > EMU_OF_BAND:
            ordered.extend(sorted(band, key=lambda shape: shape.corner.left))
            band = []
        band.append(shape)
    return ordered + sorted(band, key=lambda shape: shape.corner.left)


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
        shapes = shapes_in_order(self._slide, self._inherited())
        title = next((shape for shape in shapes if is_title(shape)), None)
        self._outline.leave(1)
        if title is not None:
            self._outline.add_heading(" ".join(_paragraph_texts(title.element)), 1)
        for shape in shapes:
            if shape is not title and shape.placeholder not in UNREAD_TYPES:
                self._read_shape(shape)
        self._read_notes()

    def _inherited(self) -> Placeholders:
        """Positions of placeholders that the slide itself does not place, from its layout or the layout's master."""
        layout = self._related(self._relations, "slideLayout")
        if layout is None:
            return {}
        master = self._related(self._package.relations(layout), "slideMaster")
        places = placeholders(self._package.tree(master)) if master is not None else {}
        return {**places, **placeholders(self._package.tree(layout))}

    def _related(self, relations: Mapping[str, Relation], kind: str) -> str | None:
        found = (relation.target for relation in relations.values() if relation.kind == kind)
        return next((part for part in found if part in self._package.names), None)

    def _read_shape(self, shape: Shape) -> None:
        if local_name(shape.element) == "graphicFrame":
            self._read_frame(shape.element)
            return
        paragraphs = list(_paragraphs(shape.element))
        if shape.placeholder is not None and shape.placeholder in BODY_TYPES and len(paragraphs) > 1:
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

    def _read_notes(self) -> None:
        part = self._related(self._relations, "notesSlide")
        if part is None:
            return
        for shape in shapes_in_order(self._package.tree(part), {}):
            if shape.placeholder == "body":
                self._outline.add(BlockKind.PARAGRAPH, "\n".join(_paragraph_texts(shape.element)))


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
