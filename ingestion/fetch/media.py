"""What came from behind an address, and what it is called.

In: headers, a URL and the first bytes of a body. Out: whether it is a page, a text or a file of another format, and a
file name with the right ending. The first bytes decide, a wrong header does not; which format a file has, the reader
finds out for itself.
"""

import mimetypes
import re
from contextlib import suppress
from enum import StrEnum
from pathlib import PurePath
from urllib.parse import unquote, unquote_to_bytes

HTML_TYPE = "text/html"
HEAD_BYTES = 1024  # enough for every signature below; PDF allows junk before its own
NAME_CHARACTERS = 120
LONGEST_ENDING = 5


class Content(StrEnum):
    """Kinds of content behind a link; the value is the ending of a file that has none."""

    PAGE = ".html"
    MARKDOWN = ".md"
    TEXT = ".txt"
    FILE = ""  # PDF, an office document, a picture, a recording, an archive …


MEDIA_TYPES = {Content.PAGE: HTML_TYPE, Content.MARKDOWN: "text/markdown", Content.TEXT: "text/plain"}

_BY_TYPE = {
    **{media_type: content for content, media_type in MEDIA_TYPES.items()},
    "application/xhtml+xml": Content.PAGE,
    "text/x-markdown": Content.MARKDOWN,
}
_UNWANTED = ("font/", "model/", "text/css", "text/javascript", "application/javascript", "application/wasm")
"""Beginnings of types that hold no words for people."""
_NO_DOCUMENTS = (
    *("image/", "audio/", "video/", "application/zip", "application/gzip", "application/vnd.rar"),
    *("application/vnd.android", "application/java-archive", "application/x-zip", "application/x-gzip"),
    *("application/x-rar", "application/x-7z", "application/x-tar", "application/x-bzip", "application/x-xz"),
    *("application/x-msdownload", "application/x-executable", "application/x-apple-diskimage", "application/x-debian"),
)
"""Beginnings of types that no file of a section's own words has."""
_TEXT_FILES = frozenset(
    {"", "text/plain", "text/markdown", "text/x-markdown", "text/csv", "text/rtf", "application/rtf"}
)
_VAGUE_TYPES = frozenset({"", "application/octet-stream", "binary/octet-stream", "text/plain"})
_ENDINGS = {
    "audio/mpeg": ".mp3",
    "audio/ogg": ".ogg",
    "video/mp4": ".mp4",
    "image/jpeg": ".jpg",
}  # where `mimetypes` errs
_SIGNATURES = {b"%PDF-": ".pdf", b"\xff\xd8\xff": ".jpg", b"\x89PNG": ".png", b"OggS": ".ogg", b"ID3": ".mp3"}

_PAGE_START = re.compile(
    rb"\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--.*?-->\s*+)*+<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
"""Gives no comment back: of a hundred in a row each could be taken for the beginning of the next, for hours."""
_UNPRINTABLE = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")  # UTF-16 is full of zeros
_EXTENDED_NAME = re.compile(r"filename\*\s*=\s*([\w-]+)'[\w-]*'([^;]+)", re.IGNORECASE)  # RFC 5987
_PLAIN_NAME = re.compile(r"filename\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^;]+))", re.IGNORECASE)
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|]+")


def is_wanted(media_type: str) -> bool:
    """Whether a body of this declared type is worth reading at all."""
    return not media_type.startswith(_UNWANTED)


def may_be_document(media_type: str) -> bool:
    """Whether a file of this declared type is one to read, and no picture, recording or archive."""
    return not media_type.startswith(_NO_DOCUMENTS)


def is_text_file(media_type: str) -> bool:
    """Whether a text of this declared type was written for people, and not by a program for another."""
    return media_type in _TEXT_FILES


def recognise(media_type: str, head: bytes) -> Content:
    """What a body is, by its first HEAD_BYTES and then by its declared type."""
    if _PAGE_START.match(head.removeprefix(b"\xef\xbb\xbf")):
        return Content.PAGE
    if b"%PDF-" in head or not _reads_as_text(head):
        return Content.FILE
    return _BY_TYPE.get(media_type, Content.TEXT)


def _reads_as_text(head: bytes) -> bool:
    return head.startswith(_WIDE_MARKS) or not _UNPRINTABLE.search(head)


def media_type_of(content: Content, declared: str) -> str | None:
    """The type to hand on: ours for what we know, the server's for the rest."""
    return MEDIA_TYPES.get(content) or (None if declared in _VAGUE_TYPES else declared)


def file_name(
    disposition: str, path: str, host: str, content: Content, *, declared: str = "", head: bytes = b""
) -> str:
    """A name for what came: the one the server gives, else the address's last part, else the host."""
    name = _declared_name(disposition) or unquote(path.rstrip("/").rsplit("/", 1)[-1])
    name = _NOT_IN_NAMES.sub("_", name).strip(" .")[-NAME_CHARACTERS:]
    if content is Content.PAGE:
        return name if name.lower().endswith((".html", ".htm", ".xhtml")) else (name or host) + content.value
    if 1 < len(PurePath(name).suffix) <= LONGEST_ENDING:
        return name
    return (name or host) + (content.value or _ending(declared, head))


def _ending(declared: str, head: bytes) -> str:
    by_bytes = (ending for signature, ending in _SIGNATURES.items() if head.startswith(signature))
    return next(by_bytes, "") or _ENDINGS.get(declared) or mimetypes.guess_extension(declared) or ""


def _declared_name(disposition: str) -> str:
    """The extended form goes before the plain one (RFC 6266, 4.3)."""
    if extended := _EXTENDED_NAME.search(disposition):
        charset, encoded = extended.groups()
        try:
            return unquote_to_bytes(encoded.strip().strip('"')).decode(charset)
        except (LookupError, UnicodeError):
            return unquote(encoded)
    plain = _PLAIN_NAME.search(disposition)
    if plain is None:
        return ""
    quoted, bare = plain.groups()
    return _read_as_sent(re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else unquote(bare.strip()))


def _read_as_sent(name: str) -> str:
    """Servers put UTF-8 into headers, which are read as Latin-1, and percent signs into quotes."""
    with suppress(UnicodeError):
        name = name.encode("latin-1").decode("utf-8")
    return unquote(name)
