"""Reads Markdown: headings with their paths, code kept whole, tables, lists; inline markup as plain text.

In: a Markdown file. Out: a `Document`. markdown-it gives the block structure, in portions of whole blocks, since it
takes about fifty times a text's size in memory: a block is settled once another has begun after it, so the last block
of a portion is parsed again with the next one. Of the front matter `key: value` lines are read, other YAML is ignored.
"""

import html
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.utils import EnvType

from ingestion.parsers.encodings import text_lines
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import Outline, render_table
from ingestion.records import BlockKind, Document

TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^>]*>|<![^>]*>", re.DOTALL)
UNREAD_ELEMENT = re.compile(r"<(script|style)\b.*?(</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
LINE_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
WORTHWHILE_ADDRESS = ("http://", "https://", "mailto:", "tel:")

RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\{(?:linkto|link)\([^()\n]*\)\[[^\]\n]*?text=([^\]\n]+)\]\}", r"\1"),  # {linkto(#id)[text=words]}
        (r"(?m)^\{cut\(([^\n{}]*?)\)(?:\[[^\]\n]*\])?\}$", r"###### \1"),
        (r"\{(?:heading|cut|tab)\(([^\n{}]*?)\)(?:\[[^\]\n]*\])?\}", r"\1"),  # {heading(Words)[id=x]}
        (r"\{(?:include|ifdef|ifndef|note|caption|counter)\([^\n{}]*?\)(?:\[[^\]\n]*\])?\}", ""),
        (r"\{/(?:cut|ifdef|ifndef|note|tab|tabs|caption)\}|\{(?:tabs|note)\}", ""),
        (r"\{\{#(?:rustdoc_include|include|playground)[^}\n]*\}\}", ""),  # mdBook: the text is in another file
    )
)
"""Patterns to delete or unwrap, in order. `{var(name)}` stays: its name is informative, its value is elsewhere."""
FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
FIELD = re.compile(r"^(\w+):[ \t]*(.*?)[ \t]*$", re.MULTILINE)
PORTION_CHARS = 100_000
LONGEST_PARAGRAPH_CHARS = 1_000_000  # a longer one ends after a line: nobody wrote it as one paragraph
_DEFINITION = re.compile(r"^[\s>*+\-\d.)]*\[[^\]]+\]:", re.MULTILINE)  # of a link: `[name]: https://…`
_ITEMS = {"bullet_list_open": "list_item_open", "ordered_list_open": "list_item_open", "table_open": "tr_open"}
_CUT_ANYWHERE = frozenset({"paragraph_open", "blockquote_open"})
_HEADER_LINES = 2  # of a table: the column names, and the rule under them
Lines = Callable[[], Iterable[str]]
"""Returns the text from its beginning at each call; lines have their ends."""
INDENT = "  "
FRONT_MATTER_CHARS = 64 * 1024  # longer front matter is not recognised


def render_inline(tokens: Sequence[Token]) -> str:
    """A link becomes its text, followed by an external address in brackets; an image becomes its description."""
    parts: list[str] = []
    links: list[tuple[str, int]] = []  # address, and the index of the first part of its text
    for token in tokens:
        if token.type == "link_open":
            links.append((str(token.attrs.get("href", "")), len(parts)))
        elif token.type == "link_close":
            address, first = links.pop()
            parts.append(_show_address(address, "".join(parts[first:])))
        else:
            parts.append(_render(token))
    return "".join(parts)


def strip_tags(text: str) -> str:
    """The text of a piece of HTML, without scripts, styles and comments."""
    text = UNREAD_ELEMENT.sub(" ", text)
    text = LINE_BREAK_TAG.sub("\n", text)
    lines = (line.strip() for line in html.unescape(TAG.sub("", text)).split("\n"))
    return "\n".join(line for line in lines if line)


def _show_address(address: str, text: str) -> str:
    shown = address.removeprefix("mailto:").removeprefix("tel:")
    if not address.startswith(WORTHWHILE_ADDRESS) or shown in text:
        return ""
    return f" ({shown})"


def _render(token: Token) -> str:
    render = RENDERERS.get(token.type)
    return render(token) if render is not None else ""


def _render_html(token: Token) -> str:
    return "\n" if LINE_BREAK_TAG.fullmatch(token.content) else ""


RENDERERS: Mapping[str, Callable[[Token], str]] = {
    "text": lambda token: token.content,
    "text_special": lambda token: token.content,
    "code_inline": lambda token: f"`{token.content}`",
    "softbreak": lambda _: " ",
    "hardbreak": lambda _: "\n",
    "image": lambda token: render_inline(token.children or []),
    "html_inline": _render_html,
}
"""Other tokens (such as those of emphasis) have no text of their own."""


def unwrap_template_marks(text: str) -> str:
    """Returns a text without such marks unchanged."""
    if "{" not in text:
        return text
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return text


