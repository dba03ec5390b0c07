"""A table as a tool's payload: numbers first, then remarks and disagreements, then the rows.

In: what is asked of the rows, things merged from all documents. Out: facts, each row with the passages that say its
values, and the whole table for a file. The counts and sums made here are the only ones that an answer may give; where
documents disagree about a value that they depend on, the other result is given, too. Pure.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from domain.ids import DocumentId
from prompts.wordings import Wordings
from rag.execution.computing import (
    SPELLED,
    Aggregate,
    Condition,
    Operator,
    Order,
    Period,
    Rows,
    Total,
    aggregate_column,
    group,
    select,
    sort,
)
from rag.execution.documents import MAX_NAMED, DocumentName
from rag.execution.facts import Fact, FactKind, FactsPayload, said_by
from rag.execution.ledger import conflict_facts, in_words
from rag.execution.merging import Changed, Comparison, MergedRow, conflicts_of
from rag.planning.tool import ToolArguments
from rag.records import DocumentsRead, FactTable, TableRow
from rag.words import plain

MOST_NAMED = 10  # things that a remark names
MAX_COLUMNS = 6
BETWEEN = "between"  # of conditions: two of them
_ENDS = (">=", "<=")
_RANGE = re.compile(r"\s*\.\.\s*|\s+[–—-]\s+")

ColumnName = Annotated[str, Field(min_length=1, max_length=60)]


class WantedRows(ToolArguments):
    """A condition on a column."""

    column: ColumnName
    op: Annotated[Operator, BeforeValidator(lambda raw: SPELLED.get(str(raw).casefold(), raw))]
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
        conditions = value if isinstance(value, list | tuple) else [value]
        return None if value is None else [end for each in conditions for end in _ends(each)]

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

    @property
    def key_places(self) -> tuple[int, ...]:
        """The columns that tell things apart."""
        return tuple(map(self.place, self.key or self.columns[:1]))


def _ends(condition: object) -> list[object]:
    if not isinstance(condition, dict) or condition.get("op") != BETWEEN:
        return [condition]
    value = condition.get("value")
    ends = _RANGE.split(value, maxsplit=1) if isinstance(value, str) else value
    if not isinstance(ends, list | tuple) or len(ends) != len(_ENDS):
        raise ValueError(f"{BETWEEN}: give the first and the last value, «2025-01-01..2025-03-31»")
    return [{**condition, "op": op, "value": end} for op, end in zip(_ENDS, ends, strict=True)]


@dataclass(frozen=True, kw_only=True)
class TableWriter:
    """Makes payloads of what is asked, in one language; `dropped`: rows that the model gave but the text does not
    support. They are mentioned: they may seem to be missing from their document."""

    asked: RowsArguments
    words: Wordings
    language: str
    documents: DocumentsRead
    dropped: int

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Their names."""
        return self.asked.all_columns

    @cached_property
    def of(self) -> int | None:
        """The column that something is worked out of."""
        is_none = self.asked.of is None or self.asked.aggregate in ("none", "count")
        return None if is_none else self.asked.place(self.asked.of or "")

    @cached_property
    def conditions(self) -> list[Condition]:
        """Those of the arguments, by the places of their columns."""
        wanted = self.asked.where or ()
        return [(self.asked.place(each.column), each.op, each.value) for each in wanted]

    @cached_property
    def places(self) -> list[int]:
        """The columns that counts and sums depend on."""
        grouped = [self.asked.place(self.asked.group_by)] if self.asked.group_by else []
        worked_out = [] if self.of is None else [self.of]
        return sorted({*worked_out, *grouped, *(place for place, _, _ in self.conditions)})

    def rows(self, things: Rows, *, came: Mapping[DocumentId, datetime]) -> FactsPayload:
        """The payload of a table; without facts when there are no things, so that a fallback search may still find
        something."""
        if not things:
            return FactsPayload(documents=self.documents)
        words, asked, documents = self.words, self.asked, self.documents
        rows, undecided = self._selected(things)
        conflicts = conflicts_of(rows, self.columns, came)
        facts = (
            *self._counts(rows),
            *([] if rows else [self._number(words.nothing_fits.format(count=len(things)))]),
            *self._otherwise(rows, things),
            *self._replaced(rows),
            *self._undecided(undecided),
            *self._outdated(things if asked.current else rows),
            *self._left_out(),
            *self._groups(rows),
            *(fact for each in conflicts for fact in conflict_facts(each, words)),
            *(
                fact
                for number, row in enumerate(rows)
                for fact in self._row_facts(row, item=f"{asked.what} {number}: {row.cells[0]}")
            ),
        )
        return FactsPayload(
            facts=facts,
            coverage=documents.read / documents.total if documents.total else 0.0,
            documents=documents,
            table=FactTable(title=asked.what, columns=self.columns, rows=tuple(rows)) if rows else None,
            conflicts=tuple(in_words(each, words) for each in conflicts),
        )

    def changes(self, found: Comparison, names: tuple[str, str]) -> FactsPayload:
        """The payload of a comparison of two documents, the earlier one first; both sides of a change can be cited."""
        words = self.words
        facts = [fact for change in found.changed for fact in self._change_facts(change)]
        for name, rows in zip(names, (found.removed, found.added), strict=True):
            heading = words.only_in.format(document=name)
            facts += [fact for row in rows for fact in self._row_facts(row, item=f"{heading}: {row}", heading=heading)]
        if not facts and not found.same:
            return FactsPayload(documents=self.documents)
        same = self._number(words.same.format(count=found.same))
        lines = tuple(self._change_lines(found))
        table = FactTable(title=self.asked.what, columns=(self.columns[0], words.column, *names), rows=lines)
        return FactsPayload(
            facts=(same, *self._left_out(), *facts),
            coverage=1.0,
            documents=self.documents,
            table=table if lines else None,
        )

    def _selected(self, things: Rows) -> tuple[Rows, Rows]:
        """Those that meet the conditions, in order, and those of which nobody can tell."""
        asked = self.asked
        rows, undecided = select([each for each in things if not (asked.current and each.is_outdated)], self.conditions)
        return (sort(rows, asked.place(asked.sort_by), asked.order) if asked.sort_by else rows), undecided

    def _totals(self, rows: Rows) -> tuple[list[Total], int]:
        if self.of is None:
            return [], 0
        return aggregate_column(rows, self.of, self.asked.aggregate, language=self.language)

    def _counts(self, rows: Rows) -> Iterator[Fact]:
        """The count; then the aggregate, a minimum or maximum with the first cell of its row: the row itself may be
        left out of the answer."""
        read, total = self.documents.read, self.documents.total
        partial = f" ({self.words.partial.format(read=read, total=total)})" if read < total else ""
        yield self._number(self.words.count.format(what=self.asked.what, count=len(rows)) + partial)
        totals, unread = self._totals(rows)
        for shown, row in totals:
            text = self._total_text(shown)
            if row is None:
                yield self._number(text)
            else:
                named = f"{text}; {self.columns[0]}: {row.cells[0]}"
                yield said_by(row.sources[self.of or 0], FactKind.VALUE, named)
        if unread:
            yield self._number(self.words.unread.format(column=self.columns[self.of or 0], count=unread))

    def _total_text(self, shown: str) -> str:
        worded: str = getattr(self.words, self.asked.aggregate)
        return worded.format(column=self.columns[self.of or 0], value=shown)

    def _otherwise(self, rows: Rows, things: Rows) -> Iterator[Fact]:
        """What the same comes to with the values of the documents that disagree, where that is something else."""

        def result(rows: Rows) -> list[str]:
            count = self.words.count.format(what=self.asked.what, count=len(rows))
            return [count, *(self._total_text(shown) for shown, _ in self._totals(rows)[0])]

        others = [thing.otherwise() for thing in things]
        told = result(self._selected(others)[0])
        if told != result(rows):
            changed = [
                f"{thing.cells[0]}, {self.columns[place]}: {other.cells[place]}"
                for thing, other in zip(things, others, strict=True)
                for place in self.places
                if thing.cells[place] != other.cells[place]
            ]
            yield self._number(self.words.otherwise.format(values=_listed(changed), result="; ".join(told)))

    def _replaced(self, rows: Rows) -> Iterator[Fact]:
        """That counts and sums stand on the last values: of lists that are no versions of each other (monthly bills
        without a month in the key) all would have to be added up."""
        former = [
            f"{row.cells[0]}, {self.columns[place]}: {each.value}"
            for row in rows
            for place in self.places
            for each in row.formerly(place)
        ]
        if former:
            yield self._number(self.words.replaced.format(values=_listed(former)))

    def _undecided(self, rows: Rows) -> Iterator[Fact]:
        told = []
        for row in rows:
            known = [
                f"{self.columns[place]}: {row.cells[place]}" for place in self.places if place and row.cells[place]
            ]
            told.append(", ".join((row.cells[0], *known)))
        if told:
            yield self._number(self.words.undecided.format(count=len(rows), names=_listed(told)))

    def _outdated(self, rows: Rows) -> Iterator[Fact]:
        wording = self.words.outdated_out if self.asked.current else self.words.outdated
        if names := [row.cells[0] for row in rows if row.is_outdated]:
            yield self._number(wording.format(count=len(names), names=_listed(names)))

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
                fields.append((self.columns[self.of], ", ".join(shown for shown, _ in self._totals(own)[0])))
            text = "; ".join(f"{name}: {value}" for name, value in fields if value)
            yield replace(self._number(text), fields=tuple(fields))

    def _row_facts(self, row: MergedRow, *, item: str, heading: str = "") -> Iterator[Fact]:
        """The row as text and with its columns, from the passage that says most of it; then, for each other passage,
        the values that it says, without a title: they belong to the same item and let an answer cite it."""
        said = {place: row.sources[place].passage.chunk_id for place, cell in enumerate(row.cells) if cell}
        main = Counter(said.values()).most_common(1)[0][0]
        places = {row.sources[place].passage.chunk_id: row.sources[place] for place in said}
        fields = tuple((self.columns[place], row.cells[place]) for place in said)
        text = self._told(row, said)
        whole = said_by(places.pop(main), FactKind.VALUE, f"{heading}: {text}" if heading else text)
        yield replace(whole, fields=fields, item=item if places else "")
        for chunk, source in places.items():
            own = dict.fromkeys((0, *(place for place in said if said[place] == chunk)))
            yield replace(said_by(source, FactKind.VALUE, self._told(row, own)), title="", item=item)

    def _told(self, row: MergedRow, places: Mapping[int, object]) -> str:
        told = []
        for place in places:
            formerly = "; ".join(each.value for each in row.formerly(place))
            before = f" ({self.words.formerly} {formerly})" if formerly else ""
            told.append(f"{self.columns[place]}: {row.cells[place]}{before}")
        return "; ".join(told)

    def _change_facts(self, change: Changed) -> Iterator[Fact]:
        before, after = change.before, change.after
        told = (f"{self.columns[place]}: {before.cells[place]} → {after.cells[place]}" for place in change.places)
        text = f"{self.words.changed}: {after.cells[0]}; {'; '.join(told)}"
        for side in (after, before):
            yield replace(said_by(side.sources[change.places[0]], FactKind.VALUE, text), item=text)

    def _change_lines(self, found: Comparison) -> Iterator[TableRow]:
        for before, after, place in (
            (each.before, each.after, place) for each in found.changed for place in each.places
        ):
            cells = (after.cells[0], self.columns[place], before.cells[place], after.cells[place])
            sources = (after.sources[0], after.sources[0], before.sources[place], after.sources[place])
            yield TableRow(cells=cells, sources=sources)
        for rows, is_added in ((found.removed, False), (found.added, True)):
            for row in rows:
                said = "; ".join(filter(None, row.cells[1:])) or row.cells[0]
                cells = (row.cells[0], "", "", said) if is_added else (row.cells[0], "", said, "")
                yield TableRow(cells=cells, sources=(row.sources[0],) * 4)

    def _number(self, text: str) -> Fact:
        return Fact(kind=FactKind.VALUE, text=text, title=self.asked.what)


def _listed(names: Sequence[str]) -> str:
    return "; ".join((*names[:MOST_NAMED], *(["…"] if len(names) > MOST_NAMED else [])))
