"""Detects files that hold only a link: desktops make them when an address is dragged out of a browser.

In: a file. Out: the address in it, or None for all other files. `.url` (Windows) and `.desktop` (Linux) are recognised
by content, `.webloc` (macOS) also by name. Nothing is parsed: the address is found by search.
"""

import codecs
import html
import re
from pathlib import PurePath

from ingestion.fetch.urls import normalise_url
from ingestion.records import FetchedFile

LARGEST_BYTES = 64 * 1024  # some carry an icon
SECTIONS = frozenset({b"[internetshortcut]", b"[desktop entry]"})
ADDRESS_KEY = b"url="
PROPERTY_LIST_ENDINGS = frozenset({".webloc"})

BINARY_LIST = b"bplist"

_XML_PROPERTY = re.compile(rb"<key>\s*URL\s*</key>\s*<string>\s*([^<\s]+)\s*</string>")
_BINARY_TEXT = re.compile(rb"https?://[\x21-\x7e]+", re.IGNORECASE)  # in a binary list no letter follows a text


def saved_link(file: FetchedFile) -> str | None:
    """The web address, in the form of `normalise_url`; None for other addresses (files, mail). Raises OSError."""
    if file.size_bytes > LARGEST_BYTES:
        return None
    content = file.path.read_bytes().removeprefix(codecs.BOM_UTF8).strip()
    address = _of_shortcut(content) or _of_property_list(content, file.name)
    return normalise_url(address.decode("utf-8", errors="replace")) if address else None


def _of_shortcut(content: bytes) -> bytes | None:
    """The first `URL=` in the section about the link."""
    if not content.startswith(b"["):
        return None
    is_about_link = False
    for line in map(bytes.strip, content.splitlines()):
        if line.startswith(b"["):
            is_about_link = line.lower() in SECTIONS
        elif is_about_link and line[: len(ADDRESS_KEY)].lower() == ADDRESS_KEY:
            return line[len(ADDRESS_KEY) :].strip()
    return None


def _of_property_list(content: bytes, name: str) -> bytes | None:
    if PurePath(name).suffix.lower() not in PROPERTY_LIST_ENDINGS:
        return None
    if content.startswith(BINARY_LIST):
        found = _BINARY_TEXT.search(content)
        return found.group() if found else None
    found = _XML_PROPERTY.search(content)
    return html.unescape(found.group(1).decode("utf-8", errors="replace")).encode() if found else None
