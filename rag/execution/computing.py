"""Filters, sums, groups and sorts rows.

In: rows and the operation. Out: the rows that fit, in order, and numbers with their units. Amounts of different units
are never added or compared; a cell without a number or date is counted as unread or undecided, never guessed. Pure.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from rag.execution.merging import MergedRow
from rag.values import Amount, amount, day, is_only_amount, name_words, period
from rag.words import plain, stems

Rows = Sequence[MergedRow]

Aggregate = Literal["none", "count", "sum", "min", "max", "avg"]  # what is worked out of a column
Order = Literal["asc", "desc"]
Period = Literal["year", "quarter", "month"]  # by which dates are grouped
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "contains"]
Condition = tuple[int, Operator, str]  # place of a column, and what its cells are compared with
Total = tuple[str, MergedRow | None]  # one number of one unit, as it is shown; for min and max with the row that has it

SPELLED: Mapping[str, Operator] = {
    "==": "=", "≠": "!=", "<>": "!=", "≤": "<=", "≥": ">=",
    "before": "<", "after": ">", "since": ">=", "from": ">=", "until": "<=", "by": "<=", "in": "=",
}  # fmt: skip
"""Other ways to write operators; those of days, too."""


def select(rows: Rows, conditions: Sequence[Condition]) -> tuple[Rows, Rows]:
    """Rows that meet all conditions, and the undecided: those that fail none, but have no value to compare."""
    judged = [(row, {meets(row.cells[at], operator, value) for at, operator, value in conditions}) for row in rows]
    return (
        [row for row, verdicts in judged if verdicts <= {True}],
        [row for row, verdicts in judged if None in verdicts and False not in verdicts],
    )


def meets(cell: str, operator: Operator, wanted: str) -> bool | None:
    """Whether a cell meets a condition; None when it cannot be compared. A date is compared with a day, a month or a
    year («2025»), an amount with an amount of the same unit, a name without its legal form."""
    if not cell:
        return None
    if operator == "contains":
        return plain(wanted) in plain(cell) or _says(cell, wanted)
    sides = _sides(cell, wanted)
    if operator in ("=", "!="):
        if not (day(cell) or (is_only_amount(cell) and is_only_amount(wanted))):
            is_equal = set(name_words(wanted)) <= set(name_words(cell)) or _says(cell, wanted)
        elif sides is None:
            return None
        else:
            is_equal = sides[1] <= sides[0] <= sides[2]
        return is_equal is (operator == "=")
    if sides is None:
        return None
    value, first, last = sides
    return {"<": value < first, "<=": value <= last, ">": value > last, ">=": value >= first}[operator]


def _says(cell: str, wanted: str) -> bool:
    return bool(stems(wanted)) and stems(wanted) <= stems(cell)


def _sides(cell: str, wanted: str) -> tuple[Decimal, Decimal, Decimal] | None:
    """What is compared, as numbers: a cell, and the ends of the condition's value (a year has two)."""
    written, span = day(cell), period(wanted)
    if written and span:
        return Decimal(written.toordinal()), Decimal(span[0].toordinal()), Decimal(span[1].toordinal())
    mine, limit = amount(cell), amount(wanted)
    if mine is None or limit is None or (mine.unit and limit.unit and mine.unit != limit.unit):
        return None
    return mine.value, limit.value, limit.value


def sort(rows: Rows, place: int, order: Order) -> Rows:
    """By dates, numbers or words, whichever the column mostly holds; rows with no such value come last."""
    keys = _keys([row.cells[place] for row in rows])
    known = [(key, row) for key, row in zip(keys, rows, strict=True) if key is not None]
    known.sort(key=lambda each: each[0], reverse=order == "desc")
    return [*(row for _, row in known), *(row for key, row in zip(keys, rows, strict=True) if key is None)]


def _keys(cells: Sequence[str]) -> list[tuple[str, Decimal] | tuple[str, date] | tuple[str, str] | None]:
    """Sort keys of one kind, the kind of most cells; None for a cell of another kind."""
    days, amounts = [day(cell) for cell in cells], [amount(cell) for cell in cells]
    if sum(each is not None for each in days) * 2 > len(cells):
        return [None if each is None else ("", each) for each in days]
    if sum(each is not None for each in amounts) * 2 > len(cells):
        return [None if each is None else (each.unit, each.value) for each in amounts]
    return [("", plain(cell)) if cell else None for cell in cells]


def group(rows: Rows, place: int, period: Period | None = None) -> dict[str, Rows]:
    """Groups by the cells' words, ignoring punctuation, case and legal forms; the largest first, ties in order of
    appearance. With a period by dates, the earliest first; cells without a date have no name and come last."""
    groups: dict[tuple[str, ...], list[MergedRow]] = {}
    for row in rows:
        cell = row.cells[place]
        groups.setdefault((_period_of(cell, period),) if period else name_words(cell), []).append(row)
    if period:
        return {key[0]: groups[key] for key in sorted(groups, key=lambda key: key[0] or "~")}
    return {each[0].cells[place]: each for each in sorted(groups.values(), key=len, reverse=True)}


def _period_of(cell: str, period: Period) -> str:
    """«2025», «2025-03», «2025 Q1»; empty without a date."""
    found = day(cell)
    if found is None:
        return ""
    if period == "quarter":
        return f"{found.year} Q{(found.month + 2) // 3}"
    return f"{found.year}" if period == "year" else f"{found:%Y-%m}"


def aggregate_column(rows: Rows, place: int, aggregate: Aggregate, *, language: str) -> tuple[list[Total], int]:
    """The aggregate of one column, and the number of rows without a value. None for `count` and `none`: the number of
    rows is always given anyway. A column of dates has a minimum and a maximum, but no sum."""
    if aggregate in ("none", "count"):
        return [], 0
    days = [(found, row) for row in rows if (found := day(row.cells[place])) is not None]
    if aggregate in ("min", "max") and len(days) * 2 > len(rows):
        end = (min if aggregate == "min" else max)(days, key=lambda each: each[0])
        return [(end[1].cells[place], end[1])], len(rows) - len(days)
    read = [(number, row) for row in rows if (number := amount(row.cells[place])) is not None]
    units = list(dict.fromkeys(found.unit for found, _ in read if found.unit))
    by_unit: dict[str, list[tuple[Amount, MergedRow]]] = {}
    for each in read:  # amounts without a unit join the others if these have only one
        by_unit.setdefault(each[0].unit or (units[0] if len(units) == 1 else ""), []).append(each)
    frequent = sorted(by_unit.items(), key=lambda each: -len(each[1]))
    return [_total(own, aggregate, unit, language) for unit, own in frequent], len(rows) - len(read)


def _total(read: Sequence[tuple[Amount, MergedRow]], aggregate: Aggregate, unit: str, language: str) -> Total:
    if aggregate in ("min", "max"):
        found, row = (min if aggregate == "min" else max)(read, key=lambda each: each[0].value)
        return shown(found.value, unit, language=language), row
    whole = sum((found.value for found, _ in read), Decimal(0))
    return shown(whole if aggregate == "sum" else whole / len(read), unit, language=language), None


def shown(value: Decimal, unit: str, *, language: str) -> str:
    """«1 234 567,50 ₽», "1,234,567.50 $"; whole numbers without decimals."""
    rounded = value.quantize(Decimal("0.01"), ROUND_HALF_UP)
    digits = f"{rounded:,.2f}" if rounded != rounded.to_integral_value() else f"{rounded.to_integral_value():,}"
    if language == "ru":
        digits = digits.replace(",", "\u00a0").replace(".", ",")
    return f"{digits}\u00a0{unit}" if unit else digits
