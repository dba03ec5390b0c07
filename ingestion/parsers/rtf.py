"""Reads RTF: paragraphs, headings, lists, tables and notes, in the charsets of their fonts.

In: an RTF file. Out: a `Document` with its stated title and author. Bytes become tokens, tokens text (bytes by the
charset of the current font), text paragraphs, cells and notes on an outline. striprtf is not used: it applies one
charset to the whole file, stops at characters beyond the BMP and knows no headings.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import INDENT, Outline, render_table
from ingestion.records import BlockKind, Document

HIGH_SURROGATES = range(0xD800, 0xDC00)
LOW_SURROGATES = range(0xDC00, 0xE000)
UTF8_PAGE = 65001  # Microsoft's code page number for UTF-8
LAST_CODE = 0x10FFFF
SYMBOL_CODES = range(0xF000, 0xF100)  # symbol fonts: bullets and arrows without Unicode characters
DEEPEST_LIST = 8
NO_HEADING = 9  # `\outlinelevel` of body text
BULLETS = frozenset("•·▪◦‣●○■–—-*\uf0b7\uf0a7\uf0d8o")
DEEPEST_GROUP = 10_000
MOST_REPLACED = 16  # characters after a `\u`; a damaged file may claim any number
BODY, NOWHERE, FONTS, STYLES = "body", "", "fonttbl", "stylesheet"
HEADING_STYLE = re.compile(r"(?:heading|заголовок)\s*([1-9])\s*;", re.IGNORECASE)
PLACES = frozenset({"footnote", "listtext", "pntext", "title", "author", FONTS, STYLES})
"""Groups whose first word tells where their text goes."""


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


@dataclass(kw_only=True)
class RtfText:
    """Decodes text and passes it to `tell`."""

    tell: Callable[[str], None]
    page: str = "cp1252"  # the document's own charset
    charsets: dict[int, str] = field(default_factory=dict)  # by font
    font: int = -1
    skipped: int = 0  # characters still to skip: the replacement after a `\u` for older programs
    _pending: bytearray = field(default_factory=bytearray)
    _high: int = 0

    def set_page(self, number: int) -> None:
        """`\\ansicpg`; a code page that Python does not know is ignored."""
        name = "utf-8" if number == UTF8_PAGE else f"cp{number}"
        try:
            b"".decode(name)
        except LookupError:
            return
        self.page = name

    def set_charset(self, font: int, number: int) -> None:
        """Set the `\\fcharset` of a font."""
        if number in CHARSETS:
            self.charsets[font] = CHARSETS[number]

    def add_bytes(self, data: bytes) -> None:
        """Add text, without the replacement characters for older programs."""
        passed = min(self.skipped, len(data))
        self.skipped -= passed
        self._pending += data[passed:]

    def add_code(self, number: int, *, replacement_length: int) -> None:
        """`\\u`: a UTF-16 code unit, negative above 32767."""
        self.end()
        self.skipped = replacement_length
        code = number + 0x10000 if number < 0 else number
        if code in HIGH_SURROGATES:
            self._high = code
        elif code in LOW_SURROGATES:
            if self._high:
                self.tell(chr(0x10000 + ((self._high - 0xD800) << 10) + (code - 0xDC00)))
            self._high = 0
        elif 0 < code <= LAST_CODE:
            self.tell("•" if code in SYMBOL_CODES else chr(code))

    def end(self) -> None:
        """Pass on the pending text, because its font or group ends here."""
        if self._pending:
            self.tell(self._pending.decode(self.charsets.get(self.font, self.page), errors="replace"))
            self._pending.clear()


@dataclass(kw_only=True)
class RtfFlow:
    """The open paragraph, cell, row and table, and the finished blocks."""

    outline: Outline = field(default_factory=Outline)
    level: int = NO_HEADING  # of the open paragraph: an outline level, from 0
    depth: int = 0  # of its list
    in_table: bool = False
    _text: list[str] = field(default_factory=list)
    _bullet: list[str] = field(default_factory=list)
    _note: list[str] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)
    _row: list[str] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)

    def add_text(self, text: str) -> None:
        """Add text to the open paragraph or cell."""
        self._text.append(text)

    def add_bullet(self, text: str) -> None:
        """Add to the bullet or number that the program shows before an item."""
        self._bullet.append(text)

    def add_note(self, text: str) -> None:
        """Add text to the footnote that is referenced here."""
        self._note.append(text)

    def end_note(self) -> None:
        """Finish the footnote."""
        note = " ".join("".join(self._note).split())
        self._note.clear()
        if note:
            self._notes.append(note)

    def reset_paragraph(self) -> None:
        """`\\pard`: reset the paragraph's properties."""
        self.level, self.depth, self.in_table = NO_HEADING, 0, False

    def end_paragraph(self) -> None:
        """Finish a paragraph; in a cell it becomes a line."""
        if self.in_table:
            self._text.append("\n")
            return
        self._end_table()
        text = "".join(self._text).strip()
        bullet = "".join(self._bullet).strip()
        self._text.clear()
        self._bullet.clear()
        if text and self.level < NO_HEADING:
            self.outline.add_heading(f"{bullet} {text}".strip(), self.level + 1)
        elif text and bullet:
            mark = "-" if bullet in BULLETS else bullet
            line = text.replace("\n", "\n" + INDENT)
            self.outline.add_line(BlockKind.LIST, f"{INDENT * min(self.depth, DEEPEST_LIST)}{mark} {line}")
        else:
            self.outline.add(BlockKind.PARAGRAPH, text)
        self._add_notes()

    def end_cell(self) -> None:
        """The collected text becomes a cell."""
        self._row.append("".join((*self._bullet, *self._text)))
        self._text.clear()
        self._bullet.clear()

    def end_row(self) -> None:
        """The collected cells become a row."""
        self._rows.append(self._row)
        self._row = []

    def end(self) -> None:
        """Finish the last paragraph, after the last piece of text."""
        self.in_table = False
        self.end_paragraph()

    def _end_table(self) -> None:
        if self._row:
            self.end_row()
        if self._rows:
            self.outline.add(BlockKind.TABLE, render_table(self._rows))
            self._rows = []
            self._add_notes()

    def _add_notes(self) -> None:
        for note in self._notes:
            self.outline.add(BlockKind.PARAGRAPH, note)
        self._notes.clear()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Group:
    """State that holds until the group's closing brace."""

    place: str = BODY
    font: int = -1
    replacement_length: int = 1  # number of characters after a `\u` that are skipped
    is_hidden: bool = False


