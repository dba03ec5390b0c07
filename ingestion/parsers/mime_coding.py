"""Decodes the transfer encoding of a letter's part (RFC 2045, 6), piece by piece.

In: a range of a file, and the name of the encoding. Out: pieces of the content, of some 100 KB at most. Damage is
skipped as mail programs do; an unknown encoding is treated as none.
"""

import binascii
import re
import string
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

PIECE_BYTES = 96 * 1024
_BASE64 = (string.ascii_letters + string.digits + "+/=").encode()
_NOT_BASE64 = bytes(set(range(256)) - set(_BASE64))
_RUNS = re.compile(rb"=+|[^=]+")
QUAD = 4  # base64 letters for three bytes
LONGEST_UU_LINE = 100

Pieces = Iterator[bytes]


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
