"""Reads FB2: sections as headings, verses line by line, notes where they are referenced.

In: a FictionBook file in any encoding that it declares. Out: a `Document` with title and authors. Pictures are removed
before parsing: they are most of such a file.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import Outline, render_table
from ingestion.parsers.xml import Element, attribute, child, local_name, read_tree, spell_entities, stated_in, words_of
from ingestion.records import BlockKind, Document

DEEPEST_HEADING = 6
NAME_PARTS = ("first-name", "middle-name", "last-name")
NOTES = "notes"

_PICTURE = re.compile(rb"<binary\b[^>]*>[^<]*</binary\s*>")
_END = re.compile(rb"</\s*(?:\w+:)?FictionBook\s*>\s*\Z")
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")


def parse(path: Path, info: FileInfo) -> Document:
    """Tolerates small mistakes in the markup. Raises SourceError FILE_DAMAGED for a truncated file."""
    data = _PICTURE.sub(b"", path.read_bytes())
    if not data.startswith(_WIDE_BOMS) and not _END.search(data):
        raise SourceError(FailureCode.FILE_DAMAGED, name=info.name, detail="the end of the book is missing")
    root = read_tree(spell_entities(data), recover=True)
    reader = _Reader(_notes(root))
    for body in root.iterchildren("{*}body"):
        if body.get("name") not in (NOTES, "comments"):
            reader.read_children(body, level=0)
    about = next(root.iter("{*}title-info"), None)
    return reader.outline.document(info.name, stated_in(about, "book-title"), author=_authors(about))


def _authors(about: Element | None) -> str | None:
    people = [] if about is None else about.iterchildren("{*}author")
    names = (" ".join(filter(None, (words_of(child(person, part)) for part in NAME_PARTS))) for person in people)
    return ", ".join(filter(None, names)) or None


def _notes(root: Element) -> dict[str, str]:
    """Id -> the note's text, without the number that is its title."""
    notes: dict[str, str] = {}
    for body in root.iterchildren("{*}body"):
        if body.get("name") in (NOTES, "comments"):
            for section in body.iter("{*}section"):
                paragraphs = [inner for inner in section if local_name(inner) != "title"]
                notes[section.get("id", "")] = " ".join(filter(None, map(words_of, paragraphs)))
    return notes


class _Reader:
    """Walks the sections."""

    def __init__(self, notes: Mapping[str, str]) -> None:
        self.outline = Outline()
        self._notes = notes
        self._steps: Mapping[str, Callable[[Element, int], None]] = {
            "title": self._read_title,
            "subtitle": self._read_paragraph,
            "p": self._read_paragraph,
            "text-author": self._read_paragraph,
            "date": self._read_paragraph,
            "stanza": self._read_stanza,
            "table": self._read_table,
            "section": self._read_section,
        }

    def read_children(self, element: Element, level: int) -> None:
        """Read the children; elements without a step (such as poems and epigraphs) are just their content."""
        for inner in element:
            self._steps.get(local_name(inner), self.read_children)(inner, level)

    def _read_section(self, element: Element, level: int) -> None:
        self.outline.leave(level + 1)
        self.read_children(element, level + 1)

    def _read_title(self, element: Element, level: int) -> None:
        is_heading = local_name(element.getparent()) in ("section", "body")
        text = ". ".join(filter(None, (words_of(line).rstrip(".") for line in element)))
        if is_heading and level:
            self.outline.add_heading(text, min(level, DEEPEST_HEADING))
        else:
            self.outline.add(BlockKind.PARAGRAPH, text)

    def _read_paragraph(self, element: Element, _: int) -> None:
        self.outline.add(BlockKind.PARAGRAPH, words_of(element))
        self._add_notes(element)

    def _read_stanza(self, element: Element, _: int) -> None:
        self.outline.add(BlockKind.PARAGRAPH, "\n".join(filter(None, map(words_of, element))))
        self._add_notes(element)

    def _read_table(self, element: Element, _: int) -> None:
        rows = [[words_of(cell) for cell in row] for row in element.iterchildren("{*}tr")]
        self.outline.add(BlockKind.TABLE, render_table(rows))

    def _add_notes(self, element: Element) -> None:
        for link in element.iter("{*}a"):
            note = self._notes.get((attribute(link, "href") or "").removeprefix("#"))
            if note:
                self.outline.add(BlockKind.PARAGRAPH, f"{words_of(link)} {note}")
