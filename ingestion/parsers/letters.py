"""Reads letters: sender, recipients, date, subject and text; and tells their text parts from their attachments.

In: an EML or MHTML file (RFC 5322, 2045, 2046), mapped into memory, or an MSG file of Outlook's. Out: a `Document` that
begins with the headers that people look at; headers and file positions of parts, and their content in pieces of some
100 KB at most: attachments of 60 MB take no extra memory, while Python's own parser would hold them eight times. Broken
letters are read as that parser reads them; damage is skipped as mail programs do. Wrong or missing charsets are guessed
from the text. Attachments are not read here: `ingestion.reading.archives` unpacks them and has each read.
"""

import binascii
import re
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parseaddr, parsedate_to_datetime
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from ingestion.errors import FailureCode, SourceError
from ingestion.language import detect_language
from ingestion.parsers.encodings import decode_text, tidy_text
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.markup import add_markup
from ingestion.parsers.outline import Outline, choose_title
from ingestion.parsers.text import EMPTY_LINES
from ingestion.records import BlockKind, Document

PIECE_BYTES = 96 * 1024
_BASE64 = (string.ascii_letters + string.digits + "+/=").encode()
_NOT_BASE64 = bytes(set(range(256)) - set(_BASE64))
_RUNS = re.compile(rb"=+|[^=]+")
QUAD = 4  # base64 letters for three bytes
LONGEST_UU_LINE = 100
Pieces = Iterator[bytes]
MOST_PARTS = 1_000  # of a letter; later ones are ignored
DEEPEST = 100  # nested multiparts; anything deeper is one part
LARGEST_HEADERS_BYTES = 4 * 1024 * 1024  # of one part; the rest is skipped
KEPT_HEADERS_BYTES = 64 * 1024  # of them, once each is cut
LONGEST_FIELD_BYTES = 8 * 1024  # some 300 addresses; Python's reader takes minutes for 64 KB of semicolons
_BEFORE = re.compile(rb"(?:(?:\xef\xbb\xbf)?[\r\n]++)*+(?:\xef\xbb\xbf)?")  # what some programs put before a letter
_HEADERS = re.compile(rb"(?P<all>(?:(?:From |[!-9;-~]*+:|[\t ])[^\r\n]*+(?:\r\n?|\n|\Z))*+)(?:\r\n?|\n)?")
"""RFC 5322, 2.2: names of fields, and folded lines."""
_FIELD = re.compile(rb"[^\r\n]++(?:\r\n?|\n|\Z)(?:[\t ][^\r\n]*+(?:\r\n?|\n|\Z))*+")
_DELIMITER_END = rb"(--)?[ \t]*+(?:\r\n?|\n|\Z)"
_LINE_END = re.compile(rb"(?:\r\n|\r|\n)\Z")
TEXT_ENCODING_FAILURES = (UnicodeDecodeError, LookupError)
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


def decoded(path: Path, begin: int, end: int, coding: str) -> Pieces:
    """The bytes from `begin` to `end`, decoded. Raises OSError."""
    decode = CODINGS.get(coding.strip().lower())
    pieces = _pieces(path, begin, end)
    return pieces if decode is None else decode(pieces)


def _pieces(path: Path, begin: int, end: int) -> Pieces:
    with path.open("rb") as stream:
        stream.seek(begin)
        left = end - begin
        while left > 0 and (piece := stream.read(min(PIECE_BYTES, left))):
            left -= len(piece)
            yield piece


def _from_base64(pieces: Pieces) -> Pieces:
    """Decode up to the first padding that completes four letters; other characters are ignored."""
    kept = b""
    for piece in pieces:
        letters, is_over = _without_padding(kept + piece.translate(None, _NOT_BASE64))
        whole = len(letters) // QUAD * QUAD
        if content := binascii.a2b_base64(letters[:whole]):
            yield content
        kept = letters[whole:]
        if is_over:
            break
    kept = kept.rstrip(b"=")
    if len(kept) > 1:  # a single letter is less than a byte
        yield binascii.a2b_base64(kept.ljust(QUAD, b"="))


def _without_padding(letters: bytes) -> tuple[bytes, bool]:
    """The letters before the padding that ends them, and whether there was one; misplaced padding is damage."""
    found = bytearray()
    for run in _RUNS.finditer(letters):
        missing = -len(found) % QUAD
        if not run.group().startswith(b"="):
            found += run.group()
        elif missing in (1, 2) and len(run.group()) >= missing:
            return bytes(found), True
        elif missing == 2 and run.end() == len(letters):  # its second sign may be in the next piece
            found += b"="
    return bytes(found), False


def _from_quoted_printable(pieces: Pieces) -> Pieces:
    for line in _lines(pieces, b"="):
        if content := binascii.a2b_qp(line):
            yield content


def _from_uu(pieces: Pieces) -> Pieces:
    is_open = False
    for line in _lines(pieces, b""):
        if not is_open:
            is_open = line.startswith(b"begin ")
        elif line.strip() in (b"end", b"`"):
            return
        elif (encoded := line.rstrip(b"\r\n")) and (content := _uu_line(encoded[:LONGEST_UU_LINE])):
            yield content


