"""Renders a model's Markdown as rich text, whatever it contains.

In: Markdown, complete or still growing. Out: `RichText`. Raw HTML is shown as text, images become links, headings bold
lines; `bot.replies.markdown` renders tables. Only addresses that Telegram does not link are lost.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from bot.replies.rich import BOLD, CODE, ITALIC, QUOTE, STRIKE, Kind, RichText, Run, Style, join, rich
from domain.visible import visible

NARROW_COLUMNS = 36  # monospace characters that a phone shows in one line
_GAP = "  "
LINKED = re.compile(r"(?:https?|tg)://\S+", re.IGNORECASE)
RULE = "———"
BULLETS = ("•", "◦", "▪")  # by depth of nesting
_INDENT = "   "
# CommonMark rules that are off: `lheading` turns a paragraph bold while a list below it is still being written, `code`
# takes a carelessly indented paragraph for code, `reference` swallows lines.
_LEFT_OUT = ["lheading", "code", "reference"]
_Node = SyntaxTreeNode


@dataclass(frozen=True, kw_only=True)
class Table:
    """Cells by row; the first row is the heading. `align` is left, center or right for each column."""

    rows: tuple[tuple[RichText, ...], ...]
    align: tuple[str, ...]


def render_table(table: Table) -> RichText:
    """The table as rich text; empty for an empty table."""
    if not table.rows or not table.rows[0]:
        return RichText()
    widths = _widths(table)
    if sum(widths) + len(_GAP) * (len(widths) - 1) <= NARROW_COLUMNS:
        return rich(_aligned(table, widths), Style(Kind.PRE))
    return _grouped(table)


def _widths(table: Table) -> list[int]:
    columns = range(len(table.rows[0]))
    return [max(_columns(_line(row[column])) for row in table.rows) for column in columns]


def _aligned(table: Table, widths: Sequence[int]) -> str:
    lines = [
        _GAP.join(
            _padded(_line(cell), width, align) for cell, width, align in zip(row, widths, table.align, strict=True)
        ).rstrip()
        for row in table.rows
    ]
    rule = _GAP.join("─" * width for width in widths)
    return "\n".join([lines[0], rule, *lines[1:]])


def _grouped(table: Table) -> RichText:
    heading, *rows = table.rows
    if not rows:
        return join((cell.wrapped(BOLD) for cell in heading), " · ")
    return join((_group(heading, row) for row in rows), "\n\n")


def _group(heading: Sequence[RichText], row: Sequence[RichText]) -> RichText:
    """«column: value» for each filled cell; the first one is the title."""
    first, *others = (_labelled(name, value) for name, value in zip(heading, row, strict=True))
    return join([first.wrapped(BOLD), *(rich("• ") + other for other in others if other)], "\n")


def _labelled(name: RichText, value: RichText) -> RichText:
    return name + rich(": ") + value if name and value else value


def _line(cell: RichText) -> str:
    return " ".join(cell.text.split())


def _padded(text: str, width: int, align: str) -> str:
    spare = " " * (width - _columns(text))
    if align == "right":
        return spare + text
    if align == "center":
        return spare[: len(spare) // 2] + text + spare[len(spare) // 2 :]
    return text + spare


def _columns(text: str) -> int:
    """Width in a monospace font: East Asian and emoji characters take two columns, combining marks none."""
    return sum(_character_columns(character) for character in text)


def _character_columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


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
    if node.type in ("bullet_list", "ordered_list"):
        return _list(node, depth)
    if node.type == "blockquote":
        return _blocks(node.children, "\n", depth=depth).wrapped(QUOTE)
    return _BLOCKS.get(node.type, _inlines)(node)


def _list(node: _Node, depth: int) -> RichText:
    first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    items = (_item(item, _marker(first, number, depth), depth) for number, item in enumerate(node.children))
    return join(items, "\n")


def _marker(first: int | None, number: int, depth: int) -> str:
    return f"{first + number}. " if first is not None else f"{BULLETS[min(depth, len(BULLETS) - 1)]} "


def _item(node: _Node, marker: str, depth: int) -> RichText:
    runs = _blocks(node.children, "\n", depth=depth + 1).runs
    followers = (*runs[1:], Run(""))
    return rich(marker) + RichText(tuple(map(_indented, runs, followers)))


def _indented(run: Run, follower: Run) -> Run:
    """Indents all lines after the first to align with the item's text; code blocks are not indented."""
    if run.is_literal:
        return run
    line_start = r"\n(?!\Z)" if Kind.PRE in follower.kinds else r"\n"
    return Run(re.sub(line_start, "\n" + _INDENT, run.text), run.styles)


def _fence(node: _Node) -> RichText:
    language = re.match(r"[\w+#.-]*", node.info.strip())
    style = Style(Kind.PRE, language.group() if language else "")
    return rich(node.content.rstrip("\n"), style)


def _table(node: _Node) -> RichText:
    rows = [row for part in node.children for row in part.children]
    align = tuple(_align(cell) for cell in rows[0].children) if rows else ()
    cells = tuple(tuple(_inlines(cell) for cell in row.children) for row in rows)
    return render_table(Table(rows=cells, align=align))


def _align(cell: _Node) -> str:
    return str(cell.attrs.get("style", "")).removeprefix("text-align:") or "left"


def _inlines(node: _Node) -> RichText:
    """The content of a node's children, in order; for a leaf its own content."""
    if not node.children:
        return rich(node.content) if node.type != "inline" else RichText()
    text = RichText()
    for child in node.children:
        text += _INLINES.get(child.type, _inlines)(child)
    return text


def _wrapping(style: Style) -> Callable[[_Node], RichText]:
    return lambda node: _inner(node).wrapped(style)


def _inner(node: _Node) -> RichText:
    return _inlines(node) if node.children else RichText()


def _link(node: _Node) -> RichText:
    return _linked(_inner(node), str(node.attrs.get("href", "")))


def _image(node: _Node) -> RichText:
    return _linked(_inner(node), str(node.attrs.get("src", "")))


def _linked(label: RichText, address: str) -> RichText:
    shown = label if label.text.strip() else rich(address)
    return shown.wrapped(Style(Kind.LINK, address)) if LINKED.fullmatch(address) else shown


_BLOCKS: Mapping[str, Callable[[_Node], RichText]] = {
    "paragraph": lambda node: _inner(node),
    "heading": lambda node: _inner(node).wrapped(BOLD),
    "fence": _fence,
    "hr": lambda _: rich(RULE),
    "table": _table,
}
_INLINES: Mapping[str, Callable[[_Node], RichText]] = {
    "code_inline": lambda node: rich(node.content, CODE),
    "softbreak": lambda _: rich("\n"),
    "hardbreak": lambda _: rich("\n"),
    "strong": _wrapping(BOLD),
    "em": _wrapping(ITALIC),
    "s": _wrapping(STRIKE),
    "link": _link,
    "image": _image,
}
