"""Reads a letter: sender, recipients, date, subject and text; and tells its text parts from its attachments.

In: an EML or MHTML file (`mime` finds its parts). Out: a `Document` that begins with the headers that people look at.
Wrong or missing charsets are guessed from the text. Attachments are not read here: `ingestion.reading.archives` unpacks
them and has each read.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import parseaddr, parsedate_to_datetime
from pathlib import Path

from ingestion.language import detect_language
from ingestion.parsers.encodings import decode_text, tidy_text
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.markup import add_markup
from ingestion.parsers.mime import Letter, Part, open_letter
from ingestion.parsers.outline import Outline, choose_title
from ingestion.parsers.text import EMPTY_LINES
from ingestion.records import BlockKind, Document

_UNATTACHED_TYPES_TEXT = (
    "application/pgp-signature application/pkcs7-signature application/x-pkcs7-signature application/pgp-encrypted "
    "text/calendar application/ics text/x-amp-html message/delivery-status text/rfc822-headers text/css "
    "application/javascript text/javascript"
)
UNATTACHED_TYPES = frozenset(_UNATTACHED_TYPES_TEXT.split())
BODY_TYPES = ("text/plain", "text/html")
MOST_SIGNS_A_BYTE = 3  # quoted-printable; base64 takes four characters for three bytes
FULLNESS = 0.5  # of the words of the HTML body: a shorter plain body is «open this letter in a browser»
SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")


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


def parse(path: Path, info: FileInfo) -> Document:
    """The letter's headers and text; the text may be empty."""
    letter = open_letter(path)
    stated = {name: _header(letter.headers, name) for name in SHOWN_HEADERS}
    return letter_document(
        {name: value for name, value in stated.items() if value},
        bodies(letter),
        name=info.name,
        author=_author(stated["From"]),
        sent_at=_moment(stated["Date"]),
    )


def letter_document(
    headers: dict[str, str], words: Bodies, *, name: str, author: str | None, sent_at: datetime | None
) -> Document:
    """The document of a letter in any format."""
    outline = Outline()
    outline.add(BlockKind.PARAGRAPH, "\n".join(f"{header}: {value}" for header, value in headers.items()))
    _add_words(outline, words)
    blocks = outline.finish()
    return Document(
        title=choose_title(headers.get("Subject"), (), name=name),
        blocks=blocks,
        language=detect_language("\n".join(block.text for block in blocks[1:])),
        author=author,
        published_at=sent_at,
    )


def _add_words(outline: Outline, words: Bodies) -> None:
    """Add the plain body, unless the HTML body has much more text."""
    marked = Outline()
    if words.html.strip():
        add_markup(marked, words.html)
    blocks = marked.finish()
    length = sum(len(block.text.split()) for block in blocks)
    if words.plain.strip() and len(words.plain.split()) >= length * FULLNESS:
        for paragraph in EMPTY_LINES.split(tidy_text(words.plain)):
            outline.add(BlockKind.PARAGRAPH, "\n".join(line.rstrip() for line in paragraph.strip().split("\n")))
    else:
        outline.extend(blocks)


def _header(headers: EmailMessage, name: str) -> str:
    """The header on one line; empty if it cannot be parsed. Never raises."""
    try:
        return " ".join(tidy_text(str(headers.get(name, ""))).split())
    except (ValueError, LookupError, AttributeError, TypeError):  # what the header parser raises on broken ones
        return ""


def _author(sender: str) -> str | None:
    name, address = parseaddr(sender)
    return name or address or None


def _moment(stated: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(stated)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
