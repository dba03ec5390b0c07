"""Formatted text: runs of characters with their styles, as Telegram HTML, split into messages that Telegram accepts.

In: pieces of text. Out: `RichText`, a frozen value that can be joined, wrapped, cut and measured without breaking a
tag; HTML in the grammar of https://core.telegram.org/bots/api#html-style, always balanced; pieces of at most 4096
UTF-16 units, cut where a reader would pause.
"""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from domain.visible import visible

MESSAGE_LIMIT = 4096  # UTF-16 units after entities are parsed, as sendMessage counts


class Kind(StrEnum):
    """The tags that Baza uses, of https://core.telegram.org/bots/api#html-style."""

    BOLD = "b"
    ITALIC = "i"
    STRIKE = "s"
    CODE = "code"
    PRE = "pre"
    LINK = "a"
    QUOTE = "blockquote"
    FOLDED_QUOTE = "blockquote expandable"


@dataclass(frozen=True)
class Style:
    """A kind of formatting; `value` is the address of a link or the language of a code block."""

    kind: Kind
    value: str = ""


BOLD = Style(Kind.BOLD)
ITALIC = Style(Kind.ITALIC)
STRIKE = Style(Kind.STRIKE)
CODE = Style(Kind.CODE)
QUOTE = Style(Kind.QUOTE)
FOLDED_QUOTE = Style(Kind.FOLDED_QUOTE)
_LITERAL = frozenset({Kind.CODE, Kind.PRE})  # cannot be combined with other formatting, except quotes
_QUOTES = frozenset({Kind.QUOTE, Kind.FOLDED_QUOTE})


@dataclass(frozen=True)
class Run:
    """Characters with the same styles, outermost first."""

    text: str
    styles: tuple[Style, ...] = ()

    @property
    def kinds(self) -> frozenset[Kind]:
        return frozenset(style.kind for style in self.styles)

    @property
    def is_literal(self) -> bool:
        """Whether the run is code, whose spaces and line breaks must stay as they are."""
        return bool(self.kinds & _LITERAL)


@dataclass(frozen=True)
class RichText:
    """A text with formatting; styles that neighbouring runs share are one stretch of formatting."""

    runs: tuple[Run, ...] = ()

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)

    def __add__(self, other: "RichText") -> "RichText":
        return RichText(tuple(_merged((*self.runs, *other.runs))))

    def __bool__(self) -> bool:
        return any(run.text for run in self.runs)

    def wrapped(self, style: Style) -> "RichText":
        """All of it inside `style`, as far as Telegram allows that."""
        return RichText(tuple(_merged(_wrap(run, style) for run in self.runs)))

    def folded(self) -> "RichText":
        """The same with its quotes folded: clients show three lines of them until they are opened."""
        folded = {QUOTE: FOLDED_QUOTE}
        return RichText(tuple(Run(run.text, tuple(folded.get(each, each) for each in run.styles)) for run in self.runs))

    def cut(self, start: int, end: int) -> "RichText":
        """Characters [start, end), with their formatting."""
        runs, position = [], 0
        for run in self.runs:
            runs.append(Run(run.text[max(start - position, 0) : max(end - position, 0)], run.styles))
            position += len(run.text)
        return RichText(tuple(_merged(runs)))

    def stripped(self) -> "RichText":
        """Without blank lines before it and white space after it, which Telegram would drop anyway."""
        text = self.text
        end = len(text.rstrip())
        return self.cut(min(len(text) - len(text.lstrip("\n")), end), end)


def rich(text: str, *styles: Style) -> RichText:
    """`text` inside `styles`, outermost first."""
    return RichText((Run(text, styles),)) if text else RichText()


def join(parts: Iterable[RichText], separator: str) -> RichText:
    """The parts that are not empty, with plain `separator` between them."""
    runs: list[Run] = []
    for part in filter(None, parts):
        runs += [Run(separator), *part.runs] if runs else part.runs
    return RichText(tuple(_merged(runs)))


def utf16_length(text: str) -> int:
    """Length as Telegram counts it, in UTF-16 code units."""
    return len(text) + sum(character > "\uffff" for character in text)


def _wrap(run: Run, style: Style) -> Run:
    if style.kind in run.kinds:
        return run
    if style.kind in _QUOTES:
        return run if run.kinds & _QUOTES else Run(run.text, (style, *run.styles))
    if style.kind is Kind.LINK and Kind.PRE not in run.kinds:
        return Run(run.text, (style, *(inner for inner in run.styles if inner.kind is not Kind.CODE)))
    return run if run.is_literal else Run(run.text, (style, *run.styles))


def _merged(runs: Iterable[Run]) -> list[Run]:
    merged: list[Run] = []
    for run in runs:
        if not run.text:
            continue
        if merged and merged[-1].styles == run.styles:
            merged[-1] = Run(merged[-1].text + run.text, run.styles)
        else:
            merged.append(run)
    return merged


def to_html(text: RichText) -> str:
    """Tags stay open over runs that share them, so nested formatting comes out nested."""
    parts: list[str] = []
    open_styles: tuple[Style, ...] = ()
    for run in (*text.runs, Run("")):
        pairs = zip(open_styles, run.styles, strict=False)
        shared = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
        parts.extend(_tags(style)[1] for style in reversed(open_styles[shared:]))
        parts.extend(_tags(style)[0] for style in run.styles[shared:])
        parts.append(html.escape(visible(run.text), quote=False))
        open_styles = run.styles
    return "".join(parts)


def _tags(style: Style) -> tuple[str, str]:
    value = html.escape(style.value)
    if style.kind is Kind.LINK:
        return f'<a href="{value}">', "</a>"
    if style.kind is Kind.PRE and value:
        return f'<pre><code class="language-{value}">', "</code></pre>"
    return f"<{style.kind}>", f"</{style.kind.split()[0]}>"


# Where a piece may end, and the share of the limit that it must fill, or the next kind of border is tried.
_BORDERS = (
    (re.compile(r"\n[ \t]*\n"), 0.5),
    (re.compile(r"\n"), 0.5),
    (re.compile(r"[.!?…]+[»”\")\]]*\s"), 0.3),
    (re.compile(r"\s"), 0.0),
)


def split_rich(text: RichText, limit: int = MESSAGE_LIMIT) -> list[RichText]:
    """Pieces in order; none is blank, none is longer than `limit` UTF-16 units (at least 2)."""
    characters = text.text
    pieces: list[RichText] = []
    start = 0
    while start < len(characters):
        end = _piece_end(characters, start, limit)
        piece = text.cut(start, end).stripped()
        if piece.text.strip():
            pieces.append(piece)
        start = end
    return pieces


def _piece_end(text: str, start: int, limit: int) -> int:
    """At a border; else inside a word."""
    fits = min(len(text), start + limit)
    while (excess := utf16_length(text[start:fits]) - limit) > 0:
        fits -= (excess + 1) // 2  # a character is two units at the most
    fits = max(fits, start + 1)
    if fits == len(text):
        return fits
    for border, at_least in _BORDERS:
        ends = [match.end() for match in border.finditer(text, start, fits)]
        if ends and ends[-1] - start >= limit * at_least:
            return ends[-1]
    return fits
