"""Filters, counts, sums, groups and sorts rows, and tells them as a tool's payload.

In: what is asked of the rows, things merged from all documents. Out: facts, first numbers, then remarks and
disagreements, then each row with the passages that say its values; and the whole table for a file. The counts and sums
made here are the only ones that an answer may give. Amounts of different units are never added or compared; a cell
without a number or date is counted as unread or undecided, never guessed. Pure.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from domain.ids import DocumentId
from prompts.wordings import Wordings
from rag.execution.documents import MAX_NAMED, DocumentName
from rag.execution.facts import Fact, FactKind, FactsPayload, said_by
from rag.execution.ledger import worded
from rag.execution.merging import conflicts_of
from rag.planning.tool import ToolArguments
from rag.records import DocumentsRead, FactTable, TableRow
from rag.values import Amount, amount, day, is_only_amount, name_words, period
from rag.words import plain, stems

MOST_NAMED = 10  # things that a remark names
MAX_COLUMNS = 6

_RANGE = re.compile(r"\s*\.\.\s*|\s+[–—-]\s+")

Rows = Sequence[TableRow]
Aggregate = Literal["none", "count", "sum", "min", "max", "avg"]  # what is worked out of a column
Order = Literal["asc", "desc"]
Period = Literal["year", "quarter", "month"]  # by which dates are grouped
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "contains"]

Total = tuple[str, TableRow | None]  # one number of one unit, as it is shown; for min and max with the row that has it

_SPELLED: Mapping[str, Operator] = {  # other ways to write operators; those of days, too
    "==": "=", "≠": "!=", "<>": "!=", "≤": "<=", "≥": ">=",
    "before": "<", "after": ">", "since": ">=", "from": ">=", "until": "<=", "by": "<=", "in": "=",
}  # fmt: skip

ColumnName = Annotated[str, Field(min_length=1, max_length=60)]


class WantedRows(ToolArguments):
    """A condition on a column."""

    column: ColumnName
    op: Annotated[Operator, BeforeValidator(lambda raw: _SPELLED.get(str(raw).casefold(), raw))]
    value: Annotated[str, BeforeValidator(str), Field(min_length=1, max_length=200)]


class RowsArguments(ToolArguments):
    """What a row is, and what is worked out of the rows."""

    what: str = Field(min_length=1, max_length=200)
    columns: tuple[ColumnName, ...] = Field(min_length=1, max_length=MAX_COLUMNS)
    documents: tuple[DocumentName, ...] | None = Field(None, max_length=MAX_NAMED)
    where: tuple[WantedRows, ...] | None = Field(None, max_length=8)  # «between» makes two
    key: tuple[ColumnName, ...] | None = Field(None, max_length=MAX_COLUMNS)
    current: bool = False
    aggregate: Aggregate = "none"
    of: ColumnName | None = None
    group_by: ColumnName | None = None
    period: Period | None = None
    sort_by: ColumnName | None = None
    order: Order = "asc"
    changes: bool = False

    @field_validator("where", mode="before")
    @classmethod
    def _without_between(cls, value: object) -> object:
        """«between» with two values as a condition for each end, both included."""
        if value is None:
            return None
        conditions: list[object] = []
        for each in value if isinstance(value, list | tuple) else [value]:
            if not isinstance(each, dict) or each.get("op") != "between":
                conditions.append(each)
                continue
            ends = _RANGE.split(said, maxsplit=1) if isinstance(said := each.get("value"), str) else said
            if not isinstance(ends, list | tuple) or len(ends) != 2:
                raise ValueError("between: give the first and the last value, «2025-01-01..2025-03-31»")
            conditions += [{**each, "op": op, "value": end} for op, end in zip((">=", "<="), ends, strict=True)]
        return conditions

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.aggregate not in ("none", "count") and self.of is None:
            raise ValueError(f"of: name the column that {self.aggregate} is worked out of")
        if self.changes and self.documents is not None and len(self.documents) != 2:
            raise ValueError("changes: name exactly two documents, the earlier one first")
        return self

    @cached_property
    def all_columns(self) -> tuple[str, ...]:
        """`columns`, and those that are named elsewhere only."""
        named = (*(each.column for each in self.where or ()), *(self.key or ()), self.of, self.group_by, self.sort_by)
        columns: dict[str, str] = {}
        for name in (*self.columns, *filter(None, named)):
            columns.setdefault(plain(name), name)
        return tuple(columns.values())

    def place(self, name: str) -> int:
        """Index of a column."""
        return [plain(column) for column in self.all_columns].index(plain(name))


@dataclass(kw_only=True)
class TableWriter:
    """Makes payloads of what is asked, in one language; `dropped`: rows that the model gave but the text does not
    support. They are mentioned: they may seem to be missing from their document."""

    asked: RowsArguments
    words: Wordings
    language: str
    documents: DocumentsRead
    dropped: int

    def __post_init__(self) -> None:
        asked = self.asked
        self.columns = asked.all_columns
        self.of = asked.place(asked.of) if asked.of and asked.aggregate not in ("none", "count") else None
        self.conditions = [(asked.place(each.column), each.op, each.value) for each in asked.where or ()]
        grouped = [asked.place(asked.group_by)] if asked.group_by else []
        worked_out = [] if self.of is None else [self.of]
        self.places = sorted({*worked_out, *grouped, *(place for place, _, _ in self.conditions)})

    def rows(self, things: Rows, *, came: Mapping[DocumentId, datetime]) -> FactsPayload:
        """The payload of a table; without facts when there are no things, so that a fallback search may still find
        something."""
        if not things:
            return FactsPayload(documents=self.documents)
        words, asked, documents = self.words, self.asked, self.documents
        rows, undecided = self._selected(things)
        conflicts, disagreements = worded(conflicts_of(rows, self.columns, came), words)
        remarks = map(self._number, self._remarks(rows, things, undecided))
        facts = [*self._counts(rows), *remarks, *self._left_out(), *self._groups(rows), *disagreements]
        for number, row in enumerate(rows):
            facts += self._row_facts(row, item=f"{asked.what} {number}: {row.cells[0]}")
        return FactsPayload(
            facts=tuple(facts),
            coverage=documents.read / documents.total if documents.total else 0.0,
            documents=documents,
            table=FactTable(title=asked.what, columns=self.columns, rows=tuple(rows)) if rows else None,
            conflicts=conflicts,
        )

    def changes(self, things: Rows, names: tuple[str, str]) -> FactsPayload:
        """The payload of a comparison of two documents, the earlier one first; both sides of a change can be cited."""
        if not things:
            return FactsPayload(documents=self.documents)
        words, facts, lines, same = self.words, list[Fact](), list[TableRow](), 0
        for thing in sorted(things, key=lambda each: (each.is_new, each.is_outdated)):
            changed = [place for place in range(len(thing.cells)) if thing.formerly(place)]
            if thing.is_outdated or thing.is_new:
                heading = words.only_in.format(document=names[thing.is_new])
                facts += self._row_facts(thing, item=f"{heading}: {thing}", heading=heading)
                said = "; ".join(filter(None, thing.cells[1:])) or thing.cells[0]
                cells = (thing.cells[0], "", "", said) if thing.is_new else (thing.cells[0], "", said, "")
                lines.append(TableRow(cells=cells, sources=(thing.sources[0],) * 4))
            elif changed:
                before = {place: thing.formerly(place)[0] for place in changed}
                told = (f"{self.columns[at]}: {before[at].value} → {thing.cells[at]}" for at in changed)
                text = f"{words.changed}: {thing.cells[0]}; {'; '.join(told)}"
                sides = (thing.sources[changed[0]], before[changed[0]].source)
                facts += [replace(said_by(side, FactKind.VALUE, text), item=text) for side in sides]
                for at in changed:
                    cells = (thing.cells[0], self.columns[at], before[at].value, thing.cells[at])
                    first, after = thing.sources[0], thing.sources[at]
                    lines.append(TableRow(cells=cells, sources=(first, first, before[at].source, after)))
            else:
                same += 1
        table = FactTable(title=self.asked.what, columns=(self.columns[0], words.column, *names), rows=tuple(lines))
        return FactsPayload(
            facts=(self._number(words.same.format(count=same)), *self._left_out(), *facts),
            coverage=1.0,
            documents=self.documents,
            table=table if lines else None,
        )

    def _selected(self, things: Rows) -> tuple[Rows, Rows]:

        asked = self.asked
        rows, undecided = select([each for each in things if not (asked.current and each.is_outdated)], self.conditions)
        return (sort(rows, asked.place(asked.sort_by), asked.order) if asked.sort_by else rows), undecided

    def _totals(self, rows: Rows) -> tuple[list[Total], int]:
        return aggregate_column(rows, self.of or 0, self.asked.aggregate, language=self.language)

    def _counts(self, rows: Rows) -> Iterator[Fact]:
        """The count; then the aggregate, a minimum or maximum with the first cell of its row: the row itself may be
        left out of the answer."""
        read, total = self.documents.read, self.documents.total
        partial = f" ({self.words.partial.format(read=read, total=total)})" if read < total else ""
        yield self._number(self.words.count.format(what=self.asked.what, count=len(rows)) + partial)
        totals, unread = self._totals(rows)
        for number, row in totals:
            text = self._total_text(number)
            if row is None:
                yield self._number(text)
            else:
                named = f"{text}; {self.columns[0]}: {row.cells[0]}"
                yield said_by(row.sources[self.of or 0], FactKind.VALUE, named)
        if unread:
            yield self._number(self.words.unread.format(column=self.columns[self.of or 0], count=unread))

    def _total_text(self, number: str) -> str:
        worded: str = getattr(self.words, self.asked.aggregate)
        return worded.format(column=self.columns[self.of or 0], value=number)

    def _remarks(self, rows: Rows, things: Rows, undecided: Rows) -> Iterator[str]:

        words, columns = self.words, self.columns
        if not rows:
            yield words.nothing_fits.format(count=len(things))
        yield from self._otherwise(rows, things)
        # Counts and sums stand on the last values: of lists that are no versions of each other (monthly bills without a
        # month in the key) all would have to be added up.
        former = [(row, at, each) for row in rows for at in self.places for each in row.formerly(at)]
        if former:
            told = [f"{row.cells[0]}, {columns[at]}: {each.value}" for row, at, each in former]
            yield words.replaced.format(values=_listed(told))
        if undecided:
            places = [at for at in self.places if at]
            known = ([f"{columns[at]}: {row.cells[at]}" for at in places if row.cells[at]] for row in undecided)
            told = [", ".join((row.cells[0], *said)) for row, said in zip(undecided, known, strict=True)]
            yield words.undecided.format(count=len(undecided), names=_listed(told))
        if old := [row.cells[0] for row in (things if self.asked.current else rows) if row.is_outdated]:
            wording = words.outdated_out if self.asked.current else words.outdated
            yield wording.format(count=len(old), names=_listed(old))

    def _otherwise(self, rows: Rows, things: Rows) -> Iterator[str]:
        """What the same comes to with the values of the documents that disagree, where that is something else."""

        def result(rows: Rows) -> list[str]:
            count = self.words.count.format(what=self.asked.what, count=len(rows))
            return [count, *(self._total_text(number) for number, _ in self._totals(rows)[0])]

        others = [thing.otherwise() for thing in things]
        told = result(self._selected(others)[0])
        if told != result(rows):
            both = [(thing, other, at) for thing, other in zip(things, others, strict=True) for at in self.places]
            unlike = [(thing, other, at) for thing, other, at in both if thing.cells[at] != other.cells[at]]
            changed = [f"{thing.cells[0]}, {self.columns[at]}: {other.cells[at]}" for thing, other, at in unlike]
            yield self.words.otherwise.format(values=_listed(changed), result="; ".join(told))

    def _left_out(self) -> Iterator[Fact]:
        """Remarks on the rows; they have no title, so they do not count as some of them."""
        remarks = ((self.words.dropped, self.dropped), (self.words.missing, self.documents.missing_rows))
        yield from (Fact(kind=FactKind.VALUE, text=said.format(count=count)) for said, count in remarks if count)

    def _groups(self, rows: Rows) -> Iterator[Fact]:
        if self.asked.group_by is None:
            return
        place = self.asked.place(self.asked.group_by)
        for name, own in group(rows, place, self.asked.period).items():
            fields = [(self.columns[place], name or "—"), (self.words.rows, str(len(own)))]
            if self.of is not None:
                fields.append((self.columns[self.of], ", ".join(number for number, _ in self._totals(own)[0])))
            text = "; ".join(f"{name}: {value}" for name, value in fields if value)
            yield replace(self._number(text), fields=tuple(fields))

    def _row_facts(self, row: TableRow, *, item: str, heading: str = "") -> Iterator[Fact]:
        """The row as text and with its columns, from the passage that says most of it; then, for each other passage,
        the values that it says, without a title: they belong to the same item and let an answer cite it."""
        said = {place: row.sources[place].chunk_id for place, cell in enumerate(row.cells) if cell}
        main = Counter(said.values()).most_common(1)[0][0]
        places = {row.sources[place].chunk_id: row.sources[place] for place in said}
        fields = tuple((self.columns[place], row.cells[place]) for place in said)
        text = self._told(row, said)
        whole = said_by(places.pop(main), FactKind.VALUE, f"{heading}: {text}" if heading else text)
        yield replace(whole, fields=fields, item=item if places else "")
        for chunk, source in places.items():
            own = dict.fromkeys((0, *(place for place in said if said[place] == chunk)))
            yield replace(said_by(source, FactKind.VALUE, self._told(row, own)), title="", item=item)

    def _told(self, row: TableRow, places: Mapping[int, object]) -> str:
        told = []
        for place in places:
            formerly = "; ".join(each.value for each in row.formerly(place))
            before = f" ({self.words.formerly} {formerly})" if formerly else ""
            told.append(f"{self.columns[place]}: {row.cells[place]}{before}")
        return "; ".join(told)

    def _number(self, text: str) -> Fact:
        return Fact(kind=FactKind.VALUE, text=text, title=self.asked.what)


def _listed(names: Sequence[str]) -> str:
    return "; ".join((*names[:MOST_NAMED], *(["…"] if len(names) > MOST_NAMED else [])))


def select(rows: Rows, conditions: Sequence[tuple[int, Operator, str]]) -> tuple[Rows, Rows]:
    """Rows that meet all conditions (a column's place, operator, value), and the undecided: those that fail none, but
    have no value to compare."""
    judged = [(row, {meets(row.cells[at], operator, value) for at, operator, value in conditions}) for row in rows]
    undecided = [row for row, verdicts in judged if None in verdicts and False not in verdicts]
    return [row for row, verdicts in judged if verdicts <= {True}], undecided


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
    cells = [row.cells[place] for row in rows]
    days, amounts = [day(cell) for cell in cells], [amount(cell) for cell in cells]
    keys: list[Any] = [plain(cell) if cell else None for cell in cells]
    if len(cells) < 2 * sum(each is not None for each in days):
        keys = list(days)
    elif len(cells) < 2 * sum(each is not None for each in amounts):
        keys = [each and (each.unit, each.value) for each in amounts]
    known = [(key, row) for key, row in zip(keys, rows, strict=True) if key is not None]
    known.sort(key=lambda each: each[0], reverse=order == "desc")
    return [*(row for _, row in known), *(row for key, row in zip(keys, rows, strict=True) if key is None)]


def group(rows: Rows, place: int, period: Period | None = None) -> dict[str, Rows]:
    """Groups by the cells' words, ignoring punctuation, case and legal forms; the largest first, ties in order of
    appearance. With a period by dates, the earliest first; cells without a date have no name and come last."""
    groups: dict[tuple[str, ...], list[TableRow]] = {}
    for row in rows:
        cell, name = row.cells[place], ""
        if period and (found := day(cell)):
            quarter = f"{found.year} Q{(found.month + 2) // 3}"
            name = {"year": f"{found.year}", "quarter": quarter, "month": f"{found:%Y-%m}"}[period]
        groups.setdefault((name,) if period else name_words(cell), []).append(row)
    if period:
        return {key[0]: groups[key] for key in sorted(groups, key=lambda key: key[0] or "~")}
    return {each[0].cells[place]: each for each in sorted(groups.values(), key=len, reverse=True)}


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
    by_unit: dict[str, list[tuple[Amount, TableRow]]] = {}
    for each in read:  # amounts without a unit join the others if these have only one
        by_unit.setdefault(each[0].unit or (units[0] if len(units) == 1 else ""), []).append(each)
    totals: list[Total] = []
    for unit, own in sorted(by_unit.items(), key=lambda each: -len(each[1])):
        if aggregate in ("min", "max"):
            extreme, row = (min if aggregate == "min" else max)(own, key=lambda each: each[0].value)
            totals.append((shown(extreme.value, unit, language=language), row))
        else:
            whole = sum((found.value for found, _ in own), Decimal(0))
            value = whole if aggregate == "sum" else whole / len(own)
            totals.append((shown(value, unit, language=language), None))
    return totals, len(rows) - len(read)


def shown(value: Decimal, unit: str, *, language: str) -> str:
    """«1 234 567,50 ₽», "1,234,567.50 $"; whole numbers without decimals."""
    rounded = value.quantize(Decimal("0.01"), ROUND_HALF_UP)
    digits = f"{rounded:,.2f}" if rounded != rounded.to_integral_value() else f"{rounded.to_integral_value():,}"
    if language == "ru":
        digits = digits.replace(",", "\u00a0").replace(".", ",")
    return f"{digits}\u00a0{unit}" if unit else digits
