"""Web pages: the main text without menus, advertisements and comments, as Markdown, then as a `Document`.

In: an HTML file. Out: a `Document` with the page's own title, author and date. Pages that say nothing without a script,
or nothing but a request for consent, have no text. What is the main text, trafilatura decides.
"""

import codecs
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from trafilatura import extract, extract_metadata

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.encodings import decode_text
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.markdown import parse_markdown
from ingestion.parsers.titles import choose_title
from ingestion.records import Document

MEDIA_TYPES = frozenset({"text/html", "application/xhtml+xml"})
META_WITHIN_BYTES = 4096  # browsers look at 1024; real pages put it later
REMARK_CHARACTERS = 400
"""A text shorter than this that speaks of scripts or cookies is not what the page is about."""

_META_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w:-]+)", re.IGNORECASE)
_REMARK = re.compile(
    r"(enable|requires?|turn on|activate|without)\s+java ?script|java ?script\s+(is\s+)?(required|disabled)"
    r"|(включит[еь]|без|требуется|отключ[её]н)\s+(поддержк\w+\s+)?java ?script|java ?script\s+(отключ|выключ)"
    r"|(accept|use[sd]?|согласие|использу(ет|ем|ют)|примите)\s+(all\s+|our\s+|на\s+|файлы\s+|все\s+)*cookie"
    r"|checking your browser|verify you are (a )?human|подтвердите, что вы не робот",
    re.IGNORECASE,
)


def accepts(file: FileInfo) -> bool:
    """Pages by their beginning, or text that the server calls a page."""
    return file.kind is FileKind.HTML or (file.kind is FileKind.TEXT and file.media_type in MEDIA_TYPES)


def parse(path: Path, info: FileInfo) -> Document:
    """Raises SourceError FILE_WITHOUT_TEXT."""
    page = _decode(path.read_bytes())
    text = extract(page, output_format="markdown", include_comments=False, include_tables=True) or ""
    if not text.strip() or (len(text) < REMARK_CHARACTERS and _REMARK.search(text)):
        raise SourceError(FailureCode.FILE_WITHOUT_TEXT, name=info.name, detail="no main text in the page")
    stated = extract_metadata(page)
    document = parse_markdown(text, name=info.name)
    return replace(
        document,
        title=choose_title(stated.title or stated.sitename, document.blocks, name=info.name),
        author=stated.author or None,
        published_at=_date(stated.date),
    )


def _decode(body: bytes) -> str:
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


def _date(stated: str | None) -> datetime | None:
    """trafilatura states dates as YYYY-MM-DD."""
    try:
        return datetime.strptime(stated or "", "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
