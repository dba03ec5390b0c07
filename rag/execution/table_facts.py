"""A table as a tool's payload: numbers first, then remarks and disagreements, then the rows.

In: things merged from all documents, the conditions and what is worked out of them. Out: facts, each row with the
passages that say its values, and the whole table for a file. The counts and sums made here are the only ones that an
answer may give; where documents disagree about a value that they depend on, the other result is given, too. Pure.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from domain.ids import DocumentId
from prompts.wordings import Wordings
from rag.execution.computing import (
    Aggregate,
    Aggregated,
    Condition,
    Order,
    Period,
    Selected,
    aggregate_column,
    group,
    select,
    sort,
)
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.ledger import conflict_facts, in_words
from rag.execution.merging import Changed, Comparison, MergedRow, conflicts_of
from rag.records import DocumentsRead, FactTable, RankedPassage, TableRow

MOST_NAMED = 10  # things that a remark names


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """What is worked out of things, and in which words it is told. Columns are given by index."""

    row: str
    columns: tuple[str, ...]
    words: Wordings
    language: str
    conditions: tuple[Condition, ...] = ()
    current: bool = False  # without things that only earlier versions of documents have
    aggregate: Aggregate = Aggregate.NONE
    of: int | None = None
    group_by: int | None = None
    period: Period | None = None
    sort_by: int | None = None
    order: Order = Order.ASC

    def selected(self, things: Sequence[MergedRow]) -> Selected:
        """Those that meet the conditions, in order, and those of which nobody can tell."""
        found = select([thing for thing in things if not (self.current and thing.is_outdated)], self.conditions)
        return found if self.sort_by is None else replace(found, rows=sort(found.rows, self.sort_by, self.order))

    @property
    def places(self) -> frozenset[int]:
        """The columns that counts and sums depend on."""
        used = (self.of, self.group_by, *(each.place for each in self.conditions))
        return frozenset(place for place in used if place is not None)

    def aggregated(self, rows: Sequence[MergedRow]) -> Aggregated:
        """The aggregate, if there is one."""
        if self.of is None:
            return Aggregated(totals=())
        return aggregate_column(rows, self.of, self.aggregate, language=self.language)


def rows_payload(
    things: Sequence[MergedRow],
    asked: TableRequest,
    documents: DocumentsRead,
    *,
    came: Mapping[DocumentId, datetime],
    dropped: int = 0,
) -> FactsPayload:
    """The payload of a table; without facts when there are no things, so that a fallback search may still find
    something. `dropped`: rows that the model gave but the text does not support."""
    if not things:
        return FactsPayload(documents=documents)
    words, selected = asked.words, asked.selected(things)
    rows = selected.rows
    conflicts = conflicts_of(rows, asked.columns, came)
    facts = (
        *_counts(rows, asked, documents),
        *([] if rows else [_number(words.nothing_fits.format(count=len(things)), asked)]),
        *_otherwise(rows, things, asked),
        *_replaced(rows, asked),
        *_undecided(selected.undecided, asked),
        *_outdated(things, rows, asked),
        *_left_out(words.dropped, dropped),
        *_left_out(words.missing, documents.missing_rows),
        *_groups(rows, asked),
        *(fact for each in conflicts for fact in conflict_facts(each, words)),
        *(
            fact
            for number, row in enumerate(rows)
            for fact in _row_facts(row, asked, item=f"{asked.row} {number}: {row.cells[0]}")
        ),
    )
    return FactsPayload(
        facts=facts,
        coverage=documents.read / documents.total if documents.total else 0.0,
        documents=documents,
        table=FactTable(title=asked.row, columns=asked.columns, rows=rows) if rows else None,
        conflicts=tuple(in_words(each, words) for each in conflicts),
    )


def changes_payload(
    found: Comparison, names: tuple[str, str], asked: TableRequest, documents: DocumentsRead, *, dropped: int = 0
) -> FactsPayload:
    """The payload of a comparison of two documents, the earlier one first; both sides of a change can be cited.
    `dropped` rows are mentioned: they may seem to be missing from their document."""
    words = asked.words
    facts = [fact for change in found.changed for fact in _change_facts(change, asked)]
    for name, rows in zip(names, (found.removed, found.added), strict=True):
        heading = words.only_in.format(document=name)
        facts += [fact for row in rows for fact in _row_facts(row, asked, item=f"{heading}: {row}", heading=heading)]
    if not facts and not found.same:
        return FactsPayload(documents=documents)
    same = _number(words.same.format(count=found.same), asked)
    missing = _left_out(words.missing, documents.missing_rows)
    lines = tuple(_change_lines(found, asked))
    table = FactTable(title=asked.row, columns=(asked.columns[0], words.column, *names), rows=lines)
    return FactsPayload(
        facts=(same, *_left_out(words.dropped, dropped), *missing, *facts),
        coverage=1.0,
        documents=documents,
        table=table if lines else None,
    )


def _counts(rows: Sequence[MergedRow], asked: TableRequest, documents: DocumentsRead) -> Iterator[Fact]:
    text = asked.words.count.format(what=asked.row, count=len(rows))
    if documents.read < documents.total:
        text += f" ({asked.words.partial.format(read=documents.read, total=documents.total)})"
    yield _number(text, asked)
    if asked.of is None:
        return
    aggregated = asked.aggregated(rows)
    for total in aggregated.totals:
        text = _total_text(asked, total.shown)
        yield _end(total.row, text, asked) if total.row else _number(text, asked)
    if aggregated.unread:
        yield _number(asked.words.unread.format(column=asked.columns[asked.of], count=aggregated.unread), asked)


def _end(row: MergedRow, text: str, asked: TableRequest) -> Fact:
    """The minimum or maximum with the first cell of its row: the row itself may be left out of the answer."""
    return _fact(row.sources[asked.of or 0], f"{text}; {asked.columns[0]}: {row.cells[0]}")


def _otherwise(rows: Sequence[MergedRow], things: Sequence[MergedRow], asked: TableRequest) -> Iterator[Fact]:
    """What the same operation comes to with the values of the documents that disagree, where that is something else."""
    others = [thing.otherwise() for thing in things]
    told, result = _result(rows, asked), _result(asked.selected(others).rows, asked)
    if told != result:
        changed = (
            f"{thing.cells[0]}, {column}: {other.cells[place]}"
            for thing, other in zip(things, others, strict=True)
            for place, column in enumerate(asked.columns)
            if thing.cells[place] != other.cells[place] and place in asked.places
        )
        yield _number(asked.words.otherwise.format(values=_listed(list(changed)), result="; ".join(result)), asked)


def _result(rows: Sequence[MergedRow], asked: TableRequest) -> list[str]:
    count = asked.words.count.format(what=asked.row, count=len(rows))
    return [count, *(_total_text(asked, total.shown) for total in asked.aggregated(rows).totals)]


def _replaced(rows: Sequence[MergedRow], asked: TableRequest) -> Iterator[Fact]:
    """That counts and sums stand on the last values: of lists that are no versions of each other (monthly bills without
    a month in the key) all would have to be added up."""
    former = [
        f"{row.cells[0]}, {asked.columns[place]}: {each.value}"
        for row in rows
        for place in sorted(asked.places)
        for each in row.formerly(place)
    ]
    if former:
        yield _number(asked.words.replaced.format(values=_listed(former)), asked)


def _undecided(rows: Sequence[MergedRow], asked: TableRequest) -> Iterator[Fact]:
    places = sorted(asked.places - {0})
    told = (
        [row.cells[0], *(f"{asked.columns[place]}: {row.cells[place]}" for place in places if row.cells[place])]
        for row in rows
    )
    if names := _listed([", ".join(cells) for cells in told]):
        yield _number(asked.words.undecided.format(count=len(rows), names=names), asked)


def _outdated(things: Sequence[MergedRow], rows: Sequence[MergedRow], asked: TableRequest) -> Iterator[Fact]:
    wording = asked.words.outdated_out if asked.current else asked.words.outdated
    if names := [thing.cells[0] for thing in (things if asked.current else rows) if thing.is_outdated]:
        yield _number(wording.format(count=len(names), names=_listed(names)), asked)


def _listed(names: Sequence[str]) -> str:
    return "; ".join((*names[:MOST_NAMED], *(["…"] if len(names) > MOST_NAMED else [])))


def _left_out(wording: str, count: int) -> Iterator[Fact]:
    """A remark on the rows; it has no title, so it does not count as one of them."""
    if count:
        yield Fact(kind=FactKind.VALUE, text=wording.format(count=count))


def _groups(rows: Sequence[MergedRow], asked: TableRequest) -> Iterator[Fact]:
    if asked.group_by is None:
        return
    column = asked.columns[asked.group_by]
    for each in group(rows, asked.group_by, asked.period):
        fields = [(column, each.name or "—"), (asked.words.rows, str(len(each.rows)))]
        if asked.of is not None:
            totals = ", ".join(total.shown for total in asked.aggregated(each.rows).totals)
            fields.append((asked.columns[asked.of], totals))
        text = "; ".join(f"{name}: {value}" for name, value in fields if value)
        yield replace(_number(text, asked), fields=tuple(fields))


def _total_text(asked: TableRequest, value: str) -> str:
    wordings: Mapping[Aggregate, str] = {
        Aggregate.SUM: asked.words.sum,
        Aggregate.MIN: asked.words.min,
        Aggregate.MAX: asked.words.max,
        Aggregate.AVG: asked.words.avg,
    }
    return wordings[asked.aggregate].format(column=asked.columns[asked.of or 0], value=value)


def _row_facts(row: MergedRow, asked: TableRequest, *, item: str, heading: str = "") -> Iterator[Fact]:
    """The row as text and with its columns, from the passage that says most of it; then, for each other passage, the
    values that it says, without a title: they belong to the same item and let an answer cite it."""
    told = [(place, cell) for place, cell in enumerate(row.cells) if cell]
    said = {place: row.sources[place].passage.chunk_id for place, _ in told}
    main = Counter(said.values()).most_common(1)[0][0]
    places = {row.sources[place].passage.chunk_id: row.sources[place] for place in said}
    fields = tuple((asked.columns[place], cell) for place, cell in told)
    text = "; ".join(_told(row, place, asked) for place, _ in told)
    whole = _fact(places.pop(main), f"{heading}: {text}" if heading else text)
    yield replace(whole, fields=fields, item=item if places else "")
    for chunk, source in places.items():
        own = dict.fromkeys((0, *(place for place in said if said[place] == chunk)))
        yield replace(_fact(source, "; ".join(_told(row, place, asked) for place in own)), title="", item=item)


def _told(row: MergedRow, place: int, asked: TableRequest) -> str:
    formerly = "; ".join(each.value for each in row.formerly(place))
    told = f"{asked.columns[place]}: {row.cells[place]}"
    return f"{told} ({asked.words.formerly} {formerly})" if formerly else told


def _change_facts(change: Changed, asked: TableRequest) -> Iterator[Fact]:
    told = "; ".join(
        f"{asked.columns[place]}: {change.before.cells[place]} → {change.after.cells[place]}" for place in change.places
    )
    text = f"{asked.words.changed}: {change.after.cells[0]}; {told}"
    for side in (change.after, change.before):
        yield replace(_fact(side.sources[change.places[0]], text), item=text)


def _change_lines(found: Comparison, asked: TableRequest) -> Iterator[TableRow]:
    for change in found.changed:
        before, after = change.before, change.after
        for place in change.places:
            cells = (after.cells[0], asked.columns[place], before.cells[place], after.cells[place])
            yield TableRow(
                cells=cells, sources=(after.sources[0], after.sources[0], before.sources[place], after.sources[place])
            )
    for row in found.removed:
        yield TableRow(cells=(row.cells[0], "", _said(row), ""), sources=(row.sources[0],) * 4)
    for row in found.added:
        yield TableRow(cells=(row.cells[0], "", "", _said(row)), sources=(row.sources[0],) * 4)


def _said(row: MergedRow) -> str:
    return "; ".join(filter(None, row.cells[1:])) or row.cells[0]


def _number(text: str, asked: TableRequest) -> Fact:
    return Fact(kind=FactKind.VALUE, text=text, title=asked.row)


def _fact(source: RankedPassage, text: str) -> Fact:
    return Fact(
        kind=FactKind.VALUE,
        text=text,
        title=source.passage.name,
        passage=source,
        document=source.passage.document_id,
    )
