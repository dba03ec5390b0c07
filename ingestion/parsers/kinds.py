"""Recognises what a file really is, by its content and not by its name.

In: a path and what the sender declares. Out: `FileInfo` for choosing a parser, or a SourceError for what no parser can
read. It parses only the directories of containers (ZIP: Office, OpenDocument, EPUB; OLE2: old Office) and the first tag
or headers of a text; it unpacks nothing except the `mimetype` of OpenDocument and EPUB files.
"""

import codecs
import mmap
import re
import zipfile
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePath
from typing import BinaryIO

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.encodings import BOMS, guess_wide_encoding

ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
OLE2_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
PACKED_MAGICS = (b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\0")  # gzip, bzip2, xz
TAR_MAGIC, TAR_MAGIC_AT = b"ustar", 257
ZIP_END = b"PK\x05\x06"
ZIP_END_WITHIN_BYTES = 65_557  # the record with the longest comment
DIRECTORY_SIZE_AT = slice(12, 16)  # in the record: size of the directory in bytes
ZIP64_END = b"PK\x06\x06"
ZIP64_DIRECTORY_SIZE_AT = slice(40, 48)
LARGEST_DIRECTORY_BYTES = 4 * 1024 * 1024  # 40,000 files
ENCRYPTED_FLAG = 0x1
LONGEST_MIMETYPE = 200
HTML_ENDINGS = frozenset({".html", ".htm", ".xhtml"})
XML_ENDINGS = frozenset({".xml", ".fb2", ".svg", ".rss", ".atom", ".opml", ".kml", ".gpx", ".fodt", ".xsd"})
HTML_MARKS = ("<!doctype html", "<html")
HTML_MARK_WITHIN = 4096  # characters
LETTER_HEADERS_WITHIN = 16 * 1024  # characters; each mail server adds some
FEWEST_LETTER_HEADERS = 3
_LETTER_HEADERS_TEXT = (
    "from to cc subject date message-id received return-path delivered-to mime-version content-type reply-to"
)
LETTER_HEADERS = frozenset(_LETTER_HEADERS_TEXT.split())
"""A file with this many of them before its first empty line is a letter."""
_PROLOG = re.compile(r"(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*", re.DOTALL | re.IGNORECASE)
_FIRST_TAG = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")
_HEADER = re.compile(r"^([A-Za-z][\w-]{1,60}):[ \t]?.*(?:\r?\n[ \t].*)*\r?\n", re.MULTILINE)
_MBOX_LINE = re.compile(r"From \S+.*\r?\n")
__all__ = ["FileInfo", "FileKind", "glance", "inspect_file"]
PICTURE_MAGICS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*")
PICTURE_BRANDS = (b"heic", b"heix", b"mif1", b"msf1", b"avif")  # of ISO media files that are photos
MEDIA_MAGICS = (b"OggS", b"ID3", b"fLaC", b"\x1aE\xdf\xa3", b"#!AMR", b"\x30\x26\xb2\x75", b"FLV\x01")
MPEG_AUDIO_SYNCS = (b"\xff\xfb", b"\xff\xf3", b"\xff\xf2", b"\xff\xfa", b"\xff\xf1", b"\xff\xf9")  # MP3 and ADTS AAC
WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
RTF_MAGIC = b"{\\rtf"
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
    ARCHIVE = "archive"  # no parser: `ingestion.reading.archives` reads its files one by one
    IMAGE = "image"  # no parser: read by `ingestion.reading.pictures`
    MEDIA = "media"  # sound or video, no parser: read by `ingestion.reading.reader`


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


KINDS_BY_MEMBER = (
    ("word/document", FileKind.DOCX),
    ("xl/workbook.xml", FileKind.XLSX),
    ("xl/workbook.bin", FileKind.XLS),
    ("ppt/presentation.xml", FileKind.PPTX),
)
"""Prefixes of member names; the strict variant and others add digits to `document`."""
KINDS_BY_MIMETYPE = (
    ("application/epub+zip", FileKind.EPUB),
    ("application/vnd.oasis.opendocument.text", FileKind.ODT),  # and its templates, master documents
    ("application/vnd.oasis.opendocument.spreadsheet", FileKind.ODS),
    ("application/vnd.oasis.opendocument.presentation", FileKind.ODP),
)
EPUB_MEMBER = "META-INF/container.xml"
UNREADABLE_ENDINGS = (".iwa",)  # Pages, Numbers and Keynote
KINDS_BY_STREAM = (
    ("EncryptedPackage", None),
    ("WordDocument", FileKind.DOC),
    ("Workbook", FileKind.XLS),
    ("Book", FileKind.XLS),
    ("__properties_version1.0", FileKind.OUTLOOK),
)
"""Names in the root of an OLE2 file; None marks an encrypted file."""


def zip_kind(path: Path) -> FileKind:
    """The kind of a ZIP file. Raises SourceError: FILE_DAMAGED, FILE_ENCRYPTED, FILE_TOO_HEAVY, FILE_UNSUPPORTED."""
    try:
        with path.open("rb") as stream:
            _check_directory(stream)
            return _kind_of_archive(stream)
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError) as error:
        raise SourceError(FailureCode.FILE_DAMAGED, detail=f"broken archive: {error}") from error


