"""Tells a letter's text parts from its attachments.

In: the structure of an EML or MHTML file (`mime`). Out: the bodies as text or HTML, and the attachments, whose content
is read lazily in pieces. Wrong or missing charsets are guessed from the text.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ingestion.parsers.encodings import decode_text
from ingestion.parsers.mime import Letter, Part

_UNATTACHED_TYPES_TEXT = (
    "application/pgp-signature application/pkcs7-signature application/x-pkcs7-signature application/pgp-encrypted "
    "text/calendar application/ics text/x-amp-html message/delivery-status text/rfc822-headers text/css "
    "application/javascript text/javascript"
)
UNATTACHED_TYPES = frozenset(_UNATTACHED_TYPES_TEXT.split())
BODY_TYPES = ("text/plain", "text/html")
MOST_SIGNS_A_BYTE = 3  # quoted-printable; base64 takes four characters for three bytes
FULLNESS = 0.5  # of the words of the HTML body: a shorter plain body is «open this letter in a browser»


@dataclass(frozen=True, kw_only=True)
class Attached:
    """A file attached to a letter."""

    name: str
    size_bytes: int  # a lower bound
    pieces: Callable[[], Iterator[bytes]]


@dataclass(frozen=True, kw_only=True)
class Bodies:
    """The same text in two forms, as letters have it; empty where one is missing."""

    plain: str
    html: str


def bodies(letter: Letter) -> Bodies:
    """The text of the letter itself, not of letters attached to it."""
    texts: dict[str, list[str]] = {kind: [] for kind in BODY_TYPES}
    for part in letter.parts:
        kind = part.headers.get_content_type()
        if kind in texts and not _is_attachment(part):
            texts[kind].append(decode_part(part))
    return Bodies(plain="\n\n".join(texts["text/plain"]), html="\n".join(texts["text/html"]))


def attachments(letter: Letter) -> Iterator[Attached]:
    """Attachments in order; pictures shown in the text are skipped."""
    shown = bodies(letter).html
    for part in letter.parts:
        is_unattached = part.headers.get_content_type() in UNATTACHED_TYPES
        if _is_attachment(part) and not is_unattached and not _is_shown(part, shown):
            size = (part.end - part.begin) // MOST_SIGNS_A_BYTE
            yield Attached(name=_name(part), size_bytes=size, pieces=part.content)


def decode_part(part: Part) -> str:
    """The text of a part, decoded by its charset if that is correct. Raises OSError."""
    data = b"".join(part.content())
    charset = part.headers.get_content_charset()
    if charset is None or charset in ("us-ascii", "ascii", "unknown-8bit", "default"):
        return decode_text(data)
    try:
        return data.decode(charset).replace("\r\n", "\n").replace("\0", "")
    except (LookupError, ValueError):  # not only UnicodeError: the charset's name may hold a zero byte
        return decode_text(data)


def _is_attachment(part: Part) -> bool:
    headers = part.headers
    if headers.get_content_disposition() == "attachment" or headers.get_content_maintype() == "message":
        return True
    if headers.get_content_type() in BODY_TYPES:
        return headers.get_filename() is not None and headers.get_content_disposition() != "inline"
    return True


def _is_shown(part: Part, html: str) -> bool:
    if part.headers.get_content_maintype() in ("image", "font"):
        key = str(part.headers.get("Content-ID", "")).strip().strip("<>")
        place = str(part.headers.get("Content-Location", ""))
        return bool((key and f"cid:{key}" in html) or (place and place in html) or (place and not key))
    return False


def _name(part: Part) -> str:
    if name := part.headers.get_filename():
        return name
    if part.headers.get_content_maintype() != "message":
        return part.headers.get_content_type().replace("/", ".")
    subject = " ".join(str(part.head().get("Subject") or "letter").split())
    return f"{subject}.eml"
