"""Reads RTF: paragraphs, headings, lists, tables and notes, in the charsets of their fonts.

In: an RTF file. Out: a `Document` with its stated title and author. Bytes become text by the charset of the current
font, text becomes paragraphs, cells and notes on an outline. striprtf is not used: it applies one
charset to the whole file, stops at characters beyond the BMP and knows no headings.
"""

import codecs
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.outline import Outline
from ingestion.records import BlockKind, Document

MAC_ROMAN = 10000
PAGES = {MAC_ROMAN: "mac-roman", 65001: "utf-8"}  # Microsoft's numbers of code pages that Python calls otherwise
SYMBOL_CODES = range(0xF000, 0xF100)  # symbol fonts: bullets and arrows without Unicode characters
NO_HEADING = 9  # `\outlinelevel` of body text
BULLETS = frozenset("•·▪◦‣●○■–—-*\uf0b7\uf0a7\uf0d8o")
MOST_GROUPS = 10_000  # in each other
MOST_REPLACED = 16  # characters after a `\u`; a damaged file may claim any number
BODY, NOWHERE, FONTS, STYLES = "body", "", "fonttbl", "stylesheet"
HEADING_STYLE = re.compile(r"(?:heading|заголовок)\s*([1-9])\s*;", re.IGNORECASE)
NOTE, MARK = "footnote", "listtext"
PLACES = {name: name for name in (NOTE, MARK, "info", "title", "author", FONTS, STYLES)} | {"pntext": MARK}
"""Groups whose first word tells where their text goes."""

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
_TOKEN = re.compile(
    rb"[\r\n\0]*+"
    rb"(?:\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(\r\n|[^a-zA-Z'])|([{}])|([^\\{}\r\n\0]+)|\\)"
)
_LITERAL = (b"\\", b"{", b"}")  # behind a backslash
_SPELLED = {b"\r": "par", b"\n": "par", b"\r\n": "par", b"~": "~", b"_": "_", b"*": "*"}  # other symbols


@dataclass(kw_only=True)
class _Group:
    """State that holds until the group's closing brace."""

    place: str = BODY  # where its text goes
    font: int = -1
    replacement_length: int = 1  # number of characters after a `\\u` that are skipped
    is_hidden: bool = False


@dataclass(kw_only=True)
class _Paragraph:
    """What holds until `\\pard`."""

    level: int = NO_HEADING  # of the outline, from 0
    depth: int = 0  # in a list
    in_table: bool = False


def parse(path: Path, name: str) -> Document:
    """Raises SourceError FILE_DAMAGED for a truncated file."""
    reader = _Reader()
    if (
        open_groups := reader.read(path.read_bytes().lstrip())
    ) > 1:  # some programs omit the last brace, which loses nothing
        raise SourceError(FailureCode.FILE_DAMAGED, detail=f"{open_groups} groups are not closed")
    return reader.outline.document(name, reader.taken("title"), author=reader.taken("author").strip() or None)