def _uu_line(line: bytes) -> bytes:
    try:
        return binascii.a2b_uu(line)
    except binascii.Error:  # some encoders leave characters after the content
        length = (line[0] - 32) & 63
        try:
            return binascii.a2b_uu(line[: (length * 4 + 5) // 3 + 1])
        except binascii.Error:
            return b""


def _lines(pieces: Pieces, escape: bytes) -> Pieces:
    """Regroup into pieces that end at a line end or inside a very long line, never inside an `=XX` escape."""
    kept = b""
    for piece in pieces:
        kept += piece
        cut = kept.rfind(b"\n") + 1
        if not cut and len(kept) > PIECE_BYTES:
            cut = len(kept)
            if escape and (at := kept.rfind(escape, -3)) > 0:
                cut = at
        if cut:
            yield from kept[:cut].splitlines(keepends=True) if not escape else (kept[:cut],)
        kept = kept[cut:]
    yield from kept.splitlines(keepends=True) if not escape else (kept,)


CODINGS: Mapping[str, Callable[[Pieces], Pieces]] = {
    "base64": _from_base64,
    "quoted-printable": _from_quoted_printable,
    **dict.fromkeys(("x-uuencode", "uuencode", "uue", "x-uue"), _from_uu),
}


@dataclass(frozen=True, kw_only=True)
class Part:
    """A leaf of the letter's structure; an attached letter is one, unopened."""

    headers: EmailMessage  # without content
    path: Path
    begin: int  # in bytes of the file
    end: int

    def content(self) -> Iterator[bytes]:
        """The content in pieces, with the transfer encoding decoded. Raises OSError."""
        return decoded(self.path, self.begin, self.end, str(self.headers.get("Content-Transfer-Encoding", "")))

    def head(self) -> EmailMessage:
        """The headers at the beginning of the content, for a part that is a letter."""
        begun = next(self.content(), b"")[:LARGEST_HEADERS_BYTES]
        return _headers(re.split(rb"\r?\n\r?\n", begun, maxsplit=1)[0])


@dataclass(frozen=True, kw_only=True)
class Letter:
    """A letter's own headers, and its parts in order; a plain letter is its only part."""

    headers: EmailMessage
    parts: tuple[Part, ...]


def open_letter(path: Path) -> Letter:
    """Parse a letter; of an mbox file, only the first letter. Raises OSError."""
    with path.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as data:
        before = _BEFORE.match(data)
        headers, begin = _read_headers(data, before.end() if before else 0, len(data))
        parts = _parts(path, data, headers, begin, len(data), depth=0)
        return Letter(headers=headers, parts=tuple(islice(parts, MOST_PARTS)))


def _parts(path: Path, data: mmap, headers: EmailMessage, begin: int, end: int, *, depth: int) -> Iterator[Part]:
    """The leaves of what these headers head."""
    boundary = headers.get_boundary() if headers.get_content_maintype() == "multipart" and depth < DEEPEST else None
    places = [] if boundary is None else list(_places(data, boundary.encode("latin-1", "replace"), begin, end))
    if not places:
        yield Part(headers=headers, path=path, begin=begin, end=end)
    is_digest = headers.get_content_subtype() == "digest"  # RFC 2046, 5.1.5
    for start, stop in places:
        inner, start = _read_headers(data, start, stop)
        inner.set_default_type("message/rfc822" if is_digest else "text/plain")
        yield from _parts(path, data, inner, start, stop, depth=depth + 1)


def _places(data: mmap, boundary: bytes, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """What stands between delimiters, without the line end before them; all before the first and behind the last is
    ignored."""
    since: int | None = None
    for found in re.compile(b"--" + re.escape(boundary) + _DELIMITER_END).finditer(data, begin, end):
        line_end = _LINE_END.search(data[max(since or begin, found.start() - 2) : found.start()])
        if found.start() not in (begin, since) and line_end is None:
            continue
        if since is not None:
            yield since, found.start() - (len(line_end[0]) if line_end else 0)
        since = found.end()
        if found[1]:
            return
    if since is not None:
        yield since, end


def _read_headers(data: mmap, begin: int, end: int) -> tuple[EmailMessage, int]:
    """The headers up to an empty line, or to one that is no header; and where the content begins."""
    found = _HEADERS.match(data, begin, end)
    content = found.end("all") if found else begin
    return _headers(data[begin : min(content, begin + LARGEST_HEADERS_BYTES)]), found.end() if found else begin


def _headers(raw: bytes) -> EmailMessage:
    fields = _FIELD.findall(raw)
    cut = b"".join(each if len(each) <= LONGEST_FIELD_BYTES else each[:LONGEST_FIELD_BYTES] + b"\n" for each in fields)
    return message_from_bytes(cut[:KEPT_HEADERS_BYTES], policy=policy.default)


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


def parse_outlook(path: Path, info: FileInfo) -> Document:
    """Raises SourceError FILE_DAMAGED."""
    # Imported here: the import takes 160 ms, and few files are of this kind.
    from oxmsg import Message

    try:
        message = Message.load(str(path))
        headers = {
            "From": message.sender or "",
            "To": ", ".join(f"{person.name} <{person.email_address}>" for person in message.recipients),
            "Date": message.sent_date.isoformat(" ", "minutes") if message.sent_date else "",
            "Subject": message.subject or "",
        }
        sent_at = message.sent_date
        words = Bodies(plain=_body_of(message, "body"), html=_body_of(message, "html_body"))
    except (OSError, KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
        raise SourceError(
            FailureCode.FILE_DAMAGED, name=info.name, detail=f"{type(error).__name__}: {error}"
        ) from error
    headers = {name: value for name, value in headers.items() if value}
    return letter_document(headers, words, name=info.name, author=message.sender, sent_at=sent_at)


def _body_of(message: Any, name: str) -> str:
    """`body`, or `html_body`; a body in RTF only is text, too. Empty where its encoding is wrong."""
    try:
        body = getattr(message, name) or ""
    except TEXT_ENCODING_FAILURES:
        return ""
    return decode_text(body) if isinstance(body, bytes) else body
