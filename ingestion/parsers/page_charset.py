"""Decodes the bytes of a page, by its own declaration and its letters.

In: the body as it came; a charset known only from the header was turned into a byte order mark before. Out: text. Of
the markup it reads only the charset declaration.
"""

import codecs
import re

from ingestion.parsers.encodings import decode_text

META_WITHIN_BYTES = 4096  # browsers search 1024; real pages declare it later

_META_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w:-]+)", re.IGNORECASE)


def decode_page(body: bytes) -> str:
    """Decode as UTF-8 if valid, else as the page declares, else by its letters."""
    declared = _META_CHARSET.search(body[:META_WITHIN_BYTES])
    if declared is None or body.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decode_text(body)
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_as(declared.group(1).decode("ascii"), body)


def _decode_as(charset: str, body: bytes) -> str:
    try:
        return body.decode(charset)
    except (LookupError, UnicodeError):
        return decode_text(body)
