"""What is known of a file before it is parsed.

In: what `kinds` found and what the sender declares. Out: records that parsers check or pass on. It opens no file.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath


class FileKind(StrEnum):
    """Kinds of files by content."""

    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"
    XLSX = "xlsx"
    XLS = "xls"  # and XLSB: the binary workbooks
    DOC = "doc"
    ODT = "odt"
    ODS = "ods"
    ODP = "odp"
    EPUB = "epub"
    FB2 = "fb2"
    RTF = "rtf"
    EMAIL = "email"  # EML and MHTML
    OUTLOOK = "outlook"  # MSG
    XML = "xml"
    HTML = "html"
    TEXT = "text"
    ARCHIVE = "archive"  # no parser: `ingestion.reading.archives` reads its files one by one
    IMAGE = "image"  # no parser: read by `ingestion.reading.pictures`
    MEDIA = "media"  # sound or video, no parser: read by `ingestion.reading.recordings`


@dataclass(frozen=True, kw_only=True)
class FileInfo:
    """What a parser knows before reading: the kind by content, the rest as the sender declares."""

    name: str
    kind: FileKind
    media_type: str | None = None

    @property
    def ending(self) -> str:
        """The extension of the name, in lower case with its dot; empty when there is none."""
        return PurePath(self.name).suffix.lower()
