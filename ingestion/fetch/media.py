"""Recognises what an address has sent, and names it.

In: headers, a URL and the first bytes of a body. Out: whether it is a page, a text or a file of another format, and a
file name with the right extension. The first bytes decide, not a wrong header. Which format a file has is left to the
reader.
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
    """Kinds of content behind a link; the value is the extension given to a name without one."""

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
"""Prefixes of media types without words for people."""
_NO_DOCUMENTS = (
    *("image/", "audio/", "video/", "application/zip", "application/gzip", "application/vnd.rar"),
    *("application/vnd.android", "application/java-archive", "application/x-zip", "application/x-gzip"),
    *("application/x-rar", "application/x-7z", "application/x-tar", "application/x-bzip", "application/x-xz"),
    *("application/x-msdownload", "application/x-executable", "application/x-apple-diskimage", "application/x-debian"),
)
"""Prefixes of media types that a section's documents never have."""
_TEXT_FILES = frozenset(
    {"", "text/plain", "text/markdown", "text/x-markdown", "text/csv", "text/rtf", "application/rtf"}
)
_VAGUE_TYPES = frozenset({"", "application/octet-stream", "binary/octet-stream", "text/plain"})
_ENDINGS = {
    "audio/mpeg": ".mp3",
    "audio/ogg": ".ogg",
    "video/mp4": ".mp4",
    "image/jpeg": ".jpg",
}  # where `mimetypes` is wrong
_SIGNATURES = {b"%PDF-": ".pdf", b"\xff\xd8\xff": ".jpg", b"\x89PNG": ".png", b"OggS": ".ogg", b"ID3": ".mp3"}

_PAGE_START = re.compile(
    rb"\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--.*?-->\s*+)*+<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
"""Possessive: with backtracking, a hundred comments in a row would take hours."""
_UNPRINTABLE = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")  # byte order marks of UTF-16, which is full of zero bytes
_EXTENDED_NAME = re.compile(r"filename\*\s*=\s*([\w-]+)'[\w-]*'([^;]+)", re.IGNORECASE)  # RFC 5987
_PLAIN_NAME = re.compile(r"filename\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^;]+))", re.IGNORECASE)
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|]+")


def is_wanted(media_type: str) -> bool:
    """Whether a body of this declared type is worth reading at all."""
    return not media_type.startswith(_UNWANTED)


def may_be_document(media_type: str) -> bool:
    """Whether a file of this declared type may be a document: no picture, recording or archive."""
    return not media_type.startswith(_NO_DOCUMENTS)


def is_text_file(media_type: str) -> bool:
    """Whether a text of this declared type was written for people and not for programs."""
    return media_type in _TEXT_FILES


def recognise(media_type: str, head: bytes) -> Content:
    """The kind of a body, by its first HEAD_BYTES and then by its declared type."""
    if _PAGE_START.match(head.removeprefix(b"\xef\xbb\xbf")):
        return Content.PAGE
    if b"%PDF-" in head or not _reads_as_text(head):
        return Content.FILE
    return _BY_TYPE.get(media_type, Content.TEXT)


def _reads_as_text(head: bytes) -> bool:
    return head.startswith(_WIDE_MARKS) or not _UNPRINTABLE.search(head)


def media_type_of(content: Content, declared: str) -> str | None:
    """The media type to pass on: ours where we recognise the content, else the server's."""
    return MEDIA_TYPES.get(content) or (None if declared in _VAGUE_TYPES else declared)


def file_name(
    disposition: str, path: str, host: str, content: Content, *, declared: str = "", head: bytes = b""
) -> str:
    """A file name: the one that the server gives, else the last part of the address, else the host."""
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
    """The name in Content-Disposition; the extended form takes precedence (RFC 6266, 4.3)."""
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
    """Undo what servers do to names: UTF-8 in headers that are decoded as Latin-1, percent encoding inside quotes."""
    with suppress(UnicodeError):
        name = name.encode("latin-1").decode("utf-8")
    return unquote(name)
