"""Opens a DOCX file as the ZIP archive of XML parts that it is, with limits.

In: a path. Out: the parts that a text needs, as element trees. It reads the parts itself rather than through
python-docx, which refuses the strict variant of the format and files without some parts that Word always writes.
"""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from ingestion.errors import FailureCode, SourceError

Element = ElementTree.Element

LARGEST_PART_BYTES = 64 * 1024 * 1024
"""Of one part, inflated; a tree takes about ten times as much memory, and 64 MB of WordprocessingML is a book shelf."""

MAIN_PART = re.compile(r"word/document\d*\.xml")


@dataclass(frozen=True, kw_only=True)
class DocxParts:
    """The roots of the parts; None for one that the file does without."""

    document: Element
    styles: Element | None
    numbering: Element | None
    footnotes: Element | None
    endnotes: Element | None
    core: Element | None  # the document's properties


def open_docx(path: Path, *, name: str) -> DocxParts:
    """Raises SourceError FILE_TOO_HEAVY for a part that would inflate beyond LARGEST_PART_BYTES."""
    with zipfile.ZipFile(path) as archive:
        main = next(member for member in archive.namelist() if MAIN_PART.fullmatch(member))
        document = _read_part(archive, main, name)
        if document is None:
            raise SourceError(FailureCode.FILE_DAMAGED, name=name, detail="no main part")
        return DocxParts(
            document=document,
            styles=_read_part(archive, "word/styles.xml", name),
            numbering=_read_part(archive, "word/numbering.xml", name),
            footnotes=_read_part(archive, "word/footnotes.xml", name),
            endnotes=_read_part(archive, "word/endnotes.xml", name),
            core=_read_part(archive, "docProps/core.xml", name),
        )


def local_name(element: Element) -> str:
    """The tag without its namespace: the strict and the transitional variant differ in nothing else here."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: Element, name: str) -> str | None:
    """The attribute of that local name, whatever its namespace."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return value
    return None


def child(element: Element | None, name: str) -> Element | None:
    """The first child of that local name."""
    return next(children(element, name), None)


def children(element: Element | None, name: str) -> Iterator[Element]:
    """All children of that local name; none for None."""
    return (inner for inner in element if local_name(inner) == name) if element is not None else iter(())


def value_of(element: Element | None, name: str) -> str | None:
    """The `val` of the child of that name: how WordprocessingML writes nearly every property."""
    found = child(element, name)
    return attribute(found, "val") if found is not None else None


def _read_part(archive: zipfile.ZipFile, part: str, name: str) -> Element | None:
    try:
        member = archive.getinfo(part)
    except KeyError:
        return None
    if member.file_size > LARGEST_PART_BYTES:
        raise SourceError(FailureCode.FILE_TOO_HEAVY, name=name, detail=f"{part} inflates to {member.file_size} bytes")
    data = archive.read(member)  # zipfile never inflates beyond the size that the directory states
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise SourceError(FailureCode.FILE_DAMAGED, name=name, detail=f"{part} defines entities, which DOCX forbids")
    return ElementTree.fromstring(data)  # noqa: S314 - expat loads nothing, and no DTD is left
