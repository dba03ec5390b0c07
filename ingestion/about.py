"""What is said of a document without reading a file: a note's document, hashes, and what place and sender add.

In: a NOTE source, or a parsed `Document` and where it came from. Out: the document that is stored (title, author, day,
caption), and a hash that recognises the same words again: of a page without the words that change at every visit. A
note is plain text and not Markdown: people who type "#1" or "*" mean just that.
"""

import hashlib
import re
import unicodedata
from dataclasses import replace

from domain.documents import SourceType
from ingestion.dating import own_moment
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.encodings import tidy_text
from ingestion.parsers.outline import choose_author, choose_title
from ingestion.parsers.text import read_text
from ingestion.records import BLOCK_SEPARATOR, About, Block, BlockKind, Document, FetchedFile, Source
from ingestion.spool import joined

VOLATILE_LINE_CHARACTERS = 120  # longer lines are prose, where "two comments" is content
_NUMBER = r"\d[\d\s.,]*+(?:k|m|тыс\.?|млн\.?|к)?"  # possessive: backtracking over a line of blanks would take 0.2 s
_UNIT = r"(?:sec|min|hour|day|week|month|year|сек|мин|час|дн|день|дня|недел|месяц|год|лет)\w*\.?"
_COUNTED = (
    r"(?:views?|comments?|likes?|shares?|replies|reads?|followers?|subscribers?|votes?|stars?|downloads?"
    r"|просмотр\w*|комментари\w*|лайк\w*|ответ(?:а|ов)?|прочтени\w*|подписчик\w*|голос(?:а|ов)?|скачивани\w*|репост\w*)"
)
_VOLATILE = re.compile(
    rf"\b(?:{_NUMBER}\s*{_UNIT}\s*(?:ago|назад)|(?:just now|только что|minute ago|минуту назад|час назад)"
    rf"|{_NUMBER}\s*{_COUNTED}|{_COUNTED}\s*:?\s*\(?{_NUMBER}\)?|(?:today|yesterday|сегодня|вчера)(?:\s*(?:at|в))?\s*\d?\d:\d\d)",
    re.IGNORECASE,
)


def read_note(source: Source) -> Document:
    """Raises SourceError FILE_EMPTY when there are no words."""
    document = read_text(tidy_text(source.text or ""), name=source.identifier)
    if not document.blocks:
        raise SourceError(FailureCode.FILE_EMPTY, name=source.identifier)
    return document


def hash_note(source: Source) -> str:
    """Hash of name and words. A typed note is named after its first line; rows of a corpus have names of their own."""
    return hash_words(f"{source.identifier}\n{source.text or ''}")


def hash_words(text: str) -> str:
    """SHA-256 (hex) of the text in NFC, with every run of white space as one blank."""
    words = " ".join(unicodedata.normalize("NFC", text).split())
    return hashlib.sha256(words.encode("utf-8", errors="replace")).hexdigest()


def hash_page(parsed: Document) -> str:
    """SHA-256 (hex) of the page's lines without their volatile words."""
    text = BLOCK_SEPARATOR.join(block.text for block in parsed.blocks)
    lines = (line if len(line) > VOLATILE_LINE_CHARACTERS else _VOLATILE.sub("", line) for line in text.split("\n"))
    return hash_words("\n".join(lines))


def with_about(parsed: Document, file: FetchedFile) -> Document:
    """Fill what the file leaves open (title, author, day, medium, length) from the metadata of its place (`About`)."""
    about = file.about or About()
    is_nameless = parsed.title == choose_title(None, (), name=file.name)
    stated = (choose_author(author, parsed.blocks) for author in (parsed.author, about.author))
    return replace(
        parsed,
        title=about.title if about.title and is_nameless else parsed.title,
        author=next(filter(None, stated), None),
        published_at=parsed.published_at or about.published_at,
        medium=about.medium or parsed.medium,
        duration_s=about.duration_s or parsed.duration_s,
    )


def with_source(parsed: Document, source: Source) -> Document:
    """Add what the sender gave: the title of a note or voice message, the author of a forward, a file's caption. The
    document's own day takes precedence over that of the message, but a forwarded post is that message itself."""
    own = None if source.type is SourceType.NOTE and source.published_at else own_moment(parsed, source)
    title = source.title if source.type in (SourceType.NOTE, SourceType.FILE) else None
    caption = source.text if source.type in (SourceType.FILE, SourceType.LINK) else None
    opening = (Block(kind=BlockKind.PARAGRAPH, text=caption),) if caption else ()
    return replace(
        parsed,
        title=title or parsed.title,
        author=parsed.author or source.author,
        published_at=parsed.published_at or own or source.published_at,
        blocks=joined(opening, parsed.blocks),
    )
