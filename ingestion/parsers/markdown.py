"""Reads Markdown: headings with their paths, code kept whole, tables, lists; inline markup as plain text.

In: a Markdown file. Out: a `Document`. markdown-it gives the block structure, in portions that begin with a heading or
a paragraph, since it takes about fifty times a text's size in memory. Of the front matter `key: value` lines are read,
other YAML is ignored.
"""

import html
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.utils import EnvType

from ingestion.parsers.encodings import text_lines
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import INDENT, Outline, render_table
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
FRONT_MATTER_CHARS = 64 * 1024  # longer front matter is not recognised
FIELD = re.compile(r"^(\w+):[ \t]*(.*?)[ \t]*$", re.MULTILINE)
PORTION_CHARS = 100_000
LONGEST_PORTION_CHARS = 250_000  # a longer one ends after any line: nobody wrote it as one list or paragraph
_HEADING = re.compile(r"#{1,6}[ \t]")
_OPENING = re.compile(r"[\s>]*(```+|~~~+|<!--)")  # of code or a comment
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$")
_DEFINITION = re.compile(r"[\s>*+\-\d.)]*\[[^\]]+\]:")  # of a link: `[name]: https://…`


def render_inline(tokens: Sequence[Token]) -> str:
    """A link becomes its text, followed by an external address in brackets; an image becomes its description."""
    parts: list[str] = []
    links: list[tuple[str, int]] = []  # address, and the index of the first part of its text
    for token in tokens:
        if token.type == "link_open":
            links.append((str(token.attrs.get("href", "")), len(parts)))
        elif token.type == "link_close":
            address, first = links.pop()
            shown = address.removeprefix("mailto:").removeprefix("tel:")
            if address.startswith(WORTHWHILE_ADDRESS) and shown not in "".join(parts[first:]):
                parts.append(f" ({shown})")
        elif token.type in RENDERERS:
            parts.append(RENDERERS[token.type](token))
    return "".join(parts)


def strip_tags(text: str) -> str:
    """The text of a piece of HTML, without scripts, styles and comments."""
    text = LINE_BREAK_TAG.sub("\n", UNREAD_ELEMENT.sub(" ", text))
    lines = (line.strip() for line in html.unescape(TAG.sub("", text)).split("\n"))
    return "\n".join(filter(None, lines))


RENDERERS: Mapping[str, Callable[[Token], str]] = {
    "text": lambda token: token.content,
    "text_special": lambda token: token.content,
    "code_inline": lambda token: f"`{token.content}`",
    "softbreak": lambda _: " ",
    "hardbreak": lambda _: "\n",
    "image": lambda token: render_inline(token.children or []),
    "html_inline": lambda token: "\n" * bool(LINE_BREAK_TAG.fullmatch(token.content)),
}
"""Other tokens (such as those of emphasis) have no text of their own."""


def unwrap_template_marks(text: str) -> str:
    """Returns a text without such marks unchanged."""
    for pattern, replacement in RULES if "{" in text else ():
        text = pattern.sub(replacement, text)
    return text


def split_front_matter(text: str) -> tuple[Mapping[str, str], str]:
    """Its fields, and the text after it. A rule `---` at the top without any field after it is no front matter."""
    found = FRONT_MATTER.match(text)
    fields = {} if found is None else {key.lower(): _unquoted(value) for key, value in FIELD.findall(found.group(1))}
    return fields, text[found.end() :] if found and fields else text


def _unquoted(value: str) -> str:
    if len(value) < 2 or value[0] != value[-1] or value[0] not in "\"'":
        return value
    return value[1:-1].replace("\\" + value[0], value[0]).replace("''", "'")


def parse(path: Path, info: FileInfo) -> Document:
    """Front matter gives title, author and date."""
    return _read(lambda: text_lines(path), name=info.name)


def parse_markdown(text: str, *, name: str) -> Document:
    """The same for Markdown in memory; `name` is the title when the text has none."""
    return _read(lambda: (f"{line}\n" for line in text.split("\n")), name=name)


def _read(lines: Callable[[], Iterable[str]], *, name: str) -> Document:
    """`lines` returns the text from its beginning at each call."""
    parser = MarkdownIt("commonmark", {"maxNesting": 20}).enable(["table", "strikethrough"]).disable("inline")
    env: EnvType = {}
    parser.parse("\n".join(filter(_DEFINITION.match, lines())), env)  # links may be defined anywhere
    stated, body = _split(lines())
    reader = _Reader(parser, env)
    for portion in _portions(map(unwrap_template_marks, body)):
        reader.read(parser.parse(portion, env))
        env.pop("duplicate_refs", None)  # unused
    try:
        day = datetime.fromisoformat(stated.get("date", ""))
    except ValueError:
        day = None
    return reader.outline.document(
        name,
        stated.get("title"),
        author=stated.get("author") or None,
        published_at=day.replace(tzinfo=day.tzinfo or UTC) if day else None,
    )


