"""Reads EPUB: chapters in the order of the book, each under its heading.

In: an EPUB 2 or 3 without copy protection. Out: a `Document` with the book's title and authors. Chapters without a
heading get their title from the table of contents. Nothing outside the archive is loaded.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.markup import add_markup, decode_markup
from ingestion.parsers.outline import Outline
from ingestion.parsers.xml import Element, Package, child, read_tree, resolve, stated_in, words_of
from ingestion.records import BlockKind, Document

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


def parse(path: Path, info: FileInfo) -> Document:
    """Raises SourceError: FILE_ENCRYPTED, FILE_DAMAGED (no package document), FILE_TOO_HEAVY."""
    with Package(path, name=info.name) as package:
        opf_part = _find_opf(package, info.name)
        opf = read_tree(package.read(opf_part), recover=True)
        items = _manifest(opf, opf_part)
        chapters = [items[key] for key in _spine(opf) if key in items and items[key].media_type in CHAPTER_TYPES]
        _check_open(package, chapters, info.name)
        contents = _contents(package, items, opf)
        outline = Outline()
        for chapter in chapters:
            _add_chapter(outline, decode_markup(package.read(chapter.part)), contents.get(chapter.part))
    authors = dict.fromkeys(map(words_of, opf.iter("{*}creator")))
    return outline.document(info.name, stated_in(opf, "title"), author=", ".join(authors) or None)


def _find_opf(package: Package, name: str) -> str:
    container = package.tree(CONTAINER)
    roots = [] if container is None else [root.get("full-path", "") for root in container.iter("{*}rootfile")]
    found = next((part for part in roots if part in package.names), None)
    found = found or next((part for part in sorted(package.names) if part.endswith(".opf")), None)
    if found is None:
        raise SourceError(FailureCode.FILE_DAMAGED, name=name, detail="no package document")
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


def _spine(opf: Element) -> list[str]:
    return list(dict.fromkeys(entry.get("idref", "") for entry in opf.iter("{*}itemref")))


def _check_open(package: Package, chapters: list[_Item], name: str) -> None:
    """Refuse encrypted chapters, which are copy-protected; encrypted fonts are harmless."""
    encryption = package.tree(ENCRYPTION)
    if encryption is None:
        return
    encrypted = {resolve("", reference.get("URI", "")) for reference in encryption.iter("{*}CipherReference")}
    if any(chapter.part in encrypted for chapter in chapters):
        raise SourceError(FailureCode.FILE_ENCRYPTED, name=name, detail="copy protection")


def _contents(package: Package, items: Mapping[str, _Item], opf: Element) -> Mapping[str, str]:
    """Part -> its first title in the table of contents (EPUB 3's, else EPUB 2's)."""
    titles: dict[str, str] = {}
    navigation = next((item for item in items.values() if "nav" in item.properties.split()), None)
    ncx = next((item for item in items.values() if item.media_type == NCX_TYPE), None)
    for item, links in ((navigation, _nav_links), (ncx, _ncx_links)):
        data = package.read(item.part) if item is not None else b""
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
