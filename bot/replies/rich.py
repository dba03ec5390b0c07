"""Formatted text before it becomes HTML: runs of characters, each with its styles.

In: pieces of text. Out: `RichText`, a frozen value that can be joined, wrapped, cut and measured without breaking a
tag. It knows Telegram's nesting rules, but no Markdown.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The kinds of formatting that Baza uses, from https://core.telegram.org/bots/api#formatting-options."""

    BOLD = "bold"
    ITALIC = "italic"
    STRIKE = "strike"
    CODE = "code"
    PRE = "pre"
    LINK = "link"
    QUOTE = "quote"
    FOLDED_QUOTE = "folded quote"


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
        """The kinds of its styles."""
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
        """The characters alone."""
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
        return RichText(tuple(Run(run.text, tuple(map(_folded, run.styles))) for run in self.runs))

    def cut(self, start: int, end: int) -> "RichText":
        """Characters [start, end), with their formatting."""
        return RichText(tuple(_merged(_slice(self.runs, start, end))))

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
    for part in parts:
        if not part:
            continue
        if runs:
            runs.append(Run(separator))
        runs.extend(part.runs)
    return RichText(tuple(_merged(runs)))


def utf16_length(text: str) -> int:
    """Length as Telegram counts it, in UTF-16 code units."""
    return len(text) + sum(character > "\uffff" for character in text)


def _folded(style: Style) -> Style:
    return FOLDED_QUOTE if style == QUOTE else style


def _wrap(run: Run, style: Style) -> Run:
    if style.kind in run.kinds:
        return run
    if style.kind in _QUOTES:
        return run if run.kinds & _QUOTES else Run(run.text, (style, *run.styles))
    if style.kind is Kind.LINK and Kind.PRE not in run.kinds:
        return Run(run.text, (style, *(inner for inner in run.styles if inner.kind is not Kind.CODE)))
    return run if run.is_literal else Run(run.text, (style, *run.styles))


def _slice(runs: Iterable[Run], start: int, end: int) -> Iterator[Run]:
    position = 0
    for run in runs:
        first, last = max(start - position, 0), min(end - position, len(run.text))
        if first < last:
            yield Run(run.text[first:last], run.styles)
        position += len(run.text)


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
