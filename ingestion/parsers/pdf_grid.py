"""Finds ruled tables: where the rules drawn on a page make a grid of cells.

In: the rules of a page (thin lines, and the edges of stroked boxes), or lines that know their cell. Out: grids; the
tables of a page, words in their cells. A frame around a page or around columns of prose is no table. Pure.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, takewhile
from typing import NamedTuple

from ingestion.parsers.pdf_lines import Cell, PageLine, Segment
from ingestion.parsers.pdf_tables import VALUE, PdfTable

TOUCH = 3.0  # points: rules that come as close meet
FEWEST_EDGES = 3  # of rows and of columns: two of each
MOST_COLUMNS, MOST_ROWS = 30, 300
MOST_RULES = 3_000  # of a page; a drawing has more
WORD = re.compile(r"[^\W\d_]{2}")
MOST_LINES = 12  # of a cell; more are prose


class Rule(NamedTuple):
    """A straight line: `at` is its height or its distance from the left, in points."""

    is_level: bool
    at: float
    begin: float
    end: float


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Rules that cross each other."""

    number: int  # on its page
    across: tuple[Rule, ...]
    down: tuple[Rule, ...]
    tops: tuple[float, ...]  # heights of the rules across, from the top
    lefts: tuple[float, ...]

    def cell(self, x: float, y: float) -> Cell | None:
        """The cell around a point; None outside of the grid."""
        beside = [rule.at for rule in self.down if rule.begin <= y <= rule.end]
        left = max((at for at in beside if at <= x), default=None)
        right = min((at for at in beside if at > x), default=None)
        if left is None or right is None:
            return None
        level = [rule.at for rule in self.across if rule.begin <= x <= rule.end]
        top = min((at for at in level if at >= y), default=None)
        if top is None or min(level) >= y:
            return None
        return Cell(self.number, _nearest(self.tops, top), _nearest(self.lefts, left), left, right)


def find_grids(rules: Iterable[Rule]) -> list[Grid]:
    """The grids of at least two rows and two columns, from the top."""
    grids: list[Grid] = []
    for across, down in sorted(_crossing(_joined(rules)), key=lambda each: -max(rule.at for rule in each[0])):
        tops, lefts = _places(rule.at for rule in across)[::-1], _places(rule.at for rule in down)
        if FEWEST_EDGES <= len(tops) <= MOST_ROWS and FEWEST_EDGES <= len(lefts) <= MOST_COLUMNS:
            grids.append(Grid(number=len(grids), across=across, down=down, tops=tuple(tops), lefts=tuple(lefts)))
    return grids


def _crossing(rules: Sequence[Rule]) -> Iterator[tuple[tuple[Rule, ...], tuple[Rule, ...]]]:
    """Those across and those down of each group of rules that cross another of their group."""
    across, down = ([rule for rule in rules if rule.is_level is side] for side in (True, False))
    if min(len(across), len(down)) < FEWEST_EDGES:
        return
    groups: list[tuple[list[Rule], set[int]]] = []  # those across, and indexes of those down
    for rule in across:
        crossed = _crossed(rule, down)
        met = [group for group in groups if not crossed.isdisjoint(group[1])]
        apart = [group for group in groups if crossed.isdisjoint(group[1])]
        joined = [rule, *chain.from_iterable(own for own, _ in met)], crossed.union(*(indexes for _, indexes in met))
        groups = [*apart, joined]
    for own, indexes in groups:
        yield tuple(own), tuple(down[index] for index in indexes)


def _joined(rules: Iterable[Rule]) -> list[Rule]:
    """Rules at one place that touch are one: programs draw the sides of each cell."""
    whole: list[Rule] = []
    for rule in sorted(rules, key=lambda each: (each.is_level, round(each.at / TOUCH), each.begin)):
        last = whole[-1] if whole else None
        is_near = last and last.is_level is rule.is_level and abs(last.at - rule.at) <= TOUCH
        if last and is_near and rule.begin <= last.end + TOUCH:
            whole[-1] = Rule(last.is_level, last.at, last.begin, max(last.end, rule.end))
        else:
            whole.append(rule)
    return whole


