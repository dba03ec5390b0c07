"""Reads PPTX slide by slide: the title as heading, the texts in visual order, then the notes.

In: a PresentationML file, transitional or strict. Out: a `Document` whose blocks know their slide. It reads the text of
tables, charts, diagrams and groups, but no pictures. python-pptx is not used: it holds every picture in memory and
reads neither diagrams nor charts.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from domain.locator import Locator
from ingestion.language import language_of
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.outline import INDENT, Outline
from ingestion.parsers.package import Package, Relation
from ingestion.parsers.pptx_charts import chart_rows
from ingestion.parsers.pptx_shapes import Placeholders, Shape, is_title, placeholders, shapes_in_order
from ingestion.parsers.tables import render_table
from ingestion.parsers.titles import choose_title
from ingestion.parsers.xml_trees import Element, attribute, child, local_name, words_of
from ingestion.records import BlockKind, Document

PRESENTATION = "ppt/presentation.xml"
BODY_TYPES = frozenset({"body", "obj", "subTitle", ""})
UNREAD_TYPES = frozenset({"dt", "ftr", "sldNum", "hdr", "sldImg"})  # date, footer, number: the same on every slide
DEEPEST_LIST = 8


def accepts(file: FileInfo) -> bool:
    """An archive that contains a presentation."""
    return file.kind is FileKind.PPTX


def parse(path: Path, info: FileInfo) -> Document:
    """Includes hidden slides. Raises SourceError FILE_TOO_HEAVY."""
    with Package(path, name=info.name) as package:
        outline = Outline()
        slides = list(_slides(package))
        for number, part in enumerate(slides, start=1):
            outline.place = Locator(slide=number)
            _SlideReader(package, part, outline).read()
        core = package.tree("docProps/core.xml")
    blocks = outline.finish()
    return Document(
        title=choose_title(_stated(core, "title"), blocks, name=info.name),
        blocks=blocks,
        pages=len(slides),
        language=language_of(blocks),
        author=_stated(core, "creator"),
    )


def _stated(core: Element | None, field: str) -> str | None:
    return None if core is None else words_of(child(core, field)) or None


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
