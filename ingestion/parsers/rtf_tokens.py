"""Splits RTF into tokens, and lists the meaning of its words: characters, charsets, groups without text.

In: the bytes of an RTF file. Out: `Token`s in order. It keeps no state of the document; `rtf` does.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum


class TokenKind(Enum):
    """Kinds of tokens."""

    OPEN = "{"
    CLOSE = "}"
    WORD = "word"  # \name, with or without a number
    STAR = "*"  # the following group may be ignored by readers that do not know it
    BYTES = "bytes"  # text in the charset of its font


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A token; which fields are set depends on its kind."""

    kind: TokenKind
    name: str = ""
    number: int | None = None
    data: bytes = b""


CHARSETS: Mapping[int, str] = {
    77: "mac-roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "big5", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
    254: "cp437",
}  # fmt: skip
"""`\\fcharset` number -> encoding; 0 and 1 are the document's own code page."""

CHARACTERS: Mapping[str, str] = {
    "par": "\n", "line": "\n", "sect": "\n", "page": "\n", "softline": "\n", "tab": "\t", "emdash": "—",
    "endash": "–", "emspace": " ", "enspace": " ", "qmspace": " ", "bullet": "•", "lquote": "‘", "rquote": "’",
    "ldblquote": "“", "rdblquote": "”", "~": "\u00a0", "_": "-", "nestcell": " ", "nestrow": " ",
}  # fmt: skip

_WORDLESS_GROUPS_TEXT = (
    "colortbl pict object objdata header headerl headerr headerf footer footerl footerr footerf fldinst ftnsep ftnsepc "
    "ftncn aftnsep aftnsepc aftncn xe tc tcn rxe datafield themedata colorschememapping latentstyles datastore "
    "template generator rsidtbl listtable listoverridetable revtbl filetbl background nonshppict sp bkmkstart bkmkend "
    "annotation atnid atnauthor atnref atndate atnicn mmath xmlnstbl formfield do passwordhash userprops pgptbl docvar "
    "wgrffmtfilter protusertbl mailmerge oldcprops oldpprops oldtprops oldsprops fchars lchars"
)
WORDLESS_GROUPS = frozenset(_WORDLESS_GROUPS_TEXT.split())
"""Groups that begin with one of these words are skipped."""

READ_STARRED = frozenset({"shpinst", "shptxt", "listtext"})
"""Groups marked as ignorable that contain text."""

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(\r\n|[^a-zA-Z'])|([{}])|[\r\n\0]+|([^\\{}\r\n\0]+)|\\"
)
_BREAKS = (b"\r", b"\n", b"\r\n")


def read_tokens(data: bytes) -> Iterator[Token]:
    """All tokens; binary data (`\\bin`) is skipped."""
    position = 0
    while (found := _TOKEN.match(data, position)) is not None:
        position = found.end()
        token = _token(found)
        if token is None:
            continue
        if token.name == "bin" and token.number:
            position += max(0, token.number)
        else:
            yield token


def _token(found: re.Match[bytes]) -> Token | None:
    word, number, escaped, symbol, brace, text = found.groups()
    if word is not None:
        return Token(kind=TokenKind.WORD, name=word.decode("ascii"), number=int(number) if number else None)
    if text is not None:
        return Token(kind=TokenKind.BYTES, data=text)
    if escaped is not None:
        return Token(kind=TokenKind.BYTES, name="'", data=bytes([int(escaped, 16)]))
    if brace is not None:
        return Token(kind=TokenKind.OPEN if brace == b"{" else TokenKind.CLOSE)
    return _symbol(symbol) if symbol is not None else None


def _symbol(symbol: bytes) -> Token | None:
    if symbol in _BREAKS:
        return Token(kind=TokenKind.WORD, name="par")
    if symbol in (b"\\", b"{", b"}"):
        return Token(kind=TokenKind.BYTES, data=symbol)
    if symbol == b"*":
        return Token(kind=TokenKind.STAR)
    return Token(kind=TokenKind.WORD, name="~" if symbol == b"~" else "_") if symbol in (b"~", b"_") else None
