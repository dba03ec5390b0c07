"""Opens a DOCX with python-docx, within limits, and in the one dialect that python-docx reads.

In: a path. Out: python-docx's document, of the parts that a text needs. python-docx inflates every part that a
relationship names and knows the transitional variant alone: so it gets a copy in memory, of the XML parts only.
"""

import io
import re
import zipfile
from pathlib import Path

import docx
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TARGET_MODE
from docx.opc.oxml import parse_xml, serialize_part_xml

from ingestion.errors import FailureCode, SourceError

LARGEST_XML_BYTES = 64 * 1024 * 1024
"""Of all XML parts, inflated; a tree takes about ten times as much memory, and 64 MB of it is a book shelf."""

XML_ENDINGS = (".xml", ".rels")
NEEDED_RELATIONSHIPS = frozenset({"officeDocument", "core-properties", "styles", "numbering", "footnotes", "endnotes"})
"""Last words of their types. Without the others, pictures need not be there: many a file names one that is not."""

DIALECTS = (
    (rb"http://purl\.oclc\.org/ooxml/(\w+)/([\w/]+[\"'])", rb"http://schemas.openxmlformats.org/\1/2006/\2"),
    (
        rb"application/vnd\.(?:ms-word\.|openxmlformats-officedocument\.wordprocessingml\.)"
        rb"(?:document\.macroEnabled|template|template\.macroEnabledTemplate)\.main\+xml",
        rb"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    ),
)
"""What python-docx refuses and what it takes: the URIs of the strict variant (ISO 29500-1, annex A) and of the
transitional one (ISO 29500-4, annex A), which name the same elements; documents with macros and templates."""


def open_docx(path: Path, *, name: str) -> Document:
    """Raises SourceError FILE_TOO_HEAVY before anything is inflated, and what zipfile, lxml and python-docx raise."""
    with zipfile.ZipFile(path) as archive:
        parts = {member.filename: member for member in archive.infolist() if member.filename.endswith(XML_ENDINGS)}
        size = sum(member.file_size for member in parts.values())
        if size > LARGEST_XML_BYTES:
            raise SourceError(FailureCode.FILE_TOO_HEAVY, name=name, detail=f"inflates to {size} bytes of XML")
        copy = io.BytesIO()
        with zipfile.ZipFile(copy, "w") as target:
            for part in parts:  # zipfile never inflates beyond the size that the directory states
                target.writestr(part, _translate(part, archive.read(part)))
    return docx.Document(copy)


def _translate(part: str, data: bytes) -> bytes:
    """Raises ValueError for a part with a DTD. In UTF-16 it goes unseen, but lxml resolves nothing of it either."""
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
