"""Tells the kind of a text: web page, FB2 book, other XML, letter with headers, or plain text.

In: the first bytes of a text. Out: a `FileKind`. It looks only at the first tag or the first headers.
"""

import re

from ingestion.parsers.encodings import guess_wide_encoding
from ingestion.parsers.file_info import FileKind

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

_BOM_ENCODINGS = ((b"\xff\xfe\x00\x00", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_PROLOG = re.compile(r"(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*", re.DOTALL | re.IGNORECASE)
_FIRST_TAG = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")
_HEADER = re.compile(r"^([A-Za-z][\w-]{1,60}):[ \t]?.*(?:\r?\n[ \t].*)*\r?\n", re.MULTILINE)
_MBOX_LINE = re.compile(r"From \S+.*\r?\n")


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
    for mark, encoding in _BOM_ENCODINGS:
        if head.startswith(mark):
            return head.decode(encoding, errors="replace")
    return head.removeprefix(b"\xef\xbb\xbf").decode(guess_wide_encoding(head) or "latin-1", errors="replace")


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
