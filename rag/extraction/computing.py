"""Sums, groups and sorts rows.

In: rows and the operation. Out: the rows in order, and numbers with their units. Amounts of different units are never
added together; a cell without a number is counted as unread, never guessed. Pure.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum

from rag.extraction.evidence import plain
from rag.extraction.rows import Row
from rag.extraction.values import Amount, amount, day

_CENT = Decimal("0.01")


class Aggregate(StrEnum):
    """What is worked out of a column."""

    NONE = "none"
    COUNT = "count"
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    AVG = "avg"


class Order(StrEnum):
    """Of sorted rows."""

    ASC = "asc"
    DESC = "desc"


@dataclass(frozen=True, kw_only=True)
class Total:
    """One number, of one unit."""

    shown: str
    row: Row | None = None  # for min and max: the row that has it


@dataclass(frozen=True, kw_only=True)
class Reckoned:
    """The aggregate of a column."""

    totals: tuple[Total, ...]
    unread: int = 0  # rows without a number


@dataclass(frozen=True, kw_only=True)
class Group:
    """Rows that share a cell."""

    name: str
    rows: tuple[Row, ...]


def sort(rows: Sequence[Row], place: int, order: Order) -> tuple[Row, ...]:
    """By dates, numbers or words, whichever the column mostly holds; rows with no such value come last."""
    keys = _keys([row.cells[place] for row in rows])
    known = [(key, row) for key, row in zip(keys, rows, strict=True) if key is not None]
    rest = [row for key, row in zip(keys, rows, strict=True) if key is None]
    known.sort(key=lambda each: each[0], reverse=order is Order.DESC)
    return (*(row for _, row in known), *rest)


def group(rows: Sequence[Row], place: int) -> tuple[Group, ...]:
    """Groups by the cells' words, ignoring punctuation and case; the largest first, ties in order of appearance."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(plain(row.cells[place]), []).append(row)
    made = (Group(name=rows[0].cells[place], rows=tuple(rows)) for rows in groups.values())
    return tuple(sorted(made, key=lambda each: -len(each.rows)))


def reckon(rows: Sequence[Row], place: int, aggregate: Aggregate, *, language: str) -> Reckoned:
    """The aggregate of one column. Empty for `count` and `none`: the number of rows is always given anyway. A column of
    dates has a minimum and a maximum, but no sum."""
    days = [(found, row) for row in rows if (found := day(row.cells[place])) is not None]
    if aggregate in _ENDS and len(days) * 2 > len(rows):
        end = _ENDS[aggregate](days, key=lambda each: each[0])
        return Reckoned(totals=(Total(shown=end[1].cells[place], row=end[1]),), unread=len(rows) - len(days))
    read = [(number, row) for row in rows if (number := amount(row.cells[place])) is not None]
    if aggregate in (Aggregate.NONE, Aggregate.COUNT):
        return Reckoned(totals=())
    totals = tuple(_total(each, aggregate, unit, language) for unit, each in _by_unit(read).items())
    return Reckoned(totals=totals, unread=len(rows) - len(read))


def shown(value: Decimal, unit: str, *, language: str) -> str:
    """«1 234 567,50 ₽», "1,234,567.50 $"; whole numbers without decimals."""
    rounded = value.quantize(_CENT, ROUND_HALF_UP)
    digits = f"{rounded:,.2f}" if rounded != rounded.to_integral_value() else f"{rounded.to_integral_value():,}"
    if language == "ru":
        digits = digits.replace(",", "\u00a0").replace(".", ",")
    return f"{digits}\u00a0{unit}" if unit else digits


Found = tuple[Amount, Row]
_Dated = tuple[date, Row]
_ENDS: Mapping[Aggregate, Callable[..., _Dated]] = {Aggregate.MIN: min, Aggregate.MAX: max}


def _by_unit(read: Sequence[Found]) -> Mapping[str, Sequence[Found]]:
    """Groups amounts by unit. Amounts without a unit join the others if these have only one unit."""
    units = list(dict.fromkeys(found.unit for found, _ in read if found.unit))
    plain_unit = units[0] if len(units) == 1 else ""
    grouped: dict[str, list[Found]] = {}
    for found, row in read:
        grouped.setdefault(found.unit or plain_unit, []).append((found, row))
    return grouped


def _total(read: Sequence[Found], aggregate: Aggregate, unit: str, language: str) -> Total:
    if aggregate in _ENDS:
        found, row = (min if aggregate is Aggregate.MIN else max)(read, key=lambda each: each[0].value)
        return Total(shown=shown(found.value, unit, language=language), row=row)
    whole = sum((found.value for found, _ in read), Decimal(0))
    value = whole if aggregate is Aggregate.SUM else whole / len(read)
    return Total(shown=shown(value, unit, language=language))


def _keys(cells: Sequence[str]) -> list[tuple[str, Decimal] | tuple[str, date] | tuple[str, str] | None]:
    """Sort keys of one kind, the kind of most cells; None for a cell of another kind."""
    days, amounts = [day(cell) for cell in cells], [amount(cell) for cell in cells]
    if sum(each is not None for each in days) * 2 > len(cells):
        return [None if each is None else ("", each) for each in days]
    if sum(each is not None for each in amounts) * 2 > len(cells):
        return [None if each is None else (each.unit, each.value) for each in amounts]
    return [("", plain(cell)) if cell else None for cell in cells]