def _split(lines: Iterable[str]) -> tuple[Mapping[str, str], Iterator[str]]:
    """The fields of the front matter, and the lines after it."""
    following = iter(lines)
    head = io.StringIO()
    for line in following:
        head.write(line)
        if head.tell() >= FRONT_MATTER_CHARS:
            break
    stated, body = split_front_matter(head.getvalue())
    return stated, chain(io.StringIO(body), following)


def _portions(lines: Iterable[str]) -> Iterator[str]:
    """A table that is cut has its header in each portion."""
    held: list[str] = []
    header: list[str] = []  # of the open table
    chars, closing = 0, ""  # of the open code or comment
    for line in lines:
        is_gap = not held or held[-1].isspace()
        begins = not closing and (_HEADING.match(line) or (is_gap and line[:1].isalnum()))
        is_line = bool(held) and held[-1].endswith("\n")  # a very long line comes in pieces
        if is_line and (chars > LONGEST_PORTION_CHARS or (begins and chars > PORTION_CHARS)):
            yield "".join(held)
            held, chars = header.copy(), 0
        if closing:
            closing = "" if closing in line else closing
        elif opening := _OPENING.match(line):
            mark = "-->" if opening[1] == "<!--" else opening[1]
            closing = mark if mark not in line[opening.end() :] else ""
        elif line.isspace():
            header = []
        elif held and _TABLE_RULE.match(line):
            header = [held[-1], line]
        held.append(line)
        chars += len(line)
    yield "".join(held)


class _Reader:
    """Walks the tokens once; the rows of a table are collected until it closes."""

    def __init__(self, parser: MarkdownIt, env: EnvType) -> None:
        self.outline = Outline()
        self._parser = parser
        self._env = env
        self._numbers: list[int | None] = []  # of the next items of the open lists, outermost first; None: a bullet
        self._bullet = ""  # of the item that has begun
        self._rows: list[list[str]] = []
        self._steps: Mapping[str, Callable[[Token], None]] = {
            "fence": self._read_code,
            "code_block": self._read_code,
            "html_block": lambda token: self._add(strip_tags(token.content)),
            "bullet_list_open": lambda _: self._numbers.append(None),
            "ordered_list_open": lambda token: self._numbers.append(int(token.attrs.get("start", 1))),
            "bullet_list_close": self._close_list,
            "ordered_list_close": self._close_list,
            "list_item_open": self._open_item,
            "table_open": lambda _: self.outline.flush(),
            "tr_open": lambda _: self._rows.append([]),
            "table_close": self._close_table,
        }

    def read(self, tokens: Iterable[Token]) -> None:
        """Read all tokens; those without a step (such as paragraph brackets, quotes, rules) carry no text."""
        opened = ""  # the tag of the block that was opened last
        for token in tokens:
            if token.type == "inline":
                self._read_inline(token, opened)
            elif token.type in self._steps:
                self._steps[token.type](token)
            opened = token.tag

    def _read_inline(self, token: Token, within: str) -> None:
        inside: list[Token] = []
        self._parser.inline.parse(token.content, self._parser, self._env, inside)
        text = render_inline(inside)
        if within in ("td", "th"):
            self._rows[-1].append(text)
        elif within.startswith("h") and not self._numbers:
            self.outline.add_heading(text, int(within[1:]))
        else:
            self._add(text)

    def _add(self, text: str) -> None:
        """A paragraph, or the next lines of a list item."""
        if not self._numbers:
            self.outline.add(BlockKind.PARAGRAPH, text)
        elif text.strip():
            lead = INDENT * (len(self._numbers) - 1)
            bullet, self._bullet = self._bullet or "  ", ""
            self.outline.add_line(BlockKind.LIST, lead + bullet + text.replace("\n", f"\n{lead}{' ' * len(bullet)}"))

    def _read_code(self, token: Token) -> None:
        self.outline.add(BlockKind.CODE, token.content)

    def _open_item(self, _: Token) -> None:
        number = self._numbers[-1]
        self._bullet = "- "
        if number is not None:
            self._bullet = f"{number}. "
            self._numbers[-1] = number + 1

    def _close_list(self, _: Token) -> None:
        self._numbers.pop()
        if not self._numbers:
            self.outline.flush()

    def _close_table(self, _: Token) -> None:
        self.outline.add(BlockKind.TABLE, render_table(self._rows))
        self._rows.clear()
