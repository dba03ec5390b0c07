"""The bytes of a page as text, by what the page and its letters say.

In: the body as it came; a charset that only the header knew was made a byte order mark before. Out: text. It reads no
markup beyond the charset that the page declares for itself.
"""

import codecs
import re

from ingestion.parsers.encodings import decode_text

META_WITHIN_BYTES = 4096  # browsers look at 1024; real pages put it later

_META_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w:-]+)", re.IGNORECASE)


def decode_page(body: bytes) -> str:
    """UTF-8 when it is that; else as the page declares; else by its letters."""
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
