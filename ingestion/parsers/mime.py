"""Finds the structure of a letter (RFC 5322, 2045, 2046), and decodes the content of its parts piece by piece.

In: an EML or MHTML file, read line by line. Out: the headers of the letter and of its parts, and file positions; pieces
of content, of some 100 KB at most. Attachments of 60 MB take no extra memory: Python's own parser would hold them eight
times. Broken letters are read as that parser reads them; damage is skipped as mail programs do.
"""

import binascii
import re
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import TextIO

PIECE_BYTES = 96 * 1024
_BASE64 = (string.ascii_letters + string.digits + "+/=").encode()
_NOT_BASE64 = bytes(set(range(256)) - set(_BASE64))
_RUNS = re.compile(rb"=+|[^=]+")
QUAD = 4  # base64 letters for three bytes
LONGEST_UU_LINE = 100
Pieces = Iterator[bytes]
MOST_PARTS = 1_000  # of a letter; later ones are ignored
DEEPEST = 100  # nested multiparts; anything deeper is one part
LARGEST_HEADERS_CHARS = 64 * 1024  # of one part; the rest is skipped
LARGEST_ALL_HEADERS_CHARS = 4 * 1024 * 1024  # of all parts of a letter
LONGEST_FIELD_CHARS = 8 * 1024  # some 300 addresses; Python's reader takes minutes for 64 KB of semicolons
LONGEST_LINE_CHARS = 64 * 1024  # longer ones are split
_HEADER = re.compile(r"From |[!-9;-~]*:|[\t ]")  # RFC 5322, 2.2: a field's name, or a folded line


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
        begun = next(self.content(), b"")[:LARGEST_HEADERS_CHARS]
        return _headers(re.split(rb"\r?\n\r?\n", begun, maxsplit=1)[0])


@dataclass(frozen=True, kw_only=True)
class Letter:
    """A letter's own headers, and its parts in order; a plain letter is its only part."""

    headers: EmailMessage
    parts: tuple[Part, ...]


def open_letter(path: Path) -> Letter:
    """Parse a letter; of an mbox file, only the first letter. Raises OSError."""
    with path.open(encoding="latin-1", newline="") as stream:  # a character is a byte
        lines = _Lines(stream)
        headers = lines.read_headers(is_first=True)
        return Letter(headers=headers, parts=tuple(_read_parts(path, lines, headers)))


def _read_parts(path: Path, lines: "_Lines", headers: EmailMessage) -> Iterator[Part]:
    message: EmailMessage | None = headers
    found = 0
    while message is not None and found < MOST_PARTS:
        is_opened = lines.open_multipart(message)
        begin = lines.position
        delimiter = lines.skip_to_delimiter()
        if not is_opened or delimiter is None or delimiter.is_last or delimiter.depth != len(lines.boundaries) - 1:
            found += 1
            yield Part(headers=message, path=path, begin=begin, end=max(begin, lines.end))
        message = _next_message(lines, delimiter)


def _next_message(lines: "_Lines", delimiter: "_Delimiter | None") -> EmailMessage | None:
    """The headers after a delimiter, if a part follows; text after the last delimiter is ignored."""
    while delimiter is not None:
        lines.end_multiparts(delimiter)
        if not delimiter.is_last:
            return lines.read_headers()
        delimiter = lines.skip_to_delimiter()
    return None


@dataclass(frozen=True, kw_only=True)
class _Delimiter:
    depth: int  # of the multipart it belongs to
    is_last: bool


class _Fields:
    """Headers being read: each is cut at its limit, and all together at the room left."""

    def __init__(self, room: int) -> None:
        self.lines: list[str] = []
        self._room = room
        self._of_this_one = 0

    def take(self, line: str, *, begins: bool) -> int:
        """Add a line, or a piece of one, that begins or continues a header. Returns how many characters are kept."""
        if begins:
            self._of_this_one = min(LONGEST_FIELD_CHARS, self._room)
        kept = line[: self._of_this_one]
        is_whole = len(kept) == len(line)
        if kept:
            self.lines.append(kept if is_whole else f"{kept}\n")
        self._room -= len(kept)
        self._of_this_one = self._of_this_one - len(kept) if is_whole else 0
        return len(kept)


class _Lines:
    """Goes through the file once and tracks the open multiparts."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._again: str | None = None  # a line that was read too early
        self._headers_left = LARGEST_ALL_HEADERS_CHARS
        self.boundaries: list[str] = []  # outermost first
        self._part_types = ["text/plain"]  # default type of a part: outside multiparts, in the first, in the second ...
        self.position = 0  # of the next line
        self.end = 0  # end of the last content, without the line end, which belongs to the delimiter

    def open_multipart(self, message: EmailMessage) -> bool:
        """Enter a multipart; False when these headers belong to none."""
        boundary = message.get_boundary() if message.get_content_maintype() == "multipart" else None
        if boundary is None or len(self.boundaries) == DEEPEST:
            return False
        self.boundaries.append(boundary)
        is_digest = message.get_content_subtype() == "digest"  # RFC 2046, 5.1.5
        self._part_types.append("message/rfc822" if is_digest else "text/plain")
        return True

    def end_multiparts(self, delimiter: _Delimiter) -> None:
        """Close those inside the delimiter's own, and its own after the last delimiter."""
        left = delimiter.depth + (not delimiter.is_last)
        del self.boundaries[left:], self._part_types[left + 1 :]

    def read_headers(self, *, is_first: bool = False) -> EmailMessage:
        """Read up to an empty line, or to one that is no header."""
        fields = _Fields(min(LARGEST_HEADERS_CHARS, self._headers_left))
        begins_line = True
        while line := self._next():
            if is_first and not fields.lines and not (line := line.removeprefix("\xef\xbb\xbf")).strip("\r\n"):
                continue  # some programs put lines, or a mark, before the letter
            if begins_line and not _HEADER.match(line):
                if line.strip("\r\n"):
                    self._give_back(line)
                break
            self._headers_left -= fields.take(line, begins=begins_line and line[0] not in "\t ")
            begins_line = line[-1] in "\r\n"
        message = _headers("".join(fields.lines).encode("latin-1"))
        message.set_default_type(self._part_types[-1])
        return message

    def skip_to_delimiter(self) -> _Delimiter | None:
        """Skip to the next delimiter and set `end`; None at the end of the file."""
        line_end = 0
        begins_line = True
        while line := self._next():
            delimiter = self._delimiter(line) if begins_line and line.startswith("--") else None
            if delimiter is not None:
                self.end = self.position - len(line) - line_end
                return delimiter
            text = line.rstrip("\r\n") if line[-1] in "\r\n" else line
            begins_line = len(text) < len(line)
            line_end = min(len(line) - len(text), 2)
        self.end = self.position
        return None

    def _delimiter(self, line: str) -> _Delimiter | None:
        text = line[2:].rstrip("\r\n").rstrip(" \t")
        for stated, is_last in ((text, False), (text.removesuffix("--"), True)):
            if stated in self.boundaries:
                return _Delimiter(depth=self.boundaries.index(stated), is_last=is_last)
        return None

    def _next(self) -> str:
        line, self._again = self._again, None
        line = self._stream.readline(LONGEST_LINE_CHARS) if line is None else line
        self.position += len(line)
        return line

    def _give_back(self, line: str) -> None:
        self._again = line
        self.position -= len(line)


def _headers(raw: bytes) -> EmailMessage:
    return message_from_bytes(raw, policy=policy.default)