class _Reader:
    def __init__(self) -> None:
        self.outline = Outline()
        self._groups = [_Group(place=NOWHERE)]
        self._is_starred = False  # the last sign was the star before a group that may be ignored
        self._told: defaultdict[str, list[str]] = defaultdict(list)  # by place: text that is not finished
        self._notes: list[str] = []  # of the open paragraph or cell
        self._row: list[str] = []
        self._paragraph = _Paragraph()
        self._page = "cp1252"  # the document's own charset
        self._charsets: dict[int, str] = {}  # by font
        self._pending = bytearray()  # bytes in the charset of the current font
        self._skipped = 0  # characters still to skip: the replacement after a `\u` for older programs
        self._entry = -1  # the font or style that is being defined in the header
        self._style_levels: dict[int, int] = {}
        self._words: Mapping[str, Callable[[int], None]] = {
            "rtf": lambda _: self._set(place=BODY),
            "ansicpg": self._set_page,
            "mac": lambda _: self._set_page(MAC_ROMAN),
            "pca": lambda _: self._set_page(850),
            "f": lambda number: self._set(font=number),
            "plain": lambda _: self._set(is_hidden=False),
            "v": lambda number: self._set(is_hidden=number != 0),
            "uc": lambda number: self._set(replacement_length=min(max(number, 0), MOST_REPLACED)),
            "u": self._add_code,
        }
        self._words_in: Mapping[str, Mapping[str, Callable[[int], None]]] = {  # a bullet's group resets no paragraph
            FONTS: {
                "f": self._begin_entry,
                "fcharset": lambda number: self._charsets.update({self._entry: CHARSETS.get(number, "")}),
            },
            STYLES: {
                "s": self._begin_entry,
                "outlinelevel": lambda number: self._style_levels.update({self._entry: number}),
            },
            BODY: {
                "pard": lambda _: self._style(**vars(_Paragraph())),
                "intbl": lambda _: self._style(in_table=True),
                "ilvl": lambda number: self._style(depth=max(number, 0)),
                "s": lambda number: self._style(level=self._style_levels.get(number, NO_HEADING)),
                "outlinelevel": lambda number: self._style(level=number),
                "cell": lambda _: self._row.append(
                    "\n".join((self.taken(MARK) + self.taken(BODY), *self._taken_notes()))
                ),
                "row": self._end_row,
            },
        }
        told = (*WORDLESS_GROUPS, *PLACES, *CHARACTERS, *self._words, *chain(*self._words_in.values()))
        self._known = frozenset(name.encode() for name in told)

    def read(self, data: bytes) -> int:
        """Read everything. Returns how many groups are still open."""
        position = 0
        while (found := _TOKEN.match(data, position)) is not None:
            position = found.end()
            word, number, escaped, symbol, brace, text = found.groups()
            if word == b"bin":
                position += max(0, int(number or 0))
            elif text or escaped or symbol in _LITERAL:
                told = text or symbol or bytes([int(escaped, 16)])
                skipped = min(self._skipped, len(told))
                self._skipped -= skipped
                self._pending += told[skipped:]
            elif word in self._known or (word and self._is_starred) or brace or symbol in _SPELLED:
                self._read_sign(brace or symbol or b"", word, number)
        self._decode()
        if len(self._groups) <= 2:
            self._style(in_table=False)
            self._end_paragraph()
        return len(self._groups) - 1

    def _read_sign(self, sign: bytes, word: bytes | None, number: bytes | None) -> None:
        self._decode()
        if sign == b"{":
            self._skipped = 0
            self._groups.append(replace(self._groups[-1]))
            if len(self._groups) > MOST_GROUPS:
                raise ValueError("groups without end")
        elif sign == b"}":
            self._close()
        elif sign != b"*":
            self._read_word(word.decode("ascii") if word else _SPELLED[sign], int(number) if number else -1)
        self._is_starred = sign == b"*"

    def taken(self, place: str) -> str:
        """The text that was told for a place since it was asked for last."""
        halves = "".join(self._told.pop(place, ())).encode("utf-16-le", "surrogatepass")  # of those beyond the BMP
        return halves.decode("utf-16-le", "ignore")

    def _close(self) -> None:
        self._skipped = 0
        if len(self._groups) > 1:
            closed = self._groups.pop()
            if closed.place == NOTE != self._groups[-1].place:
                self._notes += filter(None, [" ".join(self.taken(NOTE).split())])
            elif closed.place == STYLES and (named := HEADING_STYLE.search(self.taken(STYLES))):
                self._style_levels.setdefault(self._entry, int(named.group(1)) - 1)  # else its outline level may tell

    def _read_word(self, name: str, number: int) -> None:
        place = self._groups[-1].place
        if place == NOWHERE and name != "rtf":
            return
        if name in WORDLESS_GROUPS or (self._is_starred and name not in ("shpinst", "shptxt", "listtext")):
            self._set(place=NOWHERE)
        elif name in PLACES:
            self._set(place=PLACES[name])
        elif step := self._words_in.get(place, {}).get(name) or self._words.get(name):
            step(number)
        elif name in CHARACTERS and self._skipped:
            self._skipped -= 1
        elif name in CHARACTERS:
            is_end = name in ("par", "sect", "page") and place == BODY
            self._end_paragraph() if is_end else self._tell(CHARACTERS[name])

    def _tell(self, text: str) -> None:
        group = self._groups[-1]
        if not group.is_hidden and group.place != NOWHERE:
            self._told[group.place].append(text)

    def _decode(self) -> None:
        """Tell the pending text, because its font or group may end here."""
        if self._pending:
            self._tell(self._pending.decode(self._charsets.get(self._groups[-1].font) or self._page, errors="replace"))
            self._pending.clear()

    def _add_code(self, number: int) -> None:
        """`\\u`: a UTF-16 code unit, negative above 32767."""
        self._skipped = self._groups[-1].replacement_length
        code = number + 0x10000 if number < 0 else number
        if 0 < code <= 0x10FFFF:
            self._tell("•" if code in SYMBOL_CODES else chr(code))

    def _set(self, **changes: Any) -> None:
        vars(self._groups[-1]).update(changes)

    def _set_page(self, number: int) -> None:
        """`\\ansicpg`; a code page that Python does not know is ignored."""
        with suppress(LookupError):
            self._page = codecs.lookup(PAGES.get(number, f"cp{number}")).name

    def _begin_entry(self, number: int) -> None:
        self._entry = number

    def _style(self, **changes: Any) -> None:
        vars(self._paragraph).update(changes)

    def _end_paragraph(self) -> None:
        """Finish a paragraph; in a cell it becomes a line."""
        if self._paragraph.in_table:
            self._told[BODY].append("\n")
            return
        self._end_row(0)
        text, mark = self.taken(BODY).strip(), self.taken(MARK).strip()
        if text and 0 <= self._paragraph.level < NO_HEADING:
            self.outline.add_heading(f"{mark} {text}".strip(), self._paragraph.level + 1)
        elif text and mark:
            self.outline.add_item(text, depth=self._paragraph.depth, mark="-" if mark in BULLETS else mark)
        else:
            self.outline.add(BlockKind.PARAGRAPH, text)
        for note in self._taken_notes():
            self.outline.add(BlockKind.PARAGRAPH, note)

    def _end_row(self, _: int) -> None:
        if self._row:
            self.outline.add_row(self._row)
            self._row = []

    def _taken_notes(self) -> list[str]:
        notes, self._notes = self._notes, []
        return notes
