"""The formats that Baza reads, in the order in which their parsers are tried.

In: a file on disk. Out: its `Document`, by the first parser that accepts it. A new format is one module and one line.
"""

from pathlib import Path
from typing import Protocol

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers import (
    crawled,
    csv_rows,
    doc,
    docx,
    eml,
    epub,
    fb2,
    html,
    markdown,
    markup,
    msg,
    odf,
    pdf,
    pptx,
    rtf,
    subtitles,
    text,
    xls,
    xlsx,
    xml,
)
from ingestion.parsers.kinds import FileInfo, inspect_file
from ingestion.records import Document


class Parser(Protocol):
    """The interface of a format's module."""

    def accepts(self, file: FileInfo) -> bool:
        """Whether this parser reads such a file."""
        ...

    def parse(self, path: Path, info: FileInfo) -> Document:
        """Read it. Raises SourceError, and anything on a damaged file: the caller runs it in its own process."""
        ...


PARSERS: tuple[Parser, ...] = (
    crawled,
    pdf,
    docx,
    doc,
    xlsx,
    xls,
    pptx,
    odf,
    epub,
    fb2,
    rtf,
    eml,
    msg,
    subtitles,
    markup,
    html,
    xml,
    csv_rows,
    markdown,
    text,
)


def parse_file(path: Path, *, name: str, media_type: str | None) -> Document:
    """Raises SourceError: FILE_UNSUPPORTED when no parser accepts the file, FILE_WITHOUT_TEXT when it has neither text
    nor pages without text, and whatever the format's parser raises."""
    info = inspect_file(path, name=name, media_type=media_type)
    for parser in PARSERS:
        if parser.accepts(info):
            return _require_pages(_parse(parser, path, info), name)
    raise SourceError(FailureCode.FILE_UNSUPPORTED, name=name, detail=f"no parser for {info.kind}")


def _parse(parser: Parser, path: Path, info: FileInfo) -> Document:
    try:
        return parser.parse(path, info)
    except SourceError as error:
        if "name" in error.params:
            raise
        raise SourceError(error.code, name=info.name, detail=error.detail) from error


def _require_pages(document: Document, name: str) -> Document:
    """Pages without text may be pictures of text: `ingestion.reading.reader` decides what to do with them."""
    if not document.blocks and not document.pages_without_text:
        raise SourceError(FailureCode.FILE_WITHOUT_TEXT, name=name)
    return document
