"""Reads letters: sender, recipients, date, subject and text; and tells their text from their attachments.

In: an EML or MHTML file, read by Python's `email`, which tolerates damage and takes three times the file's size in
memory, six with its largest attachment (a letter of 100 MB fits into a parsing process); or an MSG file of Outlook's.
Out: a `Document` that begins with the headers that people look at. Wrong or missing charsets are guessed from the text.
Attachments are not read here: `ingestion.reading.reader` unpacks them and has each read.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email import message_from_binary_file
from email.message import EmailMessage
from email.parser import BytesHeaderParser
from email.policy import EmailPolicy
from email.utils import parseaddr, parsedate_to_datetime
from itertools import islice
from pathlib import Path
from typing import Any, cast

from ingestion.language import detect_language
from ingestion.parsers.encodings import decode_text, tidy_text
from ingestion.parsers.markup import add_markup
from ingestion.parsers.outline import Outline, choose_title
from ingestion.parsers.text import EMPTY_LINES
from ingestion.records import BlockKind, Document

MOST_PARTS = 1_000  # of a letter; later ones are ignored
LONGEST_FIELD_CHARS = 8 * 1024  # some 300 addresses; Python's reader takes minutes for 64 KB of semicolons
_BEFORE = re.compile(rb"[\r\n\xef\xbb\xbf]*")  # what some programs put before a letter
BEFORE_WITHIN_BYTES = 1024
_UNATTACHED_TYPES_TEXT = (
    "application/pgp-signature application/pkcs7-signature application/x-pkcs7-signature application/pgp-encrypted "
    "text/calendar application/ics text/x-amp-html message/delivery-status text/rfc822-headers text/css "
    "application/javascript text/javascript"
)
UNATTACHED_TYPES = frozenset(_UNATTACHED_TYPES_TEXT.split())
BODY_TYPES = ("text/plain", "text/html")
FULLNESS = 0.5  # of the words of the HTML body: a shorter plain body is «open this letter in a browser»


class _Bounded(EmailPolicy):
    """Python's own policy, with fields cut before they are parsed."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        return super().header_source_parse(["".join(sourcelines)[:LONGEST_FIELD_CHARS]])


class _Part(EmailMessage):
    """A letter inside is a leaf, kept as it came: parsed in place, a thousand in each other would be too many."""

    def get_content_maintype(self) -> str:
        return super().get_content_maintype().replace("message", "letter")


POLICY = _Bounded(message_factory=_Part)


def open_letter(path: Path) -> EmailMessage:
    """Of an mbox file, only the first letter. Raises OSError."""
    with path.open("rb") as stream:
        before = _BEFORE.match(stream.read(BEFORE_WITHIN_BYTES))
        stream.seek(before.end() if before else 0)
        return cast("EmailMessage", message_from_binary_file(stream, policy=POLICY))


def parts_of(letter: EmailMessage) -> Sequence[EmailMessage]:
    """The leaves of its structure, in order; an attached letter is one, a plain letter its own only one."""
    return list(islice((part for part in letter.walk() if not part.is_multipart()), MOST_PARTS))


def content_of(part: EmailMessage) -> bytes:
    """The content with its transfer encoding decoded; of a letter inside, its source."""
    return cast("bytes", part.get_payload(decode=True)) or b""


def bodies(letter: EmailMessage) -> tuple[str, str]:
    """The text of the letter itself, not of letters attached to it: plain and as HTML, empty where one is missing."""
    texts: dict[str, list[str]] = {kind: [] for kind in BODY_TYPES}
    for part in parts_of(letter):
        if (kind := part.get_content_type()) in texts and not _is_attachment(part):
            data, charset = content_of(part), part.get_content_charset()
            try:
                texts[kind].append(tidy_text(data.decode(charset)) if charset else decode_text(data))
            except (LookupError, ValueError):  # not only UnicodeError: the charset's name may hold a zero byte
                texts[kind].append(decode_text(data))
    return "\n\n".join(texts["text/plain"]), "\n".join(texts["text/html"])