def _check_directory(stream: BinaryIO) -> None:
    """Refuse a huge directory: it is read whole, and 20 MB of it become half a gigabyte of objects.

    All end records are checked: an archive may hold several, and zipfile decides which one counts.
    """
    size = stream.seek(0, 2)
    stream.seek(max(0, size - ZIP_END_WITHIN_BYTES))
    if min(size, _stated_directory_bytes(stream.read())) > LARGEST_DIRECTORY_BYTES:
        raise SourceError(FailureCode.FILE_TOO_HEAVY, detail="too many files in the archive")


def _stated_directory_bytes(tail: bytes) -> int:
    """The largest directory size in any end record; unlike a real directory's, it may exceed the file's size."""
    marks = ((ZIP_END, DIRECTORY_SIZE_AT), (ZIP64_END, ZIP64_DIRECTORY_SIZE_AT))
    return max(
        (
            int.from_bytes(tail[found.start() :][place], "little")
            for mark, place in marks
            for found in re.finditer(re.escape(mark), tail)
        ),
        default=0,
    )


def _kind_of_archive(stream: BinaryIO) -> FileKind:
    with zipfile.ZipFile(stream) as archive:
        kind = _kind_of_members(archive)
        if kind is not FileKind.ARCHIVE:
            _check_open(archive)
        return kind


def _kind_of_members(archive: zipfile.ZipFile) -> FileKind:
    names = archive.namelist()
    for beginning, kind in KINDS_BY_MEMBER:
        if any(name.startswith(beginning) for name in names):
            return kind
    stated = _mimetype(archive, names)
    for media_type, kind in KINDS_BY_MIMETYPE:
        if stated.startswith(media_type):
            return kind
    if EPUB_MEMBER in names:
        return FileKind.EPUB
    if any(name.endswith(UNREADABLE_ENDINGS) for name in names):
        raise SourceError(FailureCode.FILE_UNSUPPORTED, detail="an iWork document")
    return FileKind.ARCHIVE


def _mimetype(archive: zipfile.ZipFile, names: Collection[str]) -> str:
    if "mimetype" not in names or archive.getinfo("mimetype").file_size > LONGEST_MIMETYPE:
        return ""
    with archive.open("mimetype") as member:
        return member.read(LONGEST_MIMETYPE).decode("ascii", errors="replace").strip()


def _check_open(archive: zipfile.ZipFile) -> None:
    if any(member.flag_bits & ENCRYPTED_FLAG for member in archive.infolist()):
        raise SourceError(FailureCode.FILE_ENCRYPTED)


def ole2_kind(path: Path) -> FileKind:
    """The kind of an OLE2 file. Raises SourceError: FILE_ENCRYPTED, FILE_DAMAGED, FILE_UNSUPPORTED."""
    names = _root_names(path)
    for name, kind in KINDS_BY_STREAM:
        if name not in names:
            continue
        if kind is None:
            raise SourceError(FailureCode.FILE_ENCRYPTED, detail="an encrypted Office file")
        return kind
    raise SourceError(FailureCode.FILE_UNSUPPORTED, detail="OLE2: no Word, Excel or Outlook file")


def _root_names(path: Path) -> frozenset[str]:
    # Imported here: few files are of this kind.
    import olefile  # type: ignore[import-untyped] # it brings no types

    try:
        with olefile.OleFileIO(str(path)) as container:
            return frozenset(entry[0] for entry in container.listdir() if entry)
    except (OSError, ValueError, IndexError, RecursionError):  # what olefile raises on damaged files
        names = _names_by_search(path)
        if not names:
            raise SourceError(FailureCode.FILE_DAMAGED, detail="OLE2: no directory") from None
        return names


