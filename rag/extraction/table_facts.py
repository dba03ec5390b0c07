"""A table as a tool's payload: numbers first, then conflicts, then the rows.

In: tabulated rows, and what was asked about them. Out: facts, each row with its passage and its columns, and the whole
table for a file. The counts and sums made here are the only ones that an answer may give. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from domain.ids import DocumentId
from prompts.wordings import Wordings
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.extraction.computing import Aggregate, Reckoned, group, reckon
from rag.extraction.conflicts import conflict_facts, document_name, in_words
from rag.extraction.merging import Changed, Comparison, Tabulated
from rag.extraction.rows import Row
from rag.records import DocumentsRead, FactTable, TableRow


@dataclass(frozen=True, kw_only=True)
class Telling:
    """What to say about rows, and in which words. `of` and `group_by` are indices of columns."""

    row: str
    columns: tuple[str, ...]
    words: Wordings
    language: str
    aggregate: Aggregate = Aggregate.NONE
    of: int | None = None
    group_by: int | None = None


def rows_payload(table: Tabulated, telling: Telling, documents: DocumentsRead, *, dropped: int = 0) -> FactsPayload:
    """The payload of a table; without facts when it has no rows, so that a fallback search may still find something.
    `dropped`: rows that the model gave but the text does not support. A remark says that the count may be too low when
    rows were dropped, or seen but not given."""
    if not table.rows:
        return FactsPayload(documents=documents)
    facts = (
        *_counts(table.rows, telling, documents),
        *_left_out(telling.words.dropped, dropped),
        *_left_out(telling.words.missing, documents.missing_rows),
        *(_groups(table.rows, telling)),
        *(fact for each in table.conflicts for fact in conflict_facts(each, telling.words)),
        *(row_fact(row, telling) for row in table.rows),
    )
    return FactsPayload(
        facts=facts,
        coverage=documents.read / documents.total if documents.total else 0.0,
        documents=documents,
        table=_file(table.rows, telling),
        conflicts=tuple(in_words(each, telling.words) for each in table.conflicts),
    )


def changes_payload(
    found: Comparison, names: tuple[str, str], telling: Telling, documents: DocumentsRead, *, dropped: int = 0
) -> FactsPayload:
    """The payload of a comparison of two documents, the earlier one first; both sides of a change can be cited.
    `dropped` rows are mentioned: they may seem to be missing from their document."""
    words = telling.words
    facts = [fact for change in found.changed for fact in _change_facts(change, telling)]
    for name, rows in zip(names, (found.removed, found.added), strict=True):
        facts += [row_fact(row, telling, heading=words.only_in.format(document=name)) for row in rows]
    if not facts and not found.same:
        return FactsPayload(documents=documents)
    same = Fact(kind=FactKind.VALUE, text=words.same.format(count=found.same), title=telling.row)
    missing = _left_out(words.missing, documents.missing_rows)
    facts = [same, *_left_out(words.dropped, dropped), *missing, *facts]
    lines = tuple(_change_lines(found, telling))
    table = FactTable(title=telling.row, columns=(telling.columns[0], words.column, *names), rows=lines)
    return FactsPayload(facts=tuple(facts), coverage=1.0, documents=documents, table=table if lines else None)


def row_fact(row: Row, telling: Telling, *, heading: str = "") -> Fact:
    """A row as text, and with its columns for a table."""
    fields = tuple((column, cell) for column, cell in zip(telling.columns, row.cells, strict=True) if cell)
    told = "; ".join(f"{column}: {cell}" for column, cell in fields)
    return _fact(row, f"{heading}: {told}" if heading else told, fields)


def _fact(row: Row, text: str, fields: tuple[tuple[str, str], ...] = ()) -> Fact:
    source = row.sources[0]
    return Fact(
        kind=FactKind.VALUE,
        text=text,
        title=document_name(source.passage),
        passage=source,
        document=DocumentId(source.passage.document_id),
        fields=fields,
    )


def _counts(rows: Sequence[Row], telling: Telling, documents: DocumentsRead) -> Iterator[Fact]:
    words = telling.words
    text = words.count.format(what=telling.row, count=len(rows))
    if documents.read < documents.total:
        text += f" ({words.partial.format(read=documents.read, total=documents.total)})"
    yield Fact(kind=FactKind.VALUE, text=text, title=telling.row)
    if telling.of is None:
        return
    column = telling.columns[telling.of]
    reckoned = _reckoned(rows, telling)
    for total in reckoned.totals:
        text = _aggregated(telling, total.shown)
        yield _end(total.row, text, telling) if total.row else Fact(kind=FactKind.VALUE, text=text, title=telling.row)
    if reckoned.unread:
        text = words.unread.format(column=column, count=reckoned.unread)
        yield Fact(kind=FactKind.VALUE, text=text, title=telling.row)


def _end(row: Row, text: str, telling: Telling) -> Fact:
    """The minimum or maximum with the first cell of its row: the row itself may be left out of the answer."""
    return _fact(row, f"{text}; {telling.columns[0]}: {row.cells[0]}")


def _left_out(wording: str, count: int) -> Iterator[Fact]:
    """A remark on the rows; it has no title, so it does not count as one of them."""
    if count:
        yield Fact(kind=FactKind.VALUE, text=wording.format(count=count))


def _groups(rows: Sequence[Row], telling: Telling) -> Iterator[Fact]:
    if telling.group_by is None:
        return
    column = telling.columns[telling.group_by]
    for each in group(rows, telling.group_by):
        fields = [(column, each.name or "—"), (telling.words.rows, str(len(each.rows)))]
        if telling.of is not None:
            totals = ", ".join(total.shown for total in _reckoned(each.rows, telling).totals)
            fields.append((telling.columns[telling.of], totals))
        text = "; ".join(f"{name}: {value}" for name, value in fields if value)
        yield Fact(kind=FactKind.VALUE, text=text, title=telling.row, fields=tuple(fields))


def _reckoned(rows: Sequence[Row], telling: Telling) -> Reckoned:
    if telling.of is None:
        return Reckoned(totals=())
    return reckon(rows, telling.of, telling.aggregate, language=telling.language)


def _aggregated(telling: Telling, value: str) -> str:
    wordings: Mapping[Aggregate, str] = {
        Aggregate.SUM: telling.words.sum,
        Aggregate.MIN: telling.words.min,
        Aggregate.MAX: telling.words.max,
        Aggregate.AVG: telling.words.avg,
    }
    column = telling.columns[telling.of or 0]
    return wordings[telling.aggregate].format(column=column, value=value)


def _change_facts(change: Changed, telling: Telling) -> Iterator[Fact]:
    told = "; ".join(
        f"{telling.columns[place]}: {change.before.cells[place]} → {change.after.cells[place]}"
        for place in change.places
    )
    text = f"{telling.words.changed}: {change.after.cells[0]}; {told}"
    yield replace(_fact(change.after, text), item=text)
    yield replace(_fact(change.before, text), item=text)


def _change_lines(found: Comparison, telling: Telling) -> Iterator[TableRow]:
    for change in found.changed:
        for place in change.places:
            cells = (
                change.after.cells[0],
                telling.columns[place],
                change.before.cells[place],
                change.after.cells[place],
            )
            yield TableRow(cells=cells, passage=change.after.sources[0], also=change.before.sources)
    for row in found.removed:
        yield TableRow(cells=(row.cells[0], "", _said(row), ""), passage=row.sources[0], also=row.sources[1:])
    for row in found.added:
        yield TableRow(cells=(row.cells[0], "", "", _said(row)), passage=row.sources[0], also=row.sources[1:])


def _said(row: Row) -> str:
    return "; ".join(filter(None, row.cells[1:])) or row.cells[0]


def _file(rows: Sequence[Row], telling: Telling) -> FactTable:
    lines = tuple(TableRow(cells=row.cells, passage=row.sources[0], also=row.sources[1:]) for row in rows)
    return FactTable(title=telling.row, columns=telling.columns, rows=lines)
