"""Reads books: EPUB chapter by chapter, FB2 section by section, each under its heading.

In: an EPUB 2 or 3 without copy protection; a FictionBook file in any encoding that it declares. Out: a `Document` with
the book's title and authors. Chapters without a heading get their title from the table of contents; verses are read
line by line, notes where they are referenced. Pictures of FB2, most of such a file, are removed before parsing. Nothing
outside of the file is loaded.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.markup import add_markup, decode_markup
from ingestion.parsers.outline import Outline, render_table
from ingestion.parsers.xml import (
    Element,
    Package,
    attribute,
    child,
    local_name,
    read_tree,
    resolve,
    spell_entities,
    stated_in,
    words_of,
)
from ingestion.records import BlockKind, Document

DEEPEST_HEADING = 6
NAME_PARTS = ("first-name", "middle-name", "last-name")
NOTES = "notes"

_PICTURE = re.compile(rb"<binary\b[^>]*>[^<]*</binary\s*>")
_END = re.compile(rb"</\s*(?:\w+:)?FictionBook\s*>\s*\Z")
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
CHAPTER_TYPES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/xml"})
HEADING_WITHIN_BLOCKS = 3  # of a chapter: the heading may follow an epigraph
NCX_TYPE = "application/x-dtbncx+xml"


@dataclass(frozen=True, kw_only=True)
class _Item:
    """An entry of the book's manifest."""

    part: str
    media_type: str
    properties: str


def parse_epub(path: Path, info: FileInfo) -> Document:
    """Raises SourceError: FILE_ENCRYPTED, FILE_DAMAGED (no package document), FILE_TOO_HEAVY."""
    with Package(path) as package:
        opf_part = _find_opf(package)
        opf = read_tree(package.part(opf_part), recover=True)
        items = _manifest(opf, opf_part)
        spine = dict.fromkeys(entry.get("idref", "") for entry in opf.iter("{*}itemref"))
        chapters = [items[key] for key in spine if key in items and items[key].media_type in CHAPTER_TYPES]
        _check_open(package, chapters)
        contents = _contents(package, items, opf)
        outline = Outline()
        for chapter in chapters:
            _add_chapter(outline, decode_markup(package.part(chapter.part)), contents.get(chapter.part))
    authors = dict.fromkeys(map(words_of, opf.iter("{*}creator")))
    return outline.document(info.name, stated_in(opf, "title"), author=", ".join(authors) or None)


def _find_opf(package: Package) -> str:
    container = package.tree(CONTAINER)
    roots = [] if container is None else [root.get("full-path", "") for root in container.iter("{*}rootfile")]
    found = next((part for part in roots if part in package.names), None)
    found = found or next((part for part in sorted(package.names) if part.endswith(".opf")), None)
    if found is None:
        raise SourceError(FailureCode.FILE_DAMAGED, detail="no package document")
    return found


def _manifest(opf: Element, opf_part: str) -> Mapping[str, _Item]:
    return {
        item.get("id", ""): _Item(
            part=resolve(opf_part, item.get("href", "")),
            media_type=item.get("media-type", ""),
            properties=item.get("properties", ""),
        )
        for item in opf.iter("{*}item")
    }


def _check_open(package: Package, chapters: list[_Item]) -> None:
    """Refuse encrypted chapters, which are copy-protected; encrypted fonts are harmless."""
    encryption = package.tree(ENCRYPTION)
    if encryption is None:
        return
    encrypted = {resolve("", reference.get("URI", "")) for reference in encryption.iter("{*}CipherReference")}
    if any(chapter.part in encrypted for chapter in chapters):
        raise SourceError(FailureCode.FILE_ENCRYPTED, detail="copy protection")


def _contents(package: Package, items: Mapping[str, _Item], opf: Element) -> Mapping[str, str]:
    """Part -> its first title in the table of contents (EPUB 3's, else EPUB 2's)."""
    titles: dict[str, str] = {}
    navigation = next((item for item in items.values() if "nav" in item.properties.split()), None)
    ncx = next((item for item in items.values() if item.media_type == NCX_TYPE), None)
    for item, links in ((navigation, _nav_links), (ncx, _ncx_links)):
        data = package.part(item.part) if item is not None else b""
        if item is None or not data:
            continue
        for target, title in links(read_tree(data, recover=True)):
            titles.setdefault(resolve(item.part, target), title)
    return titles


def _nav_links(root: Element) -> Iterator[tuple[str, str]]:
    for link in root.iter("{*}a"):
        yield link.get("href", ""), words_of(link)


def _ncx_links(root: Element) -> Iterator[tuple[str, str]]:
    for point in root.iter("{*}navPoint"):
        content = child(point, "content")
        yield (content.get("src", "") if content is not None else ""), words_of(child(point, "navLabel"))


def _add_chapter(outline: Outline, source: str, title: str | None) -> None:
    """`title` is the chapter's in the table of contents."""
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


def parse_fb2(path: Path, info: FileInfo) -> Document:
    """Tolerates small mistakes in the markup. Raises SourceError FILE_DAMAGED for a truncated file."""
    data = _PICTURE.sub(b"", path.read_bytes())
    if not data.startswith(_WIDE_BOMS) and not _END.search(data):
        raise SourceError(FailureCode.FILE_DAMAGED, detail="the end of the book is missing")
    root = read_tree(spell_entities(data), recover=True)
    reader = _BookReader(_notes(root))
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


class _BookReader:
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
