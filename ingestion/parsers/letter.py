"""A letter as it was sent (RFC 5322, MIME): its headers, its body, what is attached.

In: the bytes of an EML or MHTML file. Out: Python's message, the best of its bodies as text or HTML, its attachments.
Charsets that lie or are missing are guessed by the letters.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import cast

from ingestion.parsers.encodings import decode_text

_UNATTACHED_TYPES_TEXT = (
    "application/pgp-signature application/pkcs7-signature application/x-pkcs7-signature application/pgp-encrypted "
    "text/calendar application/ics text/x-amp-html message/delivery-status text/rfc822-headers text/css "
    "application/javascript text/javascript"
)
UNATTACHED_TYPES = frozenset(_UNATTACHED_TYPES_TEXT.split())
BODY_TYPES = ("text/plain", "text/html")
MOST_PARTS = 1_000  # of a letter; what is behind them is not read
FULLNESS = 0.5  # of the words of the HTML body: a plain one with fewer is «open this letter in a browser»


@dataclass(frozen=True, kw_only=True)
class Attached:
    """A file in a letter."""

    name: str
    content: bytes


@dataclass(frozen=True, kw_only=True)
class Bodies:
    """The same words in two forms, as letters have them; empty where one is missing."""

    plain: str
    html: str


def open_letter(path: Path) -> EmailMessage:
    """A file that begins with an mbox line is read to the end of its first letter's own structure."""
    return message_from_bytes(path.read_bytes(), policy=policy.default)


def bodies(letter: EmailMessage) -> Bodies:
    """The words of the letter itself, not of those attached to it."""
    texts: dict[str, list[str]] = {kind: [] for kind in BODY_TYPES}
    for part in _parts(letter):
        if part.get_content_type() in texts and not _is_attachment(part):
            texts[part.get_content_type()].append(decode_part(part))
    return Bodies(plain="\n\n".join(texts["text/plain"]), html="\n".join(texts["text/html"]))


def attachments(letter: EmailMessage) -> Iterator[Attached]:
    """In order; a picture that the text shows is none."""
    shown = bodies(letter).html
    for part in _parts(letter):
        if not _is_attachment(part) or part.get_content_type() in UNATTACHED_TYPES or _is_shown(part, shown):
            continue
        yield _attached(part)


def decode_part(part: EmailMessage) -> str:
    """The text of a part: as its charset says, when that is true."""
    content = part.get_payload(decode=True)
    data = content if isinstance(content, bytes) else b""
    charset = part.get_content_charset()
    if charset is None or charset in ("us-ascii", "ascii", "unknown-8bit", "default"):
        return decode_text(data)
    try:
        return data.decode(charset).replace("\r\n", "\n").replace("\0", "")
    except (LookupError, UnicodeError):
        return decode_text(data)


def _parts(letter: EmailMessage) -> Iterator[EmailMessage]:
    """Leaves of the letter's structure, and letters inside it unopened."""
    waiting = [letter]
    for _ in range(MOST_PARTS):
        if not waiting:
            return
        part = waiting.pop()
        if part.get_content_maintype() == "multipart" and part.is_multipart():
            waiting.extend(reversed(cast("list[EmailMessage]", part.get_payload())))
        else:
            yield part


def _is_attachment(part: EmailMessage) -> bool:
    if part.get_content_disposition() == "attachment" or part.get_content_maintype() == "message":
        return True
    if part.get_content_type() in BODY_TYPES:
        return part.get_filename() is not None and part.get_content_disposition() != "inline"
    return True


def _is_shown(part: EmailMessage, html: str) -> bool:
    if part.get_content_maintype() in ("image", "font"):
        key = str(part.get("Content-ID", "")).strip().strip("<>")
        place = str(part.get("Content-Location", ""))
        return bool((key and f"cid:{key}" in html) or (place and place in html) or (place and not key))
    return False


def _attached(part: EmailMessage) -> Attached:
    if part.get_content_maintype() == "message" and part.is_multipart():
        inner = cast("EmailMessage", part.get_payload(0))
        subject = " ".join(str(inner.get("Subject") or "letter").split())
        return Attached(name=part.get_filename() or f"{subject}.eml", content=inner.as_bytes())
    content = part.get_payload(decode=True)
    name = part.get_filename() or part.get_content_type().replace("/", ".")
    return Attached(name=name, content=content if isinstance(content, bytes) else b"")
