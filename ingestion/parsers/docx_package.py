"""Opens a DOCX with python-docx, within limits, and translated to the dialect that python-docx reads.

In: a path. Out: python-docx's document of the parts that a text needs. python-docx inflates every related part and
knows only the transitional variant, so it gets a copy in memory with the XML parts alone. The main part, nearly all of
a file, stays in the archive: it is streamed, and python-docx gets an empty one.
"""

import io
import posixpath
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import docx
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TARGET_MODE
from docx.opc.oxml import parse_xml, serialize_part_xml

from ingestion.errors import FailureCode, SourceError

LARGEST_XML_BYTES = 64 * 1024 * 1024
"""Limit of all XML parts, inflated; 64 MB is a shelf of books."""

LARGEST_OTHER_BYTES = 16 * 1024 * 1024  # of the parts besides the main one: as trees they take about ten times as much
ROOT = "_rels/.rels"
TYPES = "[Content_Types].xml"
PIECE_BYTES = 256 * 1024
EMPTY_MAIN = (
    b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body/></w:document>'
)

XML_ENDINGS = (".xml", ".rels")
NEEDED_RELATIONSHIPS = frozenset({"officeDocument", "core-properties", "styles", "numbering", "footnotes", "endnotes"})
"""Last words of relationship types. The others are dropped, so pictures may be missing: many files name one that is."""

DIALECTS = (
    (rb"http://purl\.oclc\.org/ooxml/(\w+)/([\w/]+[\"'])", rb"http://schemas.openxmlformats.org/\1/2006/\2"),
    (
        rb"application/vnd\.(?:ms-word\.|openxmlformats-officedocument\.wordprocessingml\.)"
        rb"(?:document\.macroEnabled|template|template\.macroEnabledTemplate)\.main\+xml",
        rb"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    ),
)
"""Patterns that python-docx refuses, and their replacements. The URIs of the strict variant (ISO 29500-1, annex A) and
of the transitional one (ISO 29500-4, annex A) name the same elements; the types are those of documents with macros and
of templates."""


@dataclass(frozen=True, kw_only=True)
class OpenedDocx:
    """`parts` is a document with an empty body; `main` yields the real main part, translated, piece by piece."""

    parts: Document
    main: Iterator[bytes]


@contextmanager
def open_docx(path: Path, *, name: str) -> Iterator[OpenedDocx]:
    """Raises SourceError FILE_TOO_HEAVY before inflating, and the errors of zipfile, lxml and python-docx."""
    with zipfile.ZipFile(path) as archive:
        members = {member.filename: member for member in archive.infolist() if member.filename.endswith(XML_ENDINGS)}
        sizes = {part: member.file_size for part, member in members.items()}
        _check(sum(sizes.values()) <= LARGEST_XML_BYTES and sizes.get(ROOT, 0) <= LARGEST_OTHER_BYTES, sizes, name)
        main = _main_part(archive.read(ROOT)) if ROOT in members else ""
        _check(sum(sizes.values()) - sizes.get(main, 0) <= LARGEST_OTHER_BYTES, sizes, name)
        copy = io.BytesIO()
        with zipfile.ZipFile(copy, "w") as target:
            for part, content in _related(archive, members.keys(), main):
                target.writestr(part, content)
        parts = docx.Document(copy)
        copy.close()
        with archive.open(main) as stream:
            yield OpenedDocx(parts=parts, main=_translated(main, stream))


def _check(is_small: bool, sizes: Mapping[str, int], name: str) -> None:
    if not is_small:
        detail = f"inflates to {sum(sizes.values())} bytes of XML"
        raise SourceError(FailureCode.FILE_TOO_HEAVY, name=name, detail=detail)


def _main_part(relationships: bytes) -> str:
    """The main part's name; empty when none is declared: python-docx then raises its own error."""
    links = parse_xml(relationships).Relationship_lst  # type: ignore[arg-type] # lxml takes bytes
    targets = (link.target_ref for link in links if link.reltype.endswith("/officeDocument"))
    return posixpath.normpath(next(targets, "")).lstrip("/")


def _related(archive: zipfile.ZipFile, members: Collection[str], main: str) -> Iterator[tuple[str, bytes]]:
    """The parts that python-docx reaches by relationships: about half of all. zipfile never inflates beyond the size
    stated in the directory."""
    if TYPES in members:
        yield TYPES, _translate(TYPES, archive.read(TYPES))
    waiting, met = [""], {""}
    while waiting:
        part = waiting.pop()
        if part:
            yield part, EMPTY_MAIN if part == main else _translate(part, archive.read(part))
        folder, name = posixpath.split(part)
        links = posixpath.join(folder, "_rels", f"{name}.rels")
        if links not in members:
            continue
        kept = _translate(links, archive.read(links))
        yield links, kept
        named = {posixpath.normpath(posixpath.join("/", folder, ref)).lstrip("/") for ref in _targets(kept)}
        waiting.extend(each for each in named if each in members and each not in met)
        met.update(named)


def _targets(relationships: bytes) -> list[str]:
    links = parse_xml(relationships).Relationship_lst  # type: ignore[arg-type] # lxml takes bytes
    return [link.target_ref for link in links]


def _translated(part: str, stream: IO[bytes]) -> Iterator[bytes]:
    """Translated pieces that end after a tag: no URI and no document type is cut in two."""
    rest: list[bytes] = []
    while piece := stream.read(PIECE_BYTES):
        whole, end, begun = piece.rpartition(b">")
        if end:
            yield _translate(part, b"".join([*rest, whole, end]))
            rest = []
        rest.append(begun)
    yield _translate(part, b"".join(rest))


def _translate(part: str, data: bytes) -> bytes:
    """Translate the dialect. Raises ValueError for a part with a DTD. One in UTF-16 goes unnoticed, but lxml resolves
    nothing of it either."""
    if b"<!DOCTYPE" in data:
        message = f"{part} has a document type, which ISO 29500-2 forbids"
        raise ValueError(message)
    for refused, taken in DIALECTS:
        data = re.sub(refused, taken, data)
    return _keep_needed(data) if part.endswith(".rels") else data


def _keep_needed(relationships: bytes) -> bytes:
    root = parse_xml(relationships)  # type: ignore[arg-type] # lxml takes bytes, and a declared encoding only in them
    for relationship in root.Relationship_lst:
        is_needed = relationship.reltype.rpartition("/")[2] in NEEDED_RELATIONSHIPS
        if not is_needed or relationship.target_mode == RELATIONSHIP_TARGET_MODE.EXTERNAL:
            root.remove(relationship)
    return serialize_part_xml(root)
