"""Parses Markdown in portions of whole blocks: markdown-it takes about fifty times a text's size in memory.

In: lines. Out: markdown-it's tokens, without those inside paragraphs, portion by portion. A block is settled once
another has begun after it, so the last block of a portion is parsed again with the next one. A list or table that fills
a portion is settled item by item, and the next portion continues it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.utils import EnvType

PORTION_CHARS = 100_000
LONGEST_PARAGRAPH_CHARS = 1_000_000  # a longer one ends after a line: nobody wrote it as one paragraph

_DEFINITION = re.compile(r"^[\s>*+\-\d.)]*\[[^\]]+\]:", re.MULTILINE)  # of a link: `[name]: https://…`
_ITEMS = {"bullet_list_open": "list_item_open", "ordered_list_open": "list_item_open", "table_open": "tr_open"}
_CUT_ANYWHERE = frozenset({"paragraph_open", "blockquote_open"})
_HEADER_LINES = 2  # of a table: the column names, and the rule under them

Lines = Callable[[], Iterable[str]]
"""Returns the text from its beginning at each call; lines have their ends."""


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