def parse(path: Path, info: FileInfo) -> Document:
    """Raises SourceError FILE_DAMAGED for a truncated file."""
    reader = _Reader()
    for token in read_tokens(path.read_bytes().lstrip()):
        reader.read(token)
    open_groups = reader.finish()
    if open_groups > 1:  # some programs omit the last brace, which loses nothing
        raise SourceError(FailureCode.FILE_DAMAGED, name=info.name, detail=f"{open_groups} groups are not closed")
    reader.flow.end()
    return reader.flow.outline.document(
        info.name, reader.stated["title"], author=reader.stated["author"].strip() or None
    )


class _Reader:
    """Interprets the tokens."""

    def __init__(self) -> None:
        self.flow = RtfFlow()
        self.stated = {"title": "", "author": ""}
        self._text = RtfText(tell=self._tell)
        self._groups = [_Group(place=NOWHERE)]
        self._is_starred = False
        self._entry = -1  # the font or style that is being defined in the header
        self._style_name = ""
        self._style_levels: dict[int, int] = {}
        self._words: Mapping[str, Callable[[int], None]] = {
            "rtf": lambda _: self._change(place=BODY),
            "ansicpg": self._text.set_page,
            "mac": lambda _: self._text.set_page(10000),
            "pca": lambda _: self._text.set_page(850),
            "f": self._set_font,
            "fcharset": lambda number: self._text.set_charset(self._entry, number),
            "plain": lambda _: self._change(is_hidden=False),
            "v": lambda number: self._change(is_hidden=number != 0),
            "uc": lambda number: self._change(replacement_length=min(max(number, 0), MOST_REPLACED)),
            "u": lambda number: self._text.add_code(number, replacement_length=self._groups[-1].replacement_length),
            "s": self._set_style,
            "outlinelevel": self._set_level,
        }
        self._body_words: Mapping[str, Callable[[int], None]] = {
            "pard": lambda _: self.flow.reset_paragraph(),
            "intbl": lambda _: self._set_in_table(),
            "ilvl": self._set_depth,
            "cell": lambda _: self.flow.end_cell(),
            "row": lambda _: self.flow.end_row(),
        }

    def read(self, token: Token) -> None:
        """Process the next token."""
        if token.kind is TokenKind.BYTES:
            self._text.font = self._groups[-1].font
            self._text.add_bytes(token.data)
            return
        self._text.end()
        if token.kind is TokenKind.STAR:
            self._is_starred = True
            return
        if token.kind is TokenKind.OPEN:
            self._open()
        elif token.kind is TokenKind.CLOSE:
            self._close()
        else:
            self._read_word(token.name, token.number)
        self._is_starred = False

    def finish(self) -> int:
        """Returns how many groups are still open."""
        self._text.end()
        return len(self._groups) - 1

    def _open(self) -> None:
        if len(self._groups) > DEEPEST_GROUP:
            raise ValueError("groups without end")
        self._text.skipped = 0
        self._groups.append(self._groups[-1])

    def _close(self) -> None:
        self._text.skipped = 0
        if len(self._groups) > 1:
            closed = self._groups.pop()
            if closed.place == "footnote" != self._groups[-1].place:
                self.flow.end_note()
            elif closed.place == STYLES:
                self._end_style()

    def _end_style(self) -> None:
        """A heading style is recognised by its outline level, or by its name."""
        named = HEADING_STYLE.search(self._style_name)
        if named is not None:
            self._style_levels.setdefault(self._entry, int(named.group(1)) - 1)
        self._style_name = ""

    def _read_word(self, name: str, number: int | None) -> None:
        place = self._groups[-1].place
        if place == NOWHERE and name != "rtf":
            return
        if name in WORDLESS_GROUPS or (self._is_starred and name not in READ_STARRED):
            self._change(place=NOWHERE)
        elif name in PLACES:
            self._change(place=name)
        elif name in self._words:
            self._words[name](-1 if number is None else number)
        elif name in self._body_words and place == BODY:  # the group of a bullet also resets paragraphs
            self._body_words[name](-1 if number is None else number)
        elif name in CHARACTERS:
            self._read_character(name, place)

    def _read_character(self, name: str, place: str) -> None:
        if self._text.skipped:
            self._text.skipped -= 1
        elif name in ("par", "sect", "page") and place == BODY:
            self.flow.end_paragraph()
        else:
            self._tell(CHARACTERS[name])

    def _tell(self, text: str) -> None:
        """Send text to the destination of the current group."""
        group = self._groups[-1]
        if group.is_hidden:
            return
        if group.place == BODY:
            self.flow.add_text(text)
        elif group.place == "footnote":
            self.flow.add_note(text)
        elif group.place in ("listtext", "pntext"):
            self.flow.add_bullet(text)
        elif group.place == STYLES:
            self._style_name += text
        elif group.place in self.stated:
            self.stated[group.place] += text

    def _change(self, *, place: str | None = None, **changes: int | bool) -> None:
        group = self._groups[-1]
        self._groups[-1] = replace(group, place=group.place if place is None else place, **changes)  # type: ignore[arg-type] # the fields differ in type

    def _set_font(self, number: int) -> None:
        if self._groups[-1].place == FONTS:
            self._entry = number
        else:
            self._change(font=number)

    def _set_style(self, number: int) -> None:
        if self._groups[-1].place == STYLES:
            self._entry = number
        elif self._groups[-1].place == BODY:
            self.flow.level = self._style_levels.get(number, NO_HEADING)

    def _set_level(self, number: int) -> None:
        level = number if 0 <= number < NO_HEADING else NO_HEADING
        if self._groups[-1].place == STYLES:
            self._style_levels[self._entry] = level
        elif self._groups[-1].place == BODY:
            self.flow.level = level

    def _set_in_table(self) -> None:
        self.flow.in_table = True

    def _set_depth(self, number: int) -> None:
        self.flow.depth = max(number, 0)
