"""Reads books: EPUB chapter by chapter, FB2 section by section, each under its heading.

In: an EPUB 2 or 3 without copy protection; a FictionBook file in any encoding that it declares. Out: a `Document` with
the book's title and authors. Chapters without a heading get their title from the table of contents; verses are read
line by line, notes where they are referenced. Pictures of FB2, most of such a file, are removed before parsing. Nothing
outside of the file is loaded.
"""

import codecs
import re
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.encodings import decode_page
from ingestion.parsers.markup import add_markup
from ingestion.parsers.outline import Outline
from ingestion.parsers.xml import (
    Element,
    Package,
    attribute,
    child,
    local_name,
    read_tree,
    resolve,
    stated_in,
    words_of,
)
from ingestion.records import BlockKind, Document

DEEPEST_HEADING = 6
NAME_PARTS = ("first-name", "middle-name", "last-name")
NOTES = frozenset({"notes", "comments"})

_PICTURE = re.compile(rb"<binary\b[^>]*>[^<]*</binary\s*>")
_NAMED = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][A-Za-z0-9]{1,31};")
_END = re.compile(rb"</\s*(?:\w+:)?FictionBook\s*>\s*\Z")
CHAPTER_TYPES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/xml"})
HEADING_WITHIN_BLOCKS = 3  # of a chapter: the heading may follow an epigraph


def parse_epub(path: Path, name: str) -> Document:
    """Raises SourceError: FILE_ENCRYPTED, FILE_DAMAGED (no package document), FILE_TOO_HEAVY."""
    with Package(path) as package:
        container = package.tree("META-INF/container.xml")
        stated = [] if container is None else [root.get("full-path", "") for root in container.iter("{*}rootfile")]
        found = (*stated, *(part for part in sorted(package.names) if part.endswith(".opf")))
        opf_part = next((part for part in found if part in package.names), None)
        if opf_part is None:
            raise SourceError(FailureCode.FILE_DAMAGED, detail="no package document")
        opf = read_tree(package.part(opf_part), recover=True)
        items = {item.get("id", ""): item for item in opf.iter("{*}item")}
        spine = dict.fromkeys(entry.get("idref", "") for entry in opf.iter("{*}itemref"))
        chapters = [items[key] for key in spine if key in items and items[key].get("media-type") in CHAPTER_TYPES]
        parts = [resolve(opf_part, chapter.get("href", "")) for chapter in chapters]
        encryption = package.tree("META-INF/encryption.xml")
        hidden = () if encryption is None else encryption.iter("{*}CipherReference")
        if not {resolve("", reference.get("URI", "")) for reference in hidden}.isdisjoint(parts):  # fonts are harmless
            raise SourceError(FailureCode.FILE_ENCRYPTED, detail="copy protection")
        contents = _contents(package, opf, opf_part)
        outline = Outline()
        for part in parts:
            _add_chapter(outline, decode_page(package.part(part)), contents.get(part))
    authors = dict.fromkeys(map(words_of, opf.iter("{*}creator")))
    return outline.document(name, stated_in(opf, "title"), author=", ".join(authors) or None)


def _contents(package: Package, opf: Element, opf_part: str) -> Mapping[str, str]:
    """Part -> its first title in the table of contents (EPUB 3's, else EPUB 2's)."""
    titles: dict[str, str] = {}
    items = list(opf.iter("{*}item"))
    newer = [item for item in items if "nav" in item.get("properties", "").split()]
    for item in (*newer, *(item for item in items if item.get("media-type") == "application/x-dtbncx+xml")):
        part = resolve(opf_part, item.get("href", ""))
        data = package.part(part)
        for point in read_tree(data, recover=True).iter("{*}a", "{*}navPoint") if data else ():
            content, label = child(point, "content"), child(point, "navLabel")  # EPUB 2's
            target = point.get("href", "") if content is None else content.get("src", "")
            titles.setdefault(resolve(part, target), words_of(point if label is None else label))
    return titles


def _add_chapter(outline: Outline, source: str, title: str | None) -> None:
    chapter = Outline()
    add_markup(chapter, source)
    blocks = chapter.finish()
    if blocks and title and not any(block.kind is BlockKind.HEADING for block in blocks[:HEADING_WITHIN_BLOCKS]):
        outline.add_heading(title, 1)
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            outline.add_heading(block.text, block.level or 1)
        else:
            outline.add(block.kind, block.text)


def parse_fb2(path: Path, name: str) -> Document:
    """Tolerates small mistakes in the markup. Raises SourceError FILE_DAMAGED for a truncated file."""
    data = _PICTURE.sub(b"", path.read_bytes())
    if not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not _END.search(data):
        raise SourceError(FailureCode.FILE_DAMAGED, detail="the end of the book is missing")
    # HTML's names of characters become numbers, which XML knows without a DTD.
    data = _NAMED.sub(lambda found: unescape(found[0].decode()).encode("ascii", "xmlcharrefreplace"), data)
    root = read_tree(data, recover=True)
    bodies = list(root.iterchildren("{*}body"))
    notes = (note for body in bodies if body.get("name") in NOTES for note in body.iter("{*}section"))
    reader = _BookReader({note.get("id", ""): _words_below_title(note) for note in notes})
    for body in bodies:
        if body.get("name") not in NOTES:
            reader.read_children(body, level=0)
    about = next(root.iter("{*}title-info"), None)
    people = [] if about is None else about.iterchildren("{*}author")
    names = (" ".join(filter(None, (words_of(child(person, part)) for part in NAME_PARTS))) for person in people)
    authors = ", ".join(filter(None, names)) or None
    return reader.outline.document(name, stated_in(about, "book-title"), author=authors)


def _words_below_title(note: Element) -> str:
    """Its title is its number."""
    return " ".join(filter(None, (words_of(inner) for inner in note if local_name(inner) != "title")))


class _BookReader:
    def __init__(self, notes: Mapping[str, str]) -> None:
        """`notes` are told by their id."""
        self.outline = Outline()
        self._notes = notes
        self._steps: Mapping[str, Callable[[Element, int], None]] = {
            **dict.fromkeys(("subtitle", "p", "text-author", "date", "stanza"), self._read_paragraph),
            "title": self._read_title,
        }

    def read_children(self, element: Element, level: int) -> None:
        """Read the children; elements without a step (such as poems and epigraphs) are just their content."""
        for inner in element:
            if local_name(inner) == "section":
                self.outline.leave(level + 1)
                self.read_children(inner, level + 1)
            elif local_name(inner) == "table":
                for row in inner.iterchildren("{*}tr"):
                    self.outline.add_row(list(map(words_of, row)))
                self.outline.flush()
            else:
                self._steps.get(local_name(inner), self.read_children)(inner, level)

    def _read_title(self, element: Element, level: int) -> None:
        text = ". ".join(filter(None, (words_of(line).rstrip(".") for line in element)))
        if level and local_name(element.getparent()) in ("section", "body"):
            self.outline.add_heading(text, min(level, DEEPEST_HEADING))
        else:
            self.outline.add(BlockKind.PARAGRAPH, text)

    def _read_paragraph(self, element: Element, _: int) -> None:
        """Of a verse the lines, and after each the notes that it refers to."""
        lines = element if local_name(element) == "stanza" else (element,)
        self.outline.add(BlockKind.PARAGRAPH, "\n".join(filter(None, map(words_of, lines))))
        for link in element.iter("{*}a"):
            if note := self._notes.get((attribute(link, "href") or "").removeprefix("#")):
                self.outline.add(BlockKind.PARAGRAPH, f"{words_of(link)} {note}")
