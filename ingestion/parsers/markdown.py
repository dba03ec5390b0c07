"""Reads Markdown: headings with their paths, code kept whole, tables, lists; inline markup as plain text.

In: a Markdown file. Out: a `Document`. markdown-it gives the block structure; this module turns tokens into blocks. The
text is parsed in portions (`markdown_portions`) and the paragraphs one at a time, so a book is never held as tokens.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.utils import EnvType

from ingestion.language import language_of
from ingestion.parsers.encodings import text_lines
from ingestion.parsers.front_matter import FrontMatter, split_front_matter
from ingestion.parsers.inline import render_inline, strip_tags
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.markdown_portions import Lines, Portion, read_portions
from ingestion.parsers.outline import Outline
from ingestion.parsers.tables import render_table
from ingestion.parsers.template_marks import unwrap_template_marks
from ingestion.parsers.titles import choose_title
from ingestion.records import BlockKind, Document

ENDINGS = frozenset({".md", ".markdown", ".mdown", ".mkd"})
MEDIA_TYPES = frozenset({"text/markdown", "text/x-markdown"})
INDENT = "  "
FRONT_MATTER_CHARS = 64 * 1024  # longer front matter is not recognised


def accepts(file: FileInfo) -> bool:
    """Text whose name or sender says Markdown."""
    return file.kind is FileKind.TEXT and (file.ending in ENDINGS or file.media_type in MEDIA_TYPES)


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
    blocks = reader.outline.finish()
    return Document(
        title=choose_title(stated.title, blocks, name=name),
        blocks=blocks,
        language=language_of(blocks),
        author=stated.author,
        published_at=stated.published_at,
    )


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