@dataclass(frozen=True, kw_only=True)
class FrontMatter:
    """The metadata of a Markdown file; None where nothing is stated."""

    title: str | None = None
    author: str | None = None
    published_at: datetime | None = None


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """A rule `---` at the top without any field after it is no front matter."""
    found = FRONT_MATTER.match(text)
    if found is None:
        return FrontMatter(), text
    fields = {key.lower(): _unquote(value) for key, value in FIELD.findall(found.group(1))}
    if not fields:
        return FrontMatter(), text
    return _read_metadata(fields), text[found.end() :]


def _read_metadata(fields: Mapping[str, str]) -> FrontMatter:
    return FrontMatter(
        title=fields.get("title") or None,
        author=fields.get("author") or None,
        published_at=_parse_date(fields.get("date", "")),
    )


def _unquote(value: str) -> str:
    if len(value) < 2 or value[0] != value[-1] or value[0] not in "\"'":
        return value
    if value[0] == "'":
        return value[1:-1].replace("''", "'")
    try:
        return str(json.loads(value))  # a double-quoted YAML scalar is nearly a JSON string
    except ValueError:
        return value[1:-1]


def _parse_date(value: str) -> datetime | None:
    try:
        date = datetime.fromisoformat(value)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Portion:
    """Consecutive blocks; `goes_on`: the first continues the list that ended the last portion."""

    tokens: Sequence[Token]
    goes_on: bool = False


def read_portions(lines: Lines, parser: MarkdownIt, env: EnvType) -> Iterator[Portion]:
    """`env` has all link definitions from the start, wherever they stand; `inline` needs it to read a paragraph."""
    parser.disable("inline")
    if any(map(_DEFINITION.match, lines())):
        for _ in _portions(lines(), parser, env):
            pass
    return _portions(lines(), parser, env)


def _portions(lines: Iterable[str], parser: MarkdownIt, env: EnvType) -> Iterator[Portion]:
    held: list[str] = []
    chars, enough = 0, PORTION_CHARS
    goes_on = False
    for line in lines:
        if held and not held[-1].endswith("\n"):  # the next piece of a very long line
            held[-1] += line
        else:
            held.append(line)
        chars += len(line)
        if chars < enough:
            continue
        tokens = _parse(held, parser, env)
        settled = _settle(tokens, held)
        if settled is not None:
            yield Portion(tokens=settled.tokens, goes_on=goes_on)
            held, goes_on = settled.rest, settled.goes_on
        chars = sum(map(len, held))
        enough = max(PORTION_CHARS, 2 * chars)  # so no more text is parsed again than is new
    yield Portion(tokens=_parse(held, parser, env), goes_on=goes_on)


def _parse(lines: Sequence[str], parser: MarkdownIt, env: EnvType) -> Sequence[Token]:
    tokens = parser.parse("".join(lines), env)
    env.pop("duplicate_refs", None)  # of definitions parsed again; unused
    return tokens


@dataclass(frozen=True, kw_only=True)
class _Settled:
    tokens: Sequence[Token]
    rest: list[str]  # lines for the next portion
    goes_on: bool = False


def _settle(tokens: Sequence[Token], lines: list[str]) -> _Settled | None:
    """The tokens that no further text can change; None when there are none."""
    last = _last(tokens, lambda token: token.level == 0 and token.map is not None)
    if last is None:
        return None
    if last > 0:
        return _Settled(tokens=tokens[:last], rest=lines[_line(tokens[last]) :])
    whole = tokens[0]
    if whole.type in _ITEMS:
        return _settle_items(tokens, lines, item_type=_ITEMS[whole.type])
    if whole.type in _CUT_ANYWHERE and sum(map(len, lines)) > LONGEST_PARAGRAPH_CHARS:
        return _Settled(tokens=tokens, rest=[])
    return None


def _settle_items(tokens: Sequence[Token], lines: list[str], *, item_type: str) -> _Settled | None:
    """All items of the list, or rows of the table, but the last; the next portion of a table repeats its header."""
    is_table = item_type == "tr_open"
    level = 2 if is_table else 1
    last = _last(tokens, lambda token: token.type == item_type and token.level == level)
    if last is None or _line(tokens[last]) <= _line(tokens[0]) + _HEADER_LINES * is_table:
        return None
    line = _line(tokens[last])
    begin = _line(tokens[0])
    header = lines[begin : begin + _HEADER_LINES] if is_table else []
    return _Settled(tokens=[*tokens[:last], tokens[-1]], rest=[*header, *lines[line:]], goes_on=not is_table)


def _last(tokens: Sequence[Token], is_wanted: Callable[[Token], bool]) -> int | None:
    return next((place for place in range(len(tokens) - 1, -1, -1) if is_wanted(tokens[place])), None)


def _line(token: Token) -> int:
    """The block's first line."""
    return token.map[0] if token.map else 0


def parse(path: Path, info: FileInfo) -> Document:
    """Front matter gives title, author and date."""
    return _read(lambda: text_lines(path), name=info.name)


def parse_markdown(text: str, *, name: str) -> Document:
    """The same for Markdown in memory; `name` is the title when the text has none."""
    return _read(lambda: (f"{line}\n" for line in text.split("\n")), name=name)


