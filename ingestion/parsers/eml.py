"""Reads a letter: sender, recipients, date, subject and text.

In: an EML or MHTML file. Out: a `Document` that begins with the headers that people look at. Attachments are not read
here: `ingestion.reading.archives` unpacks them and has each read.
"""

from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import parseaddr, parsedate_to_datetime
from pathlib import Path

from ingestion.language import detect_language
from ingestion.parsers.encodings import tidy_text
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.letter import FULLNESS, Bodies, bodies
from ingestion.parsers.markup import add_markup
from ingestion.parsers.mime import open_letter
from ingestion.parsers.outline import Outline
from ingestion.parsers.text import EMPTY_LINES
from ingestion.parsers.titles import choose_title
from ingestion.records import BlockKind, Document

SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def accepts(file: FileInfo) -> bool:
    """A text that begins with the headers of a letter."""
    return file.kind is FileKind.EMAIL


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
