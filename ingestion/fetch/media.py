"""What the crawler takes, and what it calls it.

In: headers, a URL and the first bytes of a body. Out: the kind of content, or None for what is not wanted, and a file
name with the right ending. The first bytes decide where the header says nothing; parsers look again for themselves.
"""

import re
from enum import StrEnum
from urllib.parse import unquote

HTML_TYPE = "text/html"
HEAD_BYTES = 1024  # enough for every signature below; PDF allows junk before its own
NAME_CHARACTERS = 120


class Content(StrEnum):
    """Kinds of content behind a link; the value is the ending of the file."""

    PAGE = ".html"
    PDF = ".pdf"
    DOCX = ".docx"
    MARKDOWN = ".md"
    TEXT = ".txt"


MEDIA_TYPES = {
    Content.PAGE: HTML_TYPE,
    Content.PDF: "application/pdf",
    Content.DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    Content.MARKDOWN: "text/markdown",
    Content.TEXT: "text/plain",
}

_BY_TYPE = {
    **{media_type: content for content, media_type in MEDIA_TYPES.items()},
    "application/xhtml+xml": Content.PAGE,
    "application/x-pdf": Content.PDF,
    "text/x-markdown": Content.MARKDOWN,
}
_UNDECIDED_TYPES = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/download", "application/force-download"}
    | {"application/zip", "application/x-zip-compressed", "application/xml", "text/xml"}
)
_PAGE_START = re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body)\b", re.I | re.S)
_UNPRINTABLE = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_FILE_NAME = re.compile(
    r"filename\*\s*=\s*[\w-]+'[\w-]*'([^;]+)|filename\s*=\s*(?:\"([^\"]*)\"|([^;]+))", re.IGNORECASE
)
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|]+")


def is_wanted(media_type: str) -> bool:
    """Whether a body of this declared type is worth reading at all."""
    return media_type in _BY_TYPE or media_type in _UNDECIDED_TYPES or media_type.startswith("text/")


def recognise(media_type: str, head: bytes) -> Content | None:
    """What a body is, by its declared type and its first HEAD_BYTES."""
    if b"%PDF-" in head:
        return Content.PDF
    if head.startswith(b"PK\x03\x04"):
        return Content.DOCX  # the parser looks inside and refuses other archives
    if _PAGE_START.match(head):
        return Content.PAGE
    declared = _BY_TYPE.get(media_type)
    if declared in (Content.PDF, Content.DOCX) or (declared is None and not _reads_as_text(media_type, head)):
        return None  # it says so, but is not
    return declared or Content.TEXT


def _reads_as_text(media_type: str, head: bytes) -> bool:
    return media_type.startswith("text/") or (bool(head) and not _UNPRINTABLE.search(head))


def file_name(disposition: str, path: str, host: str, content: Content) -> str:
    """A name for what came: the one the server gives, else the address's last part, else the host."""
    name = _declared_name(disposition) or unquote(path.rstrip("/").rsplit("/", 1)[-1])
    name = _NOT_IN_NAMES.sub("_", name).strip(" .")[-NAME_CHARACTERS:] or host
    return name if name.lower().endswith(content.value) else name + content.value


def _declared_name(disposition: str) -> str:
    match = _FILE_NAME.search(disposition)
    if match is None:
        return ""
    encoded, quoted, plain = match.groups()
    return unquote(encoded) if encoded else (quoted or plain or "").strip()