def attachments(letter: EmailMessage) -> Iterator[tuple[str, EmailMessage]]:
    """Attachments in order, with their names; pictures shown in the text are skipped."""
    _, html = bodies(letter)
    for part in parts_of(letter):
        kind = part.get_content_type()
        is_shown = kind.startswith(("image/", "font/")) and _is_shown(part, html)
        if not _is_attachment(part) or kind in UNATTACHED_TYPES or is_shown:
            continue
        name = part.get_filename() or kind.replace("/", ".")
        if kind == "message/rfc822" and not part.get_filename():
            inner = cast("EmailMessage", BytesHeaderParser(policy=POLICY).parsebytes(content_of(part)))
            name = f"{_header(inner, 'Subject') or 'letter'}.eml"
        yield name, part


def _is_attachment(part: EmailMessage) -> bool:
    disposition = part.get_content_disposition()
    if disposition != "attachment" and part.get_content_type() in BODY_TYPES:
        return part.get_filename() is not None and disposition != "inline"
    return True


def _is_shown(part: EmailMessage, html: str) -> bool:
    key, place = str(part.get("Content-ID", "")).strip().strip("<>"), str(part.get("Content-Location", ""))
    return bool((key and f"cid:{key}" in html) or (place and (place in html or not key)))


def parse(path: Path, name: str) -> Document:
    """The letter's headers and text; the text may be empty."""
    letter = open_letter(path)
    stated = {name: _header(letter, name) for name in ("From", "To", "Cc", "Date", "Subject")}
    sender, address = parseaddr(stated["From"])
    try:
        sent_at = parsedate_to_datetime(stated["Date"])
        sent_at = sent_at if sent_at.tzinfo else sent_at.replace(tzinfo=UTC)
    except ValueError:
        sent_at = None
    return _document(stated, *bodies(letter), name=name, author=sender or address or None, sent_at=sent_at)


def _header(letter: EmailMessage, name: str) -> str:
    """The header on one line; empty if it cannot be parsed. Never raises."""
    try:
        return " ".join(tidy_text(str(letter.get(name, ""))).split())
    except (ValueError, LookupError, AttributeError, TypeError):  # what the header parser raises on broken ones
        return ""


def _document(
    headers: dict[str, str], plain: str, html: str, *, name: str, author: str | None, sent_at: datetime | None
) -> Document:
    """Of a letter in any format: the plain body, unless the HTML body has much more text."""
    marked, outline = Outline(), Outline()
    outline.add(BlockKind.PARAGRAPH, "\n".join(f"{header}: {value}" for header, value in headers.items() if value))
    if html.strip():
        add_markup(marked, html)
    of_html = marked.finish()
    length = sum(len(block.text.split()) for block in of_html)
    if plain.strip() and len(plain.split()) >= length * FULLNESS:
        for paragraph in EMPTY_LINES.split(tidy_text(plain)):
            outline.add(BlockKind.PARAGRAPH, "\n".join(line.rstrip() for line in paragraph.strip().split("\n")))
    else:
        outline.extend(of_html)
    blocks = outline.finish()
    return Document(
        title=choose_title(headers["Subject"], (), name=name),
        blocks=blocks,
        language=detect_language("\n".join(block.text for block in blocks[1:])),
        author=author,
        published_at=sent_at,
    )


def parse_outlook(path: Path, name: str) -> Document:
    """The same of an MSG file."""
    # Imported here: the import takes 160 ms, and few files are of this kind.
    from oxmsg import Message

    message = Message.load(str(path))
    headers = {
        "From": message.sender or "",
        "To": ", ".join(f"{person.name} <{person.email_address}>" for person in message.recipients),
        "Date": message.sent_date.isoformat(" ", "minutes") if message.sent_date else "",
        "Subject": message.subject or "",
    }
    bodies_of = []
    for form in ("body", "html_body"):  # a body in RTF only is text, too
        body: Any = ""
        with suppress(UnicodeDecodeError, LookupError):
            body = getattr(message, form) or ""
        bodies_of.append(decode_text(body) if isinstance(body, bytes) else body)
    return _document(headers, *bodies_of, name=name, author=message.sender, sent_at=message.sent_date)
