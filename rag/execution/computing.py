"""Filters, sums, groups and sorts rows.

In: rows and the operation. Out: the rows that fit, in order, and numbers with their units. Amounts of different units
are never added or compared; a cell without a number or date is counted as unread or undecided, never guessed. Pure.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum

from rag.execution.merging import MergedRow
from rag.values import Amount, amount, day, is_only_amount, name_words, period
from rag.words import plain, stems

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


class Operator(StrEnum):
    """How a cell is compared with the value of a condition."""

    EQUAL = "="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    CONTAINS = "contains"

    @classmethod
    def _missing_(cls, value: object) -> "Operator | None":
        """Other spellings of the same; those of days, too."""
        spelled = {
            "==": "=",
            "≠": "!=",
            "<>": "!=",
            "≤": "<=",
            "≥": ">=",
            "before": "<",
            "after": ">",
            "since": ">=",
            "from": ">=",
            "until": "<=",
            "by": "<=",
            "in": "=",
        }.get(str(value).casefold())
        return cls(spelled) if spelled else None


class Period(StrEnum):
    """By which dates are grouped."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"


@dataclass(frozen=True, kw_only=True)
class Condition:
    """On one column."""

    place: int
    operator: Operator
    value: str


@dataclass(frozen=True, kw_only=True)
class Selected:
    """Rows that fit, and those of which nobody can tell."""

    rows: tuple[MergedRow, ...]
    undecided: tuple[MergedRow, ...]


@dataclass(frozen=True, kw_only=True)
class Total:
    """One number, of one unit."""

    shown: str
    row: MergedRow | None = None  # for min and max: the row that has it


@dataclass(frozen=True, kw_only=True)
class Aggregated:
    """The aggregate of a column."""

    totals: tuple[Total, ...]
    unread: int = 0  # rows without a number


@dataclass(frozen=True, kw_only=True)
class Group:
    """Rows that share a cell."""

    name: str
    rows: tuple[MergedRow, ...]


def select(rows: Sequence[MergedRow], conditions: Sequence[Condition]) -> Selected:
    """Rows that meet all conditions. Undecided: those that fail none, but have no value that can be compared."""
    judged = [(row, {meets(row.cells[each.place], each) for each in conditions}) for row in rows]
    return Selected(
        rows=tuple(row for row, verdicts in judged if verdicts <= {True}),
        undecided=tuple(row for row, verdicts in judged if None in verdicts and False not in verdicts),
    )


def meets(cell: str, condition: Condition) -> bool | None:
    """Whether a cell meets a condition; None when it cannot be compared. A date is compared with a day, a month or a
    year («2025»), an amount with an amount of the same unit, a name without its legal form."""
    wanted, operator = condition.value, condition.operator
    if not cell:
        return None
    if operator is Operator.CONTAINS:
        return plain(wanted) in plain(cell) or (bool(stems(wanted)) and stems(wanted) <= stems(cell))
    if operator in (Operator.EQUAL, Operator.UNEQUAL):
        is_equal = _is_equal(cell, wanted)
        return is_equal if operator is Operator.EQUAL or is_equal is None else not is_equal
    sides = _sides(cell, wanted)
    return None if sides is None else _ORDERED[operator](sides)


def sort(rows: Sequence[MergedRow], place: int, order: Order) -> tuple[MergedRow, ...]:
    """By dates, numbers or words, whichever the column mostly holds; rows with no such value come last."""
    keys = _keys([row.cells[place] for row in rows])
    known = [(key, row) for key, row in zip(keys, rows, strict=True) if key is not None]
    rest = [row for key, row in zip(keys, rows, strict=True) if key is None]
    known.sort(key=lambda each: each[0], reverse=order is Order.DESC)
    return (*(row for _, row in known), *rest)


def group(rows: Sequence[MergedRow], place: int, period: Period | None = None) -> tuple[Group, ...]:
    """Groups by the cells' words, ignoring punctuation, case and legal forms; the largest first, ties in order of
    appearance. With a period by dates, the earliest first; cells without a date have no name and come last."""
    groups: dict[tuple[str, ...], list[MergedRow]] = {}
    for row in rows:
        cell = row.cells[place]
        groups.setdefault((_period_of(cell, period),) if period else name_words(cell), []).append(row)
    if period:
        in_time = sorted(groups, key=lambda key: key[0] or "~")
        return tuple(Group(name=key[0], rows=tuple(groups[key])) for key in in_time)
    made = (Group(name=rows[0].cells[place], rows=tuple(rows)) for rows in groups.values())
    return tuple(sorted(made, key=lambda each: -len(each.rows)))


