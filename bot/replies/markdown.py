"""Renders a model's Markdown as rich text, whatever it contains.

In: Markdown, complete or still growing. Out: `RichText`. Raw HTML is shown as text, images become links, headings bold
lines, tables aligned monospace or grouped lines. Only addresses that Telegram does not link are lost.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
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


def _table(node: _Node) -> RichText:
    """Aligned where a phone shows it in one line, else a group of lines for each row."""
    rows = [[_inlines(cell) for cell in row.children] for part in node.children for row in part.children]
    if not rows or not rows[0]:
        return RichText()
    said = [[" ".join(cell.text.split()) for cell in row] for row in rows]
    widths = [max(map(_columns, column)) for column in zip(*said, strict=True)]
    if sum(widths) + len(_GAP) * (len(widths) - 1) > NARROW_COLUMNS:
        heading, *others = rows
        titles = (cell.wrapped(BOLD) for cell in heading)
        return join((_group(heading, row) for row in others), "\n\n") if others else join(titles, " · ")
    styles = (str(cell.attrs.get("style", "")) for cell in node.children[0].children[0].children)
    align = [style.removeprefix("text-align:") for style in styles]
    lines = [_GAP.join(map(_padded, row, widths, align)).rstrip() for row in said]
    lines.insert(1, _GAP.join("─" * width for width in widths))
    return rich("\n".join(lines), Style(Kind.PRE))


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
    if node.type not in ("bullet_list", "ordered_list"):
        return _BLOCKS.get(node.type, _inlines)(node)
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
    line_start = r"\n(?!\Z)" if Kind.PRE in follower.kinds else r"\n"
    return Run(re.sub(line_start, "\n" + _INDENT, run.text), run.styles)


def _fence(node: _Node) -> RichText:
    (language,) = re.findall(r"\A[\w+#.-]*", node.info.strip())
    return rich(node.content.rstrip("\n"), Style(Kind.PRE, language))


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
    return shown.wrapped(Style(Kind.LINK, address)) if LINKED.fullmatch(address) else shown


_STYLES = {"heading": BOLD, "strong": BOLD, "em": ITALIC, "s": STRIKE}
_BLOCKS: Mapping[str, Callable[[_Node], RichText]] = {"fence": _fence, "hr": lambda _: rich(RULE), "table": _table}
_INLINES: Mapping[str, Callable[[_Node], RichText]] = {
    "code_inline": lambda node: rich(node.content, CODE),
    "softbreak": lambda _: rich("\n"),
    "hardbreak": lambda _: rich("\n"),
    "link": _link,
    "image": _link,
}