def _read(lines: Lines, *, name: str) -> Document:
    stated, _ = _split(lines)
    parser = MarkdownIt("commonmark", {"maxNesting": 20}).enable(["table", "strikethrough"])
    env: EnvType = {}
    reader = _Reader(parser, env)
    for portion in read_portions(lambda: map(unwrap_template_marks, _split(lines)[1]), parser, env):
        reader.read(portion)
    return reader.outline.document(name, stated.title, author=stated.author, published_at=stated.published_at)


def _split(lines: Lines) -> tuple[FrontMatter, Iterator[str]]:
    """The front matter, and the lines after it."""
    following = iter(lines())
    head: list[str] = []
    chars = 0
    for line in following:
        head.append(line)
        chars += len(line)
        if chars >= FRONT_MATTER_CHARS:
            break
    stated, body = split_front_matter("".join(head))
    return stated, chain(io.StringIO(body), following)


class _Reader:
    """Walks the tokens once; the lines of a list or table are collected until it closes."""

    def __init__(self, parser: MarkdownIt, env: EnvType) -> None:
        self.outline = Outline()
        self._parser = parser
        self._env = env
        self._goes_on_at: int | None = None  # the next item's number, if its list began in an earlier portion
        self._next_number = 0  # of the list that was closed last
        self._heading_level = 0
        self._bullets: list[str] = []  # of the open lists, outermost first
        self._numbers: list[int] = []
        self._bullet_due = False
        self._lines: list[str] = []  # of the outermost list
        self._rows: list[list[str]] = []
        self._in_table = False
        self._steps: Mapping[str, Callable[[Token], None]] = {
            "heading_open": self._open_heading,
            "heading_close": self._close_heading,
            "inline": self._read_inline,
            "fence": self._read_code,
            "code_block": self._read_code,
            "html_block": self._read_html,
            "bullet_list_open": self._open_list,
            "ordered_list_open": self._open_list,
            "bullet_list_close": self._close_list,
            "ordered_list_close": self._close_list,
            "list_item_open": self._open_item,
            "table_open": self._open_table,
            "tr_open": self._open_row,
            "table_close": self._close_table,
        }

    def read(self, portion: Portion) -> None:
        """Read all tokens; those without a step (such as paragraph brackets, quotes, rules) carry no text."""
        self._goes_on_at = self._next_number if portion.goes_on else None
        for token in portion.tokens:
            step = self._steps.get(token.type)
            if step is not None:
                step(token)

    def _open_heading(self, token: Token) -> None:
        self._heading_level = int(token.tag[1:])

    def _close_heading(self, _: Token) -> None:
        self._heading_level = 0

    def _read_inline(self, token: Token) -> None:
        inside: list[Token] = []
        self._parser.inline.parse(token.content, self._parser, self._env, inside)
        text = render_inline(inside)
        if self._heading_level and not self._bullets:
            self.outline.add_heading(text, self._heading_level)
        elif self._in_table:
            self._rows[-1].append(text)
        elif self._bullets:
            self._add_to_item(text)
        else:
            self.outline.add(BlockKind.PARAGRAPH, text)

    def _read_html(self, token: Token) -> None:
        text = strip_tags(token.content)
        if self._bullets:
            self._add_to_item(text)
        else:
            self.outline.add(BlockKind.PARAGRAPH, text)

    def _read_code(self, token: Token) -> None:
        self._flush_list()
        self.outline.add(BlockKind.CODE, token.content)

    def _open_list(self, token: Token) -> None:
        ordered = token.type.startswith("ordered")
        self._bullets.append("." if ordered else "-")
        start = int(token.attrs.get("start", 1)) if ordered else 0
        self._numbers.append(start if self._goes_on_at is None else self._goes_on_at)
        self._goes_on_at = None

    def _close_list(self, _: Token) -> None:
        self._bullets.pop()
        self._next_number = self._numbers.pop()
        if not self._bullets:
            self._flush_list()

    def _open_item(self, _: Token) -> None:
        self._bullet_due = True

    def _add_to_item(self, text: str) -> None:
        if not text.strip():
            return
        indent = INDENT * (len(self._bullets) - 1)
        bullet = " " * 2
        if self._bullet_due:
            bullet = self._next_bullet()
            self._bullet_due = False
        hanging = "\n" + indent + " " * len(bullet)
        self._lines.append(indent + bullet + text.replace("\n", hanging))

    def _next_bullet(self) -> str:
        if self._bullets[-1] == "-":
            return "- "
        number = self._numbers[-1]
        self._numbers[-1] += 1
        return f"{number}. "

    def _flush_list(self) -> None:
        self.outline.add(BlockKind.LIST, "\n".join(self._lines))
        self._lines.clear()

    def _open_table(self, _: Token) -> None:
        self._flush_list()
        self._in_table = True

    def _open_row(self, _: Token) -> None:
        self._rows.append([])

    def _close_table(self, _: Token) -> None:
        self.outline.add(BlockKind.TABLE, render_table(self._rows))
        self._rows.clear()
        self._in_table = False
