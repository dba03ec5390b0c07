"""Recognises formats that share a container: ZIP (Office, OpenDocument, EPUB) and OLE2 (old Office).

In: a path. Out: a `FileKind` by the names in the container's directory, or a SourceError without the file's name. It
unpacks nothing except the `mimetype` of OpenDocument and EPUB files.
"""

import mmap
import re
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.file_info import FileKind

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
