"""Renders a table of a model's answer for a chat, as Telegram has no tables.

In: rows of cells. Out: aligned monospace text if that fits a phone's width, else a group of lines for each row.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from bot.replies.rich import BOLD, Kind, RichText, Style, join, rich

NARROW_COLUMNS = 36  # monospace characters that a phone shows in one line
_GAP = "  "


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
