"""Recognises what a file really is, by its content and not by its name.

In: a path and the name that the sender gave. Out: a `FileKind` for choosing a parser, or a SourceError for what no
parser can read. It parses only the directories of containers (ZIP: Office, OpenDocument, EPUB; OLE2: old Office) and
the first tag or headers of a text; it unpacks nothing except the `mimetype` of OpenDocument and EPUB files.
"""

import codecs
import mmap
import re
import zipfile
from email.parser import HeaderParser
from enum import StrEnum
from itertools import chain
from pathlib import Path, PurePath

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.encodings import unicode_encoding

ZIP_END_WITHIN_BYTES = 65_557  # the record with the longest comment
LARGEST_DIRECTORY_BYTES = 4 * 1024 * 1024  # 40,000 files
ENCRYPTED_FLAG = 0x1
XML_ENDINGS = frozenset({".xml", ".fb2", ".svg", ".rss", ".atom", ".opml", ".kml", ".gpx", ".fodt", ".xsd"})
FEWEST_LETTER_HEADERS = 3
_LETTER_HEADERS_TEXT = (
    "from to cc subject date message-id received return-path delivered-to mime-version content-type reply-to"
)
LETTER_HEADERS = frozenset(_LETTER_HEADERS_TEXT.split())
"""A file with this many of them before its first empty line is a letter."""
_FIRST_TAG = re.compile(
    r"(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*+<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)",
    re.DOTALL | re.IGNORECASE,
)
BINARY_MAGICS = (b"%!PS", b"7z\xbc\xaf", b"Rar!", b"{\\pwi")  # binary formats that look like text, or may
HEAD_BYTES = 64 * 1024
PDF_MARK_WITHIN_BYTES = 1024  # Acrobat accepts junk of this length before the mark
CONTROL_SHARE_OF_BINARY = 0.01  # text has hardly any control characters, random bytes have 10 %
TEXT_CONTROLS = frozenset(b"\t\n\r\f\x1a\x1b")  # \x1a ends a DOS text, \x1b starts an escape in logs
OTHER_CONTROLS = bytes(byte for byte in range(0x20) if byte not in TEXT_CONTROLS)


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
    ARCHIVE = "archive"  # no parser: `ingestion.reading.reader` reads its files one by one
    IMAGE = "image"  # no parser: read by `ingestion.reading.pictures`
    MEDIA = "media"  # sound or video, no parser: read by `ingestion.reading.reader`


KINDS_BY_MEMBER = (
    ("word/document", FileKind.DOCX),
    ("xl/workbook.xml", FileKind.XLSX),
    ("xl/workbook.bin", FileKind.XLS),
    ("ppt/presentation.xml", FileKind.PPTX),
    ("META-INF/container.xml", FileKind.EPUB),
)
"""Prefixes of member names; the strict variant and others add digits to `document`."""
KINDS_BY_MIMETYPE = (
    (b"application/epub+zip", FileKind.EPUB),
    (b"application/vnd.oasis.opendocument.text", FileKind.ODT),  # and its templates, master documents
    (b"application/vnd.oasis.opendocument.spreadsheet", FileKind.ODS),
    (b"application/vnd.oasis.opendocument.presentation", FileKind.ODP),
)
MAGICS = (
    (re.compile(rb"\s*\{\\rtf"), FileKind.RTF),
    (re.compile(rb"\x1f\x8b\x08|BZh|\xfd7zXZ\0|.{257}ustar", re.DOTALL), FileKind.ARCHIVE),  # gzip, bzip2, xz, TAR
    (
        re.compile(
            rb".{4}ftyp(?:heic|heix|mif1|msf1|avif)|RIFF.{4}WEBP|\xff\xd8\xff|\x89PNG\r\n\x1a\n|GIF8[79]a|II\*\0|MM\0\*"
            rb"|BM.{4}\0{4}",
            re.DOTALL,
        ),
        FileKind.IMAGE,
    ),
    (
        re.compile(
            rb".{4}ftyp|RIFF|FORM.{4}AIF[FC]|OggS|ID3|fLaC|\x1aE\xdf\xa3|#!AMR|0&\xb2u|FLV\x01"
            rb"|\xff[\xf1-\xf3\xf9-\xfb].{0,65536}\0",  # MP3 and ADTS AAC, not cp1251 text («яы», «яс») with these bits
            re.DOTALL,
        ),
        FileKind.MEDIA,
    ),
)
"""How other files begin; the first one counts."""
KINDS_BY_STREAM = (
    ("EncryptedPackage", FileKind.ARCHIVE),  # refused
    ("WordDocument", FileKind.DOC),
    ("Workbook", FileKind.XLS),
    ("Book", FileKind.XLS),
    ("__properties_version1.0", FileKind.OUTLOOK),
)
"""Names in the root of an OLE2 file; of one with a broken directory, anywhere in it."""


