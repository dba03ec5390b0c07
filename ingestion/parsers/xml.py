"""Parses untrusted XML into trees and streams of elements, alone or as the parts of a ZIP archive; and reads plain XML.

In: bytes, or the path of an Office, OpenDocument or EPUB file; an XML file that is neither a page nor a book. Out:
lxml's elements; parts, inflated within a budget for the whole document, and the relations between Office parts; a
`Document` with a paragraph for each element that directly contains text. Invalid XML is read as plain text. Entities
stay unresolved, nothing is loaded or written to disk, and libxml2 keeps its limits of depth (256) and of a text's
length (10 MB). It knows no vocabulary.
"""

import posixpath
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import unquote

from lxml import etree  # type: ignore[import-untyped] # lxml brings no types

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers import text as plain_text
from ingestion.parsers.encodings import decode_text
from ingestion.parsers.outline import Outline
from ingestion.records import BlockKind, Document

Element = Any  # lxml's
OUT_OF_MEMORY = 2  # libxml2's XML_ERR_NO_MEMORY; lxml raises an XMLSyntaxError with this code
SAFE = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}
LARGEST_PARTS_BYTES = 64 * 1024 * 1024
"""Limit of all parts read as trees, inflated: 64 MB is a shelf of books. A tree takes ten times as much memory."""
LARGEST_STREAM_BYTES = 1024 * 1024 * 1024  # of a part read element by element; in practice the time limit applies first
UNREAD = frozenset({"style", "script"})  # in drawings


def read_tree(data: bytes, *, recover: bool = False, lookup: etree.ElementClassLookup | None = None) -> Element:
    """The root, its elements of the classes of `lookup`; with `recover`, of whatever can be parsed. Raises MemoryError,
    and ValueError when it is no XML."""
    try:
        root = etree.fromstring(data, _parser(recover, lookup))
    except etree.XMLSyntaxError as error:
        raise _explain(error) from error
    if root is None:
        raise ValueError("no element in the XML")
    return root


@cache  # making one takes as long as reading a small part
def _parser(recover: bool, lookup: etree.ElementClassLookup | None) -> etree.XMLParser:
    parser = etree.XMLParser(**SAFE, remove_comments=True, remove_pis=True, recover=recover)
    parser.set_element_class_lookup(lookup)
    return parser


def stream_elements(
    stream: IO[bytes],
    *tags: str,
    is_whole: Callable[[Element], bool] = lambda _: True,
    lookup: etree.ElementClassLookup | None = None,
) -> Iterator[Element]:
    """Complete elements with these tags (`{*}row`: in any namespace); each is emptied when the next is requested. Those
    for which `is_whole` says no are left to the one around them. Raises as `read_tree` does."""
    events = etree.iterparse(stream, tag=tags, remove_comments=True, remove_pis=True, **SAFE)
    events.set_element_class_lookup(lookup)
    try:
        for _, element in events:
            if not is_whole(element):
                continue
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError as error:
        raise _explain(error) from error


def local_name(element: Element) -> str:
    """The tag without its namespace, which differs between strict and transitional files; empty for what is no element
    (unresolved entities)."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: Element, name: str) -> str | None:
    """The value of an attribute by its local name."""
    found = element.get(name)
    if found is not None:
        return str(found)
    return next((str(value) for key, value in element.attrib.items() if key.endswith("}" + name)), None)


def child(element: Element, name: str) -> Element | None:
    """The first child with this local name."""
    return next(element.iterchildren("{*}" + name), None)


def words_of(element: Element | None) -> str:
    """All text inside on one line."""
    return "" if element is None else " ".join("".join(element.itertext()).split())


def stated_in(about: Element | None, field: str) -> str | None:
    """What a part about the file says of it in the first element with this local name."""
    return None if about is None else words_of(next(about.iter("{*}" + field), None)) or None


def _explain(error: Exception) -> Exception:
    is_memory = getattr(error, "code", None) == OUT_OF_MEMORY
    return MemoryError("libxml2") if is_memory else ValueError(f"{type(error).__name__}: {error}")


class Relation(NamedTuple):
    """A relation from one Office part to another."""

    kind: str  # the last word of its type: slide, notesSlide, chart
    target: str  # the part's name


class Package(zipfile.ZipFile):
    """An open archive. Opening one raises zipfile.BadZipFile."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._left_bytes = LARGEST_PARTS_BYTES
        self.names = frozenset(self.namelist())

    def part(self, name: str) -> bytes:
        """The whole part; empty when there is none. Raises SourceError FILE_TOO_HEAVY before it is inflated."""
        if name not in self.names:
            return b""
        size = self.getinfo(name).file_size  # as stated; zipfile never inflates beyond it
        self._left_bytes -= size
        if self._left_bytes < 0:
            raise SourceError(FailureCode.FILE_TOO_HEAVY, detail=f"inflates beyond {size} bytes")
        return self.read(name)

    def tree(self, part: str) -> Element | None:
        """The root of a part; None when there is no such part."""
        data = self.part(part)
        return read_tree(data) if data else None

    def stream(self, part: str, *, most_bytes: int = LARGEST_STREAM_BYTES) -> IO[bytes]:
        """The part for `stream_elements`. Raises KeyError, and SourceError FILE_TOO_HEAVY."""
        size = self.getinfo(part).file_size
        if size > most_bytes:
            raise SourceError(FailureCode.FILE_TOO_HEAVY, detail=f"{part} inflates to {size} bytes")
        return self.open(part)

    def relations(self, part: str) -> Mapping[str, Relation]:
        """Relations of an Office part, by id; without those to outside the package."""
        folder, base = posixpath.split(part)
        root = self.tree(posixpath.join(folder, "_rels", f"{base}.rels"))
        if root is None:
            return {}
        return {
            link.get("Id", ""): Relation(link.get("Type", "").rpartition("/")[2], resolve(part, link.get("Target", "")))
            for link in root
            if attribute(link, "TargetMode") != "External"
        }

    def related(self, links: Mapping[str, Relation], kind: str) -> str:
        """The part of this kind that `relations` lead to; empty when there is none."""
        return next((each.target for each in links.values() if each.kind == kind and each.target in self.names), "")


def resolve(part: str, target: str) -> str:
    """The part that `part` refers to as `target`: relative to its folder, or absolute; without the fragment."""
    path = posixpath.join("/", posixpath.dirname(part), unquote(target.partition("#")[0]))
    return posixpath.normpath(path).lstrip("/")


def parse(path: Path, name: str) -> Document:
    """Raises MemoryError when the tree is too large; SourceError only for too much text (see `Outline`)."""
    data = path.read_bytes()
    try:
        root = read_tree(data)
    except ValueError:
        return plain_text.read_text(decode_text(data), name=name)
    outline = Outline()
    for line in _lines(root):
        outline.add(BlockKind.PARAGRAPH, line)
    return outline.document(name)


def _lines(element: Element) -> Iterator[str]:
    """The text of each element that has text of its own, including its children's, which are not repeated."""
    if local_name(element) in UNREAD:
        return
    if any(text and text.strip() for text in (element.text, *(inner.tail for inner in element))):
        yield words_of(element)
    else:
        for inner in element:
            yield from _lines(inner)
