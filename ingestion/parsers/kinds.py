"""Recognises what a file really is, by its content and not by its name.

In: a path and what the sender declares. Out: `FileInfo` for choosing a parser, or a SourceError for what no parser can
read. It parses only the directories of containers (`containers`) and the first tag or headers of a text (`markups`).
"""

import codecs
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.containers import (
    OLE2_MAGIC,
    PACKED_MAGICS,
    TAR_MAGIC,
    TAR_MAGIC_AT,
    ZIP_MAGICS,
    ole2_kind,
    zip_kind,
)
from ingestion.parsers.encodings import guess_wide_encoding
from ingestion.parsers.file_info import FileInfo, FileKind
from ingestion.parsers.markups import text_kind

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
