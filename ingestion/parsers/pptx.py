"""Reads PPTX slide by slide: the title as heading, the texts in visual order, then the notes.

In: a PresentationML file, transitional or strict. Out: a `Document` whose blocks know their slide. Shapes are read in
bands from top to bottom, each from left to right (positions in EMU, 914,400 an inch), those of a group together,
charts by their cached data. No pictures are read. python-pptx is not used: it holds every picture in memory, and reads
no diagram and no strict file.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from operator import itemgetter
from pathlib import Path

from domain.locator import Locator
from ingestion.parsers.outline import Outline, render_table
from ingestion.parsers.sheets import plain_number
from ingestion.parsers.xml import Element, Package, attribute, child, local_name, stated_in, words_of
from ingestion.records import BlockKind, Document

EMU_OF_BAND = 350_000  # about a centimetre: shapes whose tops differ by less are side by side
FAR_BELOW = 10**9  # for a shape without a position
TITLE_TYPES = frozenset({"title", "ctrTitle"})
PRESENTATION = "ppt/presentation.xml"
SLIDE_IDS = "//*[local-name() = 'sldId']/@*[local-name() = 'id' and namespace-uri()]"  # besides the plain `id`
BODY_TYPES = frozenset({"body", "obj", "subTitle", ""})
UNREAD_TYPES = frozenset({"dt", "ftr", "sldNum", "hdr", "sldImg"})  # date, footer, number: the same on every slide
MOST_POINTS = 10_000  # of a chart

Placeholders = Mapping[tuple[str, str], tuple[float, float]]  # ("idx", number) or ("type", name) -> top and left


def parse(path: Path, name: str) -> Document:
    """Includes hidden slides. Raises SourceError FILE_TOO_HEAVY."""
    with Package(path) as package:
        outline = Outline()
        placeholders = cache(lambda layout: _placed(package, layout))  # many slides have one layout
        presentation, relations = package.tree(PRESENTATION), package.relations(PRESENTATION)
        ids = [] if presentation is None else presentation.xpath(SLIDE_IDS)
        found = (relations[each].target for each in ids if each in relations)  # their names may be in another order
        slides = [part for part in found if part in package.names]
        for number, part in enumerate(slides, start=1):
            outline.place = Locator(slide=number)
            layout = package.related(package.relations(part), "slideLayout")
            _add_slide(outline, package, part, placeholders(layout) if layout else {})
        core = package.tree("docProps/core.xml")
    return outline.document(name, stated_in(core, "title"), author=stated_in(core, "creator"), pages=len(slides))


def _placed(package: Package, layout: str) -> Placeholders:
    """Positions of placeholders that slides do not place themselves, from their layout or its master."""
    master = package.related(package.relations(layout), "slideMaster")
    placed = [(each, _corner(each, {})) for part in (master, layout) for each in _shapes(package.tree(part), {})]
    return {key: corner for element, corner in placed if corner[0] < FAR_BELOW for key in _keys(element)}


def _shapes(part: Element | None, placeholders: Placeholders) -> Iterator[Element]:
    """The shapes of a slide, or of a group, in visual order."""
    tree = None if part is None else next(part.iter("{*}spTree", "{*}grpSp"), None)
    placed = [(*_corner(element, placeholders), element) for element in _content(tree)]
    banded: list[tuple[float, float, Element]] = []
    for top, left, element in sorted(placed, key=itemgetter(0)):
        is_beside = bool(banded) and top - banded[-1][0] <= EMU_OF_BAND
        banded.append((banded[-1][0] if is_beside else top, left, element))
    for *_, element in sorted(banded, key=itemgetter(0, 1)):
        if local_name(element) == "grpSp":
            yield from _shapes(element, placeholders)
        else:
            yield element


def _content(container: Element | None) -> Iterator[Element]:
    for element in () if container is None else container:
        if local_name(element) == "AlternateContent":
            yield from _content(child(element, "Choice"))  # the fallback is a picture of the same
        elif local_name(element) in ("sp", "graphicFrame", "cxnSp", "grpSp"):
            yield element


def _corner(element: Element, placeholders: Placeholders) -> tuple[float, float]:
    """Of a shape or group by its properties, of a frame by its own transform, else of its placeholder."""
    properties = next(element.iterchildren("{*}spPr", "{*}grpSpPr"), None)
    transform = child(element if properties is None else properties, "xfrm")
    offset = None if transform is None else child(transform, "off")
    with suppress(ValueError):  # the strict variant allows units
        if offset is not None:
            return float(offset.get("y", 0)), float(offset.get("x", 0))
    return next((placeholders[key] for key in _keys(element) if key in placeholders), (FAR_BELOW, 0))


def _keys(element: Element) -> list[tuple[str, str]]:
    """Under which a layout knows the placeholder that the shape is; none for any other."""
    if local_name(element) == "grpSp" or (mark := next(element.iter("{*}ph"), None)) is None:
        return []
    kind = mark.get("type", "body")
    keys = [("idx", mark.get("idx")), ("type", "title" if kind in TITLE_TYPES else kind)]
    return [key for key in keys if key[1]]


def _kind(element: Element) -> str | None:
    """The type of placeholder, "" if unstated; None: it is none."""
    mark = next(element.iter("{*}ph"), None)
    return None if mark is None else mark.get("type", "")


def _add_slide(outline: Outline, package: Package, part: str, placeholders: Placeholders) -> None:
    shapes = list(_shapes(package.tree(part), placeholders))
    title = next((shape for shape in shapes if _kind(shape) in TITLE_TYPES and _texts(shape)), None)
    outline.leave(1)
    if title is not None:
        outline.add_heading(" ".join(_texts(title)), 1)
    links = package.relations(part)
    parts = {key: relation.target for key, relation in links.items()}
    for shape in shapes:
        if local_name(shape) == "graphicFrame":
            _add_frame(outline, package, shape, parts)
        elif shape is not title and _kind(shape) not in UNREAD_TYPES:
            _add_texts(outline, shape)
    for shape in _shapes(package.tree(package.related(links, "notesSlide")), {}):
        if _kind(shape) == "body":
            outline.add(BlockKind.PARAGRAPH, "\n".join(_texts(shape)))


def _add_texts(outline: Outline, shape: Element) -> None:
    told = [(text, paragraph) for paragraph in shape.iter("{*}p") if (text := _text(paragraph))]
    if _kind(shape) not in BODY_TYPES or len(told) < 2:
        outline.add(BlockKind.PARAGRAPH, "\n".join(text for text, _ in told))
        return
    for text, paragraph in told:
        level = str(paragraph.xpath("string(*[local-name() = 'pPr']/@lvl)"))
        outline.add_item(text, depth=int(level) if level.isdecimal() else 0)
    outline.flush()


def _add_frame(outline: Outline, package: Package, frame: Element, parts: Mapping[str, str]) -> None:
    for table in frame.iter("{*}tbl"):
        for row in table.iter("{*}tr"):
            outline.add_row([" ".join(_texts(cell)) for cell in row.iter("{*}tc")])
        outline.flush()
    for chart in frame.iter("{*}chart"):
        if (tree := package.tree(parts.get(attribute(chart, "id") or "", ""))) is not None:
            outline.add(BlockKind.PARAGRAPH, words_of(next(tree.iter("{*}title"), None)))
            outline.add(BlockKind.TABLE, render_table(_chart_rows(tree)))
    for diagram in frame.iter("{*}relIds"):
        tree = package.tree(parts.get(attribute(diagram, "dm") or "", ""))
        for point in tree.iter("{*}pt") if tree is not None else ():
            for text in _texts(point):
                outline.add_item(text)


def _chart_rows(chart: Element) -> list[list[str]]:
    """The series as columns; none of a chart without data."""
    names, columns = [""], []
    categories: dict[int, str] = {}
    for series in chart.iter("{*}ser"):
        name = child(series, "tx")  # beside it, the formula that it comes from
        names.append(" ".join(words_of(value) for value in name.iter("{*}v", "{*}t")) if name is not None else "")
        columns.append(_points(next(series.iterchildren("{*}val", "{*}yVal"), None)))
        categories = categories or _points(next(series.iterchildren("{*}cat", "{*}xVal"), None))
    places = sorted({place for column in (categories, *columns) for place in column})[:MOST_POINTS]
    rows = [[categories.get(place, ""), *(column.get(place, "") for column in columns)] for place in places]
    return [names, *rows] if rows else []


def _points(values: Element | None) -> dict[int, str]:
    points: dict[int, str] = {}
    for point in () if values is None else values.iter("{*}pt"):
        text, place = words_of(child(point, "v")), point.get("idx", "")
        with suppress(ValueError):  # a name
            text = plain_number(float(text))
        if place.isdecimal() and len(place) < 9:
            points[int(place)] = text
    return points


def _texts(element: Element) -> list[str]:
    """Its paragraphs that have words."""
    return list(filter(None, map(_text, element.iter("{*}p"))))


def _text(paragraph: Element) -> str:
    """The text of a paragraph's runs, fields and formulas."""
    pieces = ("\n" if local_name(inner) == "br" else inner.text or "" for inner in paragraph.iter("{*}t", "{*}br"))
    return "\n".join(filter(None, (" ".join(line.split()) for line in "".join(pieces).split("\n"))))
