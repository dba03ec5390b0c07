"""What is known of a file before it is read.

In: what `kinds` found and the sender claims. Out: records that parsers accept or pass on. It looks at no file.
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath


class FileKind(StrEnum):
    """What the content says."""

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
    ARCHIVE = "archive"  # no parser's: its files are read one by one, by `ingestion.reading.archives`
    IMAGE = "image"  # no parser's: read by `ingestion.reading.pictures`
    MEDIA = "media"  # sound or video, no parser's either: read by `ingestion.reading.recordings`


@dataclass(frozen=True, kw_only=True)
class FileInfo:
    """What a parser may know before it reads: the kind by content, the rest as the sender claims."""

    name: str
    kind: FileKind
    media_type: str | None = None

    @property
    def ending(self) -> str:
        """Of the name, in small letters with its dot; empty when there is none."""
        return PurePath(self.name).suffix.lower()