def _names_by_search(path: Path) -> frozenset[str]:
    """For a file with a broken directory: the known names that occur anywhere in it, as UTF-16."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return frozenset(name for name, _ in KINDS_BY_STREAM if content.find(name.encode("utf-16-le")) >= 0)


def text_kind(head: bytes, *, ending: str) -> FileKind:
    """FB2, XML, HTML, EMAIL or TEXT."""
    text = _as_text(head)
    beginning = text[:HTML_MARK_WITHIN].lstrip("\ufeff \t\r\n")
    if not beginning.startswith("<"):
        return FileKind.EMAIL if _is_letter(text[:LETTER_HEADERS_WITHIN]) else FileKind.TEXT
    if beginning.startswith("<?xml") or ending in XML_ENDINGS:
        return _kind_of_xml(text)
    lowered = beginning.lower()
    is_page = ending in HTML_ENDINGS or any(mark in lowered for mark in HTML_MARKS)
    return FileKind.HTML if is_page else FileKind.TEXT


def _as_text(head: bytes) -> str:
    """Decode roughly: tags and headers are ASCII."""
    marked = next((encoding for mark, encoding in BOMS if head.startswith(mark)), None)
    return head.decode(marked or guess_wide_encoding(head) or "latin-1", errors="replace")


def _kind_of_xml(text: str) -> FileKind:
    prolog = _PROLOG.match(text.lstrip("\ufeff"))
    tag = _FIRST_TAG.match(text.lstrip("\ufeff"), prolog.end() if prolog else 0)
    name = tag.group(1).lower() if tag else ""
    if name == "fictionbook":
        return FileKind.FB2
    return FileKind.HTML if name == "html" else FileKind.XML


def _is_letter(beginning: str) -> bool:
    beginning = beginning.lstrip("\ufeff\r\n")
    envelope = _MBOX_LINE.match(beginning)
    position = envelope.end() if envelope else 0
    names: set[str] = set()
    while (header := _HEADER.match(beginning, position)) is not None:
        names.add(header.group(1).lower())
        position = header.end()
    return len(names & LETTER_HEADERS) >= FEWEST_LETTER_HEADERS


def glance(path: Path) -> FileKind | None:
    """The kind, if a parser alone cannot read it: IMAGE, MEDIA, ARCHIVE, and for their attachments EMAIL and OUTLOOK.

    None for all else, including damaged files. Safe outside the parsing process: it holds at most a few megabytes.
    """
    head = _head(path)
    try:
        kind = _kind_by_magic(path, head) or (None if _is_binary(head) else text_kind(head, ending=""))
    except SourceError:
        return None
    return kind if kind in _NOT_ALONE else None


_NOT_ALONE = frozenset({FileKind.IMAGE, FileKind.MEDIA, FileKind.ARCHIVE, FileKind.EMAIL, FileKind.OUTLOOK})


def inspect_file(path: Path, *, name: str, media_type: str | None) -> FileInfo:
    """Raises SourceError: FILE_EMPTY, FILE_ENCRYPTED, FILE_DAMAGED (a broken container), FILE_UNSUPPORTED."""
    head = _head(path)
    if not head.removeprefix(codecs.BOM_UTF8).strip():
        raise SourceError(FailureCode.FILE_EMPTY, name=name)
    try:
        kind = _kind_by_magic(path, head)
    except SourceError as error:
        raise SourceError(error.code, name=name, detail=error.detail) from error
    if kind is None and _is_binary(head):
        raise SourceError(FailureCode.FILE_UNSUPPORTED, name=name, detail="not text and no known format")
    info = FileInfo(name=name, kind=kind or FileKind.TEXT, media_type=media_type)
    return info if kind else FileInfo(name=name, kind=text_kind(head, ending=info.ending), media_type=media_type)


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(HEAD_BYTES)


def _kind_by_magic(path: Path, head: bytes) -> FileKind | None:
    """None for text and for unknown content. Raises SourceError without a name."""
    if head.startswith(ZIP_MAGICS):
        return zip_kind(path)
    if head.startswith(OLE2_MAGIC):
        return ole2_kind(path)
    if head.startswith(PACKED_MAGICS) or head[TAR_MAGIC_AT:].startswith(TAR_MAGIC):
        return FileKind.ARCHIVE
    if _is_pdf(head):
        return FileKind.PDF
    if head.lstrip().startswith(RTF_MAGIC):
        return FileKind.RTF
    return _picture_or_media(head)


def _is_pdf(head: bytes) -> bool:
    """A mark after other bytes counts only at the start of a line or before objects: texts mention the mark, too."""
    at = head[:PDF_MARK_WITHIN_BYTES].find(b"%PDF")
    return at >= 0 and (at == 0 or head[at - 1 : at] in b"\r\n" or b" obj" in head)


def _picture_or_media(head: bytes) -> FileKind | None:
    if head[4:8] == b"ftyp":
        return FileKind.IMAGE if head[8:12] in PICTURE_BRANDS else FileKind.MEDIA
    if head.startswith(b"RIFF"):
        return FileKind.IMAGE if head[8:12] == b"WEBP" else FileKind.MEDIA
    if head.startswith(PICTURE_MAGICS) or (head.startswith(b"BM") and head[6:10] == bytes(4)):
        return FileKind.IMAGE
    if head.startswith(b"FORM") and head[8:12] in (b"AIFF", b"AIFC"):
        return FileKind.MEDIA
    return FileKind.MEDIA if head.startswith(MEDIA_MAGICS) or _is_mpeg_audio(head) else None


def _is_mpeg_audio(head: bytes) -> bool:
    """A frame header, and not cp1251 text («яы», «яс») with the same bits."""
    return head.startswith(MPEG_AUDIO_SYNCS) and b"\0" in head


def _is_binary(head: bytes) -> bool:
    if head.startswith(BINARY_MAGICS):
        return True
    if head.startswith(WIDE_BOMS) or guess_wide_encoding(head) is not None:
        return False
    controls = len(head) - len(head.translate(None, OTHER_CONTROLS))
    return controls > len(head) * CONTROL_SHARE_OF_BINARY