def aggregate_column(rows: Sequence[MergedRow], place: int, aggregate: Aggregate, *, language: str) -> Aggregated:
    """The aggregate of one column. Empty for `count` and `none`: the number of rows is always given anyway. A column of
    dates has a minimum and a maximum, but no sum."""
    days = [(found, row) for row in rows if (found := day(row.cells[place])) is not None]
    if aggregate in (Aggregate.MIN, Aggregate.MAX) and len(days) * 2 > len(rows):
        end = (min if aggregate is Aggregate.MIN else max)(days, key=lambda each: each[0])
        return Aggregated(totals=(Total(shown=end[1].cells[place], row=end[1]),), unread=len(rows) - len(days))
    read = [(number, row) for row in rows if (number := amount(row.cells[place])) is not None]
    if aggregate in (Aggregate.NONE, Aggregate.COUNT):
        return Aggregated(totals=())
    totals = tuple(_total(each, aggregate, unit, language) for unit, each in _by_unit(read).items())
    return Aggregated(totals=totals, unread=len(rows) - len(read))


def shown(value: Decimal, unit: str, *, language: str) -> str:
    """«1 234 567,50 ₽», "1,234,567.50 $"; whole numbers without decimals."""
    rounded = value.quantize(_CENT, ROUND_HALF_UP)
    digits = f"{rounded:,.2f}" if rounded != rounded.to_integral_value() else f"{rounded.to_integral_value():,}"
    if language == "ru":
        digits = digits.replace(",", "\u00a0").replace(".", ",")
    return f"{digits}\u00a0{unit}" if unit else digits


_ORDERED: Mapping[Operator, Callable[["_Sides"], bool]] = {
    Operator.LESS: lambda sides: sides.cell < sides.first,
    Operator.AT_MOST: lambda sides: sides.cell <= sides.last,
    Operator.MORE: lambda sides: sides.cell > sides.last,
    Operator.AT_LEAST: lambda sides: sides.cell >= sides.first,
}


@dataclass(frozen=True, kw_only=True)
class _Sides:
    """What is compared, as numbers: a cell, and the ends of the condition's value (a year has two)."""

    cell: Decimal
    first: Decimal
    last: Decimal


def _sides(cell: str, wanted: str) -> _Sides | None:
    written, span = day(cell), period(wanted)
    if written and span:
        first, last = (Decimal(end.toordinal()) for end in span)
        return _Sides(cell=Decimal(written.toordinal()), first=first, last=last)
    mine, limit = amount(cell), amount(wanted)
    if mine is None or limit is None or (mine.unit and limit.unit and mine.unit != limit.unit):
        return None
    return _Sides(cell=mine.value, first=limit.value, last=limit.value)


def _is_equal(cell: str, wanted: str) -> bool | None:
    if day(cell) or (is_only_amount(cell) and is_only_amount(wanted)):
        sides = _sides(cell, wanted)
        return None if sides is None else sides.first <= sides.cell <= sides.last
    return set(name_words(wanted)) <= set(name_words(cell)) or (bool(stems(wanted)) and stems(wanted) <= stems(cell))


def _period_of(cell: str, period: Period) -> str:
    """«2025», «2025-03», «2025 Q1»; empty without a date."""
    found = day(cell)
    if found is None:
        return ""
    named = {
        Period.YEAR: f"{found.year}",
        Period.QUARTER: f"{found.year} Q{(found.month + 2) // 3}",
        Period.MONTH: f"{found:%Y-%m}",
    }
    return named[period]


def _by_unit(read: Sequence[tuple[Amount, MergedRow]]) -> Mapping[str, Sequence[tuple[Amount, MergedRow]]]:
    """By unit, the most frequent first. Amounts without a unit join the others if these have only one unit."""
    units = list(dict.fromkeys(found.unit for found, _ in read if found.unit))
    plain_unit = units[0] if len(units) == 1 else ""
    grouped: dict[str, list[tuple[Amount, MergedRow]]] = {}
    for found, row in read:
        grouped.setdefault(found.unit or plain_unit, []).append((found, row))
    return dict(sorted(grouped.items(), key=lambda each: -len(each[1])))


def _total(read: Sequence[tuple[Amount, MergedRow]], aggregate: Aggregate, unit: str, language: str) -> Total:
    if aggregate in (Aggregate.MIN, Aggregate.MAX):
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
