"""Formatted text: runs of characters with their styles, as Telegram HTML, split into messages that Telegram accepts.

In: pieces of text; a model's Markdown, whatever it contains, complete or still growing. Out: `RichText`, a frozen value
that can be joined, wrapped, cut and measured without breaking a tag; HTML in the grammar of
https://core.telegram.org/bots/api#html-style, always balanced; pieces of at most 4096 UTF-16 units, cut where a reader
would pause. Of Markdown raw HTML is shown as text, images become links, headings bold lines, tables aligned monospace
or grouped lines; only addresses that Telegram does not link are lost.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from domain.visible import visible

MESSAGE_LIMIT = 4096  # UTF-16 units after entities are parsed, as sendMessage counts


@dataclass(frozen=True)
class Style:
    """A tag of core.telegram.org/bots/api#html-style; `value` is a link's address or a code block's language."""

    tag: str
    value: str = ""


LINK, PRE = "a", "pre"  # the tags that carry a value
BOLD, ITALIC, STRIKE, CODE = map(Style, ("b", "i", "s", "code"))
QUOTE, FOLDED_QUOTE = Style("blockquote"), Style("blockquote expandable")
LITERAL = frozenset({CODE.tag, PRE})  # cannot be combined with other formatting, except quotes
QUOTES = frozenset({QUOTE.tag, FOLDED_QUOTE.tag})


@dataclass(frozen=True)
class Run:
    """Characters with the same styles, outermost first."""

    text: str
    styles: tuple[Style, ...] = ()

    @property
    def tags(self) -> frozenset[str]:
        return frozenset(style.tag for style in self.styles)

    @property
    def is_literal(self) -> bool:
        """Whether the run is code, whose spaces and line breaks must stay as they are."""
        return bool(self.tags & LITERAL)


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
    if style.tag in run.tags:
        return run
    if style.tag in QUOTES:
        return run if run.tags & QUOTES else Run(run.text, (style, *run.styles))
    if style.tag == LINK and PRE not in run.tags:
        return Run(run.text, (style, *(inner for inner in run.styles if inner.tag != CODE.tag)))
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
    if style.tag == LINK:
        return f'<a href="{value}">', "</a>"
    if style.tag == PRE and value:
        return f'<pre><code class="language-{value}">', "</code></pre>"
    return f"<{style.tag}>", f"</{style.tag.split()[0]}>"


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


NARROW_COLUMNS = 36  # monospace characters that a phone shows in one line
LINKED = re.compile(r"(?:https?|tg)://\S+", re.IGNORECASE)
RULE = "———"
BULLETS = ("•", "◦", "▪")  # by depth of nesting
# CommonMark rules that are off: `lheading` turns a paragraph bold while a list below it is still being written, `code`
# takes a carelessly indented paragraph for code, `reference` swallows lines.
_LEFT_OUT = ["lheading", "code", "reference"]
_Node = SyntaxTreeNode


def _table(node: _Node) -> RichText:
    """Aligned where a phone shows it in one line, else a group of lines for each row."""
    rows = [[_inlines(cell) for cell in row.children] for part in node.children for row in part.children]
    if not rows or not rows[0]:
        return RichText()
    said = [[" ".join(cell.text.split()) for cell in row] for row in rows]
    gap, widths = "  ", [max(map(_columns, column)) for column in zip(*said, strict=True)]
    if sum(widths) + len(gap) * (len(widths) - 1) > NARROW_COLUMNS:
        heading, *others = rows
        titles = (cell.wrapped(BOLD) for cell in heading)
        return join((_group(heading, row) for row in others), "\n\n") if others else join(titles, " · ")
    styles = (str(cell.attrs.get("style", "")) for cell in node.children[0].children[0].children)
    align = [style.removeprefix("text-align:") for style in styles]
    lines = [gap.join(map(_padded, row, widths, align)).rstrip() for row in said]
    lines.insert(1, gap.join("─" * width for width in widths))
    return rich("\n".join(lines), Style(PRE))


def _group(heading: Sequence[RichText], row: Sequence[RichText]) -> RichText:
    """«column: value» for each filled cell; the first one is the title."""
    cells = zip(heading, row, strict=True)
    first, *others = (name + rich(": ") + value if name and value else value for name, value in cells)
    return join([first.wrapped(BOLD), *(rich("• ") + other for other in others if other)], "\n")


def _padded(text: str, width: int, align: str) -> str:
    spare = width - _columns(text)
    before = {"right": spare, "center": spare // 2}.get(align, 0)
    return " " * before + text + " " * (spare - before)


def _columns(text: str) -> int:
    """Width in a monospace font: East Asian and emoji characters take two columns, combining marks none."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def render_markdown(text: str) -> RichText:
    """Never raises, and never yields text that Telegram would reject."""
    clean = visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    return _blocks(SyntaxTreeNode(_parser().parse(clean)).children, "\n\n")


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(_LEFT_OUT)


def _blocks(nodes: Iterable[_Node], separator: str, *, depth: int = 0) -> RichText:
    """Blocks joined by `separator`. A quote gets no blank line above it: Telegram draws quotes with margins."""
    text = RichText()
    for node in nodes:
        text = join([text, _block(node, depth)], "\n" if node.type == "blockquote" else separator)
    return text


def _block(node: _Node, depth: int) -> RichText:
    if node.type == "blockquote":
        return _blocks(node.children, "\n", depth=depth).wrapped(QUOTE)
    if node.type == "hr":
        return rich(RULE)
    if node.type == "table":
        return _table(node)
    if node.type == "fence":
        (language,) = re.findall(r"\A[\w+#.-]*", node.info.strip())
        return rich(node.content.rstrip("\n"), Style(PRE, language))
    if node.type not in ("bullet_list", "ordered_list"):
        return _inlines(node)
    items = []
    for number, item in enumerate(node.children, start=int(node.attrs.get("start", 1))):
        marker = f"{number}. " if node.type == "ordered_list" else f"{BULLETS[min(depth, len(BULLETS) - 1)]} "
        runs = _blocks(item.children, "\n", depth=depth + 1).runs
        items.append(rich(marker) + RichText(tuple(map(_indented, runs, (*runs[1:], Run(""))))))
    return join(items, "\n")


def _indented(run: Run, follower: Run) -> Run:
    """Indents all lines after the first to align with the item's text; code blocks are not indented."""
    if run.is_literal:
        return run
    line_start = r"\n(?!\Z)" if PRE in follower.tags else r"\n"
    return Run(re.sub(line_start, "\n   ", run.text), run.styles)


def _inlines(node: _Node) -> RichText:
    """The content of a node's children, in order; of a leaf that is text its own."""
    if node.type == "text":
        return rich(node.content)
    text = RichText()
    for child in node.children:
        text += _INLINES.get(child.type, _inlines)(child)
    return text.wrapped(_STYLES[node.type]) if node.type in _STYLES else text


def _link(node: _Node) -> RichText:
    label, address = _inlines(node), str(node.attrs.get("href" if node.type == "link" else "src", ""))
    shown = label if label.text.strip() else rich(address)
    return shown.wrapped(Style(LINK, address)) if LINKED.fullmatch(address) else shown


_STYLES = {"heading": BOLD, "strong": BOLD, "em": ITALIC, "s": STRIKE}
_INLINES: Mapping[str, Callable[[_Node], RichText]] = {
    "code_inline": lambda node: rich(node.content, CODE),
    "softbreak": lambda _: rich("\n"),
    "hardbreak": lambda _: rich("\n"),
    "link": _link,
    "image": _link,
}