def _crossed(rule: Rule, others: Sequence[Rule]) -> set[int]:
    """Indexes of those that it meets, of others at right angles to it."""
    _, at, begin, end = rule
    return {
        index
        for index, (_, other_at, other_begin, other_end) in enumerate(others)
        if begin - TOUCH <= other_at <= end + TOUCH and other_begin - TOUCH <= at <= other_end + TOUCH
    }


def _places(values: Iterable[float]) -> list[float]:
    """Without those that are nearly the same, in order."""
    places: list[float] = []
    for value in sorted(values):
        if not places or value - places[-1] > TOUCH:
            places.append(value)
    return places


def _nearest(places: Sequence[float], value: float) -> int:
    return min(range(len(places)), key=lambda index: abs(places[index] - value))


def in_cells(lines: Sequence[PageLine], grids: Sequence[Grid]) -> list[PageLine]:
    """The lines of a page, divided at the rules of those grids that are tables; each part knows its cell."""
    if not grids:
        return list(lines)
    held: dict[int, dict[Cell, list[str]]] = {}
    parts = [part for line in lines for part in _divided(line, grids)]
    for part in parts:
        if part.cell:
            held.setdefault(part.cell.grid, {}).setdefault(part.cell, []).append(part.text)
    tables = [grid for grid in grids if grid.number in held and _are_cells(held[grid.number])]
    return parts if len(tables) == len(held) else [part for line in lines for part in _divided(line, tables)]


def _are_cells(texts: Mapping[Cell, Sequence[str]]) -> bool:
    """Whether a rule stands between any two rows, and most rows have several cells, one of them with words: a box is
    drawn around columns of numbers, too, and around prose or a form."""
    if any(len(own) > MOST_LINES or (len(own) > 1 and all(map(VALUE.fullmatch, own))) for own in texts.values()):
        return False
    filled = Counter(cell.row for cell in texts)
    worded = {cell.row for cell, own in texts.items() if WORD.search(" ".join(own))}
    return sum(count > 1 and row in worded for row, count in filled.items()) > len(filled) / 2


def _divided(line: PageLine, grids: Sequence[Grid]) -> Iterator[PageLine]:
    def cell_of(segment: Segment) -> Cell | None:
        height = line.baseline + line.size / 4
        return next((cell for grid in grids if (cell := grid.cell(segment.middle, height))), None)

    parts = [(cell, tuple(own)) for cell, own in groupby(line.segments, key=cell_of)]
    if not any(cell for cell, _ in parts):
        yield line
        return
    for cell, own in parts:
        text = " ".join(segment.text for segment in own)
        yield line._replace(text=text, left=own[0].left, right=own[-1].right, segments=own, cell=cell)


def ruled_tables(lines: Sequence[PageLine]) -> list[PdfTable]:
    """The tables that lines with cells make, in order."""
    places: dict[int, list[int]] = {}
    for index, line in enumerate(lines):
        if line.cell and line.text:
            places.setdefault(line.cell.grid, []).append(index)
    return [table for own in places.values() if (table := _table(lines, own))]


def _table(lines: Sequence[PageLine], places: Sequence[int]) -> PdfTable | None:
    """None where only a row or a column has words."""
    texts: dict[tuple[int, int], list[str]] = {}
    columns: dict[int, Segment] = {}
    for index in sorted(places, key=lambda each: (-round(lines[each].baseline), lines[each].left)):
        if cell := lines[index].cell:
            texts.setdefault((cell.row, cell.column), []).append(lines[index].text)
            columns.setdefault(cell.column, Segment("", cell.left, cell.right))
    rows = sorted({row for row, _ in texts})
    if len(rows) < FEWEST_EDGES - 1 or len(columns) < FEWEST_EDGES - 1:
        return None
    cells = [tuple(" ".join(texts.get((row, column), ())) for column in sorted(columns)) for row in rows]
    titles = list(takewhile(lambda row: sum(map(bool, row)) == 1, cells[:-1]))
    head, *body = cells[len(titles) :]
    return PdfTable(
        lines=frozenset(places),
        unit=tuple("".join(row) for row in titles),
        head=head,
        rows=tuple(body),
        bands=tuple(columns[column] for column in sorted(columns)[1:]),
        is_ruled=True,
    )
