"""Turns the rows of a sheet into tables: each block of rows begins with the column names.

In: rows with their numbers, one sheet at a time. Out: blocks on an outline, each with its first and last row. It finds
the header row by itself: single-cell lines above it are titles, the last of them part of the table, and an empty row
ends a table.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from domain.locator import Locator
from ingestion.parsers.outline import MOST_NAMES, Outline
from ingestion.parsers.tables import render_table
from ingestion.records import BlockKind

BLOCK_CHARACTERS = 16_000  # of rows under one header; passages are cut from a block and repeat its header
MOST_COLUMNS = 1_000  # a sheet has 16,384; nobody reads rows that long
LETTERS = 26


@dataclass(frozen=True, kw_only=True, slots=True)
class SheetRow:
    """A row: texts by column, counted from 0, without empty cells."""

    number: int  # counted from 1, as the program shows it
    cells: Mapping[int, str]
    has_values: bool  # it has a number or a date, so it is no header


def add_sheet(outline: Outline, rows: Iterable[SheetRow]) -> None:
    """Add all rows of one sheet, in order. Empty rows may be omitted."""
    place = outline.place
    header: SheetRow | None = None
    for table in _split_at_gaps(rows):
        header = _add_table(outline, table, place, header)
    outline.place = place


def column_name(column: int) -> str:
    """A, B … Z, AA: the column's name in the program."""
    name = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, LETTERS)
        name = chr(ord("A") + letter) + name
    return name


def _split_at_gaps(rows: Iterable[SheetRow]) -> Iterator[Iterator[SheetRow]]:
    """Runs of rows without an empty one between; each must be consumed before the next."""
    waiting = iter(rows)
    following = next(waiting, None)

    def stretch(row: SheetRow) -> Iterator[SheetRow]:
        nonlocal following
        for number in count(row.number + 1):
            yield row
            following = next(waiting, None)
            if following is None or following.number != number:
                return
            row = following

    while following is not None:
        yield stretch(following)


def _add_table(
    outline: Outline, rows: Iterator[SheetRow], place: Locator, header_above: SheetRow | None
) -> SheetRow | None:
    """Add one run of rows; returns its header, for runs below that have none."""
    header: SheetRow | None = None
    titles: list[SheetRow] = []
    for row in rows:
        if len(row.cells) > 1:
            header, body = _choose_header(row, header_above)
            break
        titles.append(row)
    else:
        _add_titles(outline, titles, place)
        return header_above
    _add_titles(outline, titles[:-MOST_NAMES], place)
    for block in _in_blocks(header, body, rows):
        for title in titles[-MOST_NAMES:]:
            _add_title(outline, title, place)
        _add_block(outline, header, block, place)
    return header


def _choose_header(first: SheetRow, above: SheetRow | None) -> tuple[SheetRow, list[SheetRow]]:
    """The header, and the rows already known to be below it."""
    if not first.has_values:
        return first, []
    if above is not None and first.cells.keys() <= above.cells.keys():
        return above, [first]  # an empty row inside a table
    names = {column: column_name(column) for column in first.cells}
    return SheetRow(number=first.number, cells=names, has_values=False), [first]


def _add_titles(outline: Outline, rows: Sequence[SheetRow], place: Locator) -> None:
    """Single-cell lines: a title, a remark, or a list."""
    for begin in range(0, len(rows), 20):
        lines = rows[begin : begin + 20]
        outline.place = replace(place, row=lines[0].number, row_end=_last(lines))
        outline.add(BlockKind.PARAGRAPH, "\n".join(text for row in lines for text in row.cells.values()))


def _add_title(outline: Outline, row: SheetRow, place: Locator) -> None:
    outline.place = replace(place, row=row.number)
    outline.name_table(" ".join(row.cells.values()))


def _in_blocks(header: SheetRow, first: list[SheetRow], rows: Iterator[SheetRow]) -> Iterator[list[SheetRow]]:
    block, characters = list(first), sum(map(_length, first))
    for row in rows:
        if characters >= BLOCK_CHARACTERS:
            yield block
            block, characters = [], 0
        block.append(row)
        characters += _length(row)
    yield block or [header]


def _add_block(outline: Outline, header: SheetRow, rows: list[SheetRow], place: Locator) -> None:
    columns = sorted({column for row in (header, *rows) for column in row.cells})[:MOST_COLUMNS]
    shown = rows if rows == [header] else [header, *rows]
    outline.place = replace(place, row=rows[0].number, row_end=_last(rows))
    outline.add(BlockKind.TABLE, render_table([[row.cells.get(column, "") for column in columns] for row in shown]))


def _last(rows: Sequence[SheetRow]) -> int | None:
    return rows[-1].number if len(rows) > 1 else None


def _length(row: SheetRow) -> int:
    return sum(map(len, row.cells.values())) + 3 * len(row.cells)
