"""The formats that Baza reads, in the order in which they are asked.

In: a file on disk. Out: its `Document`, by the first parser that accepts it. A new format is one module and one line.
"""

from pathlib import Path
from typing import Protocol

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers import docx, html, markdown, pdf, text
from ingestion.parsers.kinds import FileInfo, inspect_file
from ingestion.records import Document


class Parser(Protocol):
    """What a module of this package offers."""

    def accepts(self, file: FileInfo) -> bool:
        """Whether this parser reads such a file."""
        ...

    def parse(self, path: Path, info: FileInfo) -> Document:
        """Read it. Raises SourceError, and anything at all on a damaged file: the caller runs it apart."""
        ...


PARSERS: tuple[Parser, ...] = (pdf, docx, html, markdown, text)


def parse_file(path: Path, *, name: str, media_type: str | None) -> Document:
    """Raises SourceError: FILE_UNSUPPORTED when no parser accepts it, FILE_WITHOUT_TEXT when there is nothing to read,
    and whatever the format's own parser raises."""
    info = inspect_file(path, name=name, media_type=media_type)
    for parser in PARSERS:
        if parser.accepts(info):
            return _require_text(parser.parse(path, info), name)
    raise SourceError(FailureCode.FILE_UNSUPPORTED, name=name, detail=f"no parser for {info.kind}")


def _require_text(document: Document, name: str) -> Document:
    if not document.blocks:
        raise SourceError(FailureCode.FILE_WITHOUT_TEXT, name=name)
    return document