def _zip_kind(path: Path) -> FileKind:
    """Raises SourceError: FILE_DAMAGED, FILE_ENCRYPTED, FILE_TOO_HEAVY, FILE_UNSUPPORTED."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - ZIP_END_WITHIN_BYTES))
        tail = stream.read()
        # The largest size in any end record: zipfile reads the directory whole, 20 MB of it become half a gigabyte of
        # objects, and of several records it decides which one counts.
        marks = ((b"PK\x05\x06", slice(12, 16)), (b"PK\x06\x06", slice(40, 48)))  # of ZIP and ZIP64; where it stands
        found = ((tail[each.start() :], place) for mark, place in marks for each in re.finditer(re.escape(mark), tail))
        stated = (int.from_bytes(record[place], "little") for record, place in found)
        if min(size, max(stated, default=0)) > LARGEST_DIRECTORY_BYTES:
            raise SourceError(FailureCode.FILE_TOO_HEAVY, detail="too many files in the archive")
        try:
            with zipfile.ZipFile(stream) as archive:
                return _kind_of_members(archive)
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError) as error:
            raise SourceError(FailureCode.FILE_DAMAGED, detail=f"broken archive: {error}") from error


def _kind_of_members(archive: zipfile.ZipFile) -> FileKind:
    names = archive.namelist()
    if any(name.endswith(".iwa") for name in names):
        raise SourceError(FailureCode.FILE_UNSUPPORTED, detail="an iWork document")
    stated = b""
    if "mimetype" in names and archive.getinfo("mimetype").file_size <= 200:
        stated = archive.read("mimetype").strip()
    by_member = (kind for start, kind in KINDS_BY_MEMBER if any(name.startswith(start) for name in names))
    by_mimetype = (kind for media_type, kind in KINDS_BY_MIMETYPE if stated.startswith(media_type))
    kind = next(chain(by_member, by_mimetype), FileKind.ARCHIVE)
    if kind is not FileKind.ARCHIVE and any(each.flag_bits & ENCRYPTED_FLAG for each in archive.infolist()):
        raise SourceError(FailureCode.FILE_ENCRYPTED)
    return kind


def _ole2_kind(path: Path) -> FileKind:
    """Raises SourceError: FILE_ENCRYPTED, FILE_DAMAGED, FILE_UNSUPPORTED."""
    # Imported here: few files are of this kind.
    import olefile  # type: ignore[import-untyped] # it brings no types

    try:
        with olefile.OleFileIO(str(path)) as container:
            names = frozenset(entry[0] for entry in container.listdir() if entry)
    except (OSError, ValueError, IndexError, RecursionError):  # what olefile raises on damaged files
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            names = frozenset(name for name, _ in KINDS_BY_STREAM if content.find(name.encode("utf-16-le")) >= 0)
        if not names:
            raise SourceError(FailureCode.FILE_DAMAGED, detail="OLE2: no directory") from None
    if "EncryptedPackage" in names:
        raise SourceError(FailureCode.FILE_ENCRYPTED, detail="an encrypted Office file")
    for name, kind in KINDS_BY_STREAM:
        if name in names:
            return kind
    raise SourceError(FailureCode.FILE_UNSUPPORTED, detail="OLE2: no Word, Excel or Outlook file")


def _text_kind(head: bytes, *, ending: str) -> FileKind:
    """FB2, XML, HTML, EMAIL or TEXT. Tags and headers are ASCII, so the text is decoded roughly."""
    text = head.decode(unicode_encoding(head) or "latin-1", errors="replace").lstrip("\ufeff \t\r\n")
    if not text.startswith("<"):
        headers = {name.lower() for name in HeaderParser().parsestr(text[: 16 * 1024])}  # each mail server adds some
        return FileKind.EMAIL if len(headers & LETTER_HEADERS) >= FEWEST_LETTER_HEADERS else FileKind.TEXT
    if text.startswith("<?xml") or ending in XML_ENDINGS:
        tag = _FIRST_TAG.match(text)
        return {"fictionbook": FileKind.FB2, "html": FileKind.HTML}.get(tag[1].lower() if tag else "", FileKind.XML)
    beginning = text[:4096].lower()
    is_page = ending in (".html", ".htm", ".xhtml") or any(mark in beginning for mark in ("<!doctype html", "<html"))
    return FileKind.HTML if is_page else FileKind.TEXT


def glance(path: Path) -> FileKind | None:
    """The kind, if a parser alone cannot read it: IMAGE, MEDIA, ARCHIVE, and for their attachments EMAIL and OUTLOOK.

    None for all else, including damaged files. Safe outside the parsing process: it holds at most a few megabytes.
    """
    try:
        kind = kind_of(path)
    except SourceError:
        return None
    needing = (FileKind.IMAGE, FileKind.MEDIA, FileKind.ARCHIVE, FileKind.EMAIL, FileKind.OUTLOOK)
    return kind if kind in needing else None


def kind_of(path: Path, *, name: str = "") -> FileKind:
    """By the content; the ending of the name tells XML and pages without their marks. Raises SourceError: FILE_EMPTY,
    FILE_ENCRYPTED, FILE_DAMAGED (a broken container), FILE_TOO_HEAVY, FILE_UNSUPPORTED."""
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    if not head.removeprefix(codecs.BOM_UTF8).strip():
        raise SourceError(FailureCode.FILE_EMPTY)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return _zip_kind(path)
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _ole2_kind(path)
    if (kind := next((kind for magic, kind in MAGICS if magic.match(head)), None)) is not None:
        return kind
    at = head[:PDF_MARK_WITHIN_BYTES].find(b"%PDF")  # at the start of a line or before objects: texts mention it, too
    if at >= 0 and (at == 0 or head[at - 1 : at] in b"\r\n" or b" obj" in head):
        return FileKind.PDF
    controls = len(head) - len(head.translate(None, OTHER_CONTROLS))
    is_odd = controls > len(head) * CONTROL_SHARE_OF_BINARY and unicode_encoding(head) is None
    if is_odd or head.startswith(BINARY_MAGICS):
        raise SourceError(FailureCode.FILE_UNSUPPORTED, detail="not text and no known format")
    return _text_kind(head, ending=PurePath(name).suffix.lower())
