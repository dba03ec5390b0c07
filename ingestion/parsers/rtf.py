"""Reads RTF: paragraphs, headings, lists, tables and notes, in the charsets of their fonts.

In: an RTF file. Out: a `Document` with its stated title and author. striprtf is not used: it applies one charset to the
whole file, stops at characters beyond the BMP and knows no headings.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.language import language_of
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.rtf_flow import NO_HEADING, RtfFlow
from ingestion.parsers.rtf_text import RtfText
from ingestion.parsers.rtf_tokens import CHARACTERS, READ_STARRED, WORDLESS_GROUPS, Token, TokenKind, read_tokens
from ingestion.parsers.titles import choose_title
from ingestion.records import Document

DEEPEST_GROUP = 10_000
MOST_REPLACED = 16  # characters after a `\u`; a damaged file may claim any number
BODY, NOWHERE, FONTS, STYLES = "body", "", "fonttbl", "stylesheet"
HEADING_STYLE = re.compile(r"(?:heading|заголовок)\s*([1-9])\s*;", re.IGNORECASE)
PLACES = frozenset({"footnote", "listtext", "pntext", "title", "author", FONTS, STYLES})
"""Groups whose first word tells where their text goes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Group:
    """State that holds until the group's closing brace."""

    place: str = BODY
    font: int = -1
    replacement_length: int = 1  # number of characters after a `\u` that are skipped
    is_hidden: bool = False


def accepts(file: FileInfo) -> bool:
    """Content that begins as RTF."""
    return file.kind is FileKind.RTF


def parse(path: Path, info: FileInfo) -> Document:
    """Raises SourceError FILE_DAMAGED for a truncated file."""
    reader = _Reader()
    for token in read_tokens(path.read_bytes().lstrip()):
        reader.read(token)
    open_groups = reader.finish()
    if open_groups > 1:  # some programs omit the last brace, which loses nothing
        raise SourceError(FailureCode.FILE_DAMAGED, name=info.name, detail=f"{open_groups} groups are not closed")
    blocks = reader.flow.finish()
    return Document(
        title=choose_title(reader.stated["title"], blocks, name=info.name),
        blocks=blocks,
        language=language_of(blocks),
        author=reader.stated["author"].strip() or None,
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
