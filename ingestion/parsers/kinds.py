"""What a file really is, by its first bytes and not by its name.

In: a path and what the sender claims. Out: `FileInfo` for choosing a parser, or a SourceError for what no parser can
take. It parses nothing beyond the directory of a ZIP archive.
"""

import zipfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePath

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.encodings import guess_wide_encoding

HEAD_BYTES = 64 * 1024
PDF_MARK_WITHIN_BYTES = 1024  # Acrobat accepts junk of this length before the mark
CONTROL_SHARE_OF_BINARY = 0.01  # text has next to no control characters, random bytes have 10 %
ENCRYPTED_FLAG = 0x1

OLE2_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")  # the stream in which Office puts an encrypted file
WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
HTML_MARKS = (b"<!doctype html", b"<html")
HTML_MARK_WITHIN_BYTES = 4096
HTML_ENDINGS = frozenset({".html", ".htm", ".xhtml"})
BINARY_MAGICS = (b"{\\rtf", b"%!PS", b"\x1f\x8b", b"BM6")  # look like text, or may: RTF, PostScript, gzip
OFFICE_ENDINGS = frozenset({".docx", ".docm", ".dotx"})
TEXT_CONTROLS = frozenset(b"\t\n\r\f\x1a\x1b")  # \x1a ends a DOS text, \x1b starts an escape in logs


class FileKind(StrEnum):
    """What the content says."""

    PDF = "pdf"
    DOCX = "docx"
    HTML = "html"
    TEXT = "text"


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


def inspect_file(path: Path, *, name: str, media_type: str | None) -> FileInfo:
    """Raises SourceError: FILE_EMPTY, FILE_ENCRYPTED, FILE_DAMAGED (a broken archive), FILE_UNSUPPORTED."""
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    if not head.strip():
        raise SourceError(FailureCode.FILE_EMPTY, name=name)
    return FileInfo(name=name, kind=_kind_of(path, head, name), media_type=media_type)


def _kind_of(path: Path, head: bytes, name: str) -> FileKind:
    if b"%PDF" in head[:PDF_MARK_WITHIN_BYTES]:
        return FileKind.PDF
    if head.startswith(OLE2_MAGIC):
        encrypted = ENCRYPTED_PACKAGE in path.read_bytes()
        code = FailureCode.FILE_ENCRYPTED if encrypted else FailureCode.FILE_UNSUPPORTED
        raise SourceError(code, name=name, detail="OLE2: an encrypted or a pre-2007 Office file")
    if head.startswith(b"PK"):
        return _kind_of_archive(path, head, name)
    if _is_binary(head):
        raise SourceError(FailureCode.FILE_UNSUPPORTED, name=name, detail="not text and no known format")
    return FileKind.HTML if _is_html(head, name) else FileKind.TEXT


def _is_html(head: bytes, name: str) -> bool:
    beginning = head[:HTML_MARK_WITHIN_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if not beginning.startswith(b"<"):
        return False
    return PurePath(name).suffix.lower() in HTML_ENDINGS or any(mark in beginning for mark in HTML_MARKS)


def _kind_of_archive(path: Path, head: bytes, name: str) -> FileKind:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        looks_like_office = b"word/" in head or PurePath(name).suffix.lower() in OFFICE_ENDINGS
        code = FailureCode.FILE_DAMAGED if looks_like_office else FailureCode.FILE_UNSUPPORTED
        raise SourceError(code, name=name, detail=f"broken archive: {error}") from error
    if not any(member.filename.startswith("word/document") for member in members):
        raise SourceError(FailureCode.FILE_UNSUPPORTED, name=name, detail="an archive that is no DOCX")
    if any(member.flag_bits & ENCRYPTED_FLAG for member in members):
        raise SourceError(FailureCode.FILE_ENCRYPTED, name=name)
    return FileKind.DOCX


def _is_binary(head: bytes) -> bool:
    if head.startswith(BINARY_MAGICS):
        return True
    if head.startswith(WIDE_BOMS) or guess_wide_encoding(head) is not None:
        return False
    controls = sum(1 for byte in head if byte < 0x20 and byte not in TEXT_CONTROLS)
    return controls > len(head) * CONTROL_SHARE_OF_BINARY
