"""Joins what a page break or a line without values has divided: tables that go on, rows apart from their labels.

In: the tables of a page, its lines, the last table of the page before and what stands below that. Out: the tables of
the page, those that go on with the head and unit of the one before. It finds no tables: see `pdf_tables`. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import repeat

from ingestion.parsers.pdf_lines import PageLine
from ingestion.parsers.pdf_tables import (
    ENDS,
    LONGEST_HEAD_CHARS,
    MOST_LABEL_LINES,
    SLIVER_GAP,
    PdfTable,
    is_one_label,
    one_text,
)


def inherit_heads(tables: Sequence[PdfTable], lines: Sequence[PageLine], before: PdfTable | None) -> list[PdfTable]:
    """The tables of a page; one that goes on from the table before it, or from the page before, has that one's head.
    One without any head of its own is the rest of the table above it, with what stands between them as labels.

    `before` is the last table of the page before.
    """
    whole: list[PdfTable] = []
    above, end = before, 0
    for table in tables:
        between = range(end, table.first)
        if above is before and before is not None and not any(lines[at].text for at in between):
            table = _without_head(table, before)
        if above is not None and _goes_on_from(above, table) and not any(_divides(lines[at].text) for at in between):
            is_rest = bool(whole) and not (table.head or table.unit) and len(table.bands) == len(above.bands)
            head = table.head or above.head[: len(table.bands) + 1]
            table = replace(table, head=head, unit=table.unit or above.unit)
            if is_rest:
                table = _joined(whole.pop(), table, {at: lines[at].text for at in between if lines[at].text.strip()})
        whole.append(table)
        above, end = table, max(table.lines) + 1
    return whole


def _without_head(table: PdfTable, before: PdfTable) -> PdfTable:
    """Of a ruled table with the columns of the one before the first row is no head, unless that one's is repeated."""
    if not (table.is_ruled and before.is_ruled) or table.head == before.head or len(table.bands) != len(before.bands):
        return table
    return replace(table, head=(), rows=(table.head, *table.rows))


def begin_with_label(
    tables: Sequence[PdfTable], lines: Sequence[PageLine], before: PdfTable, text: str
) -> list[PdfTable]:
    """The tables of a page of which the first, if it goes on from the one before, has the `text` below that one as its
    first labels: a row was divided from its label by the page break. Empty where the text is none."""
    labels = [line for line in text.split("\n") if line.strip()]
    is_label = len(labels) <= MOST_LABEL_LINES and not any(map(_divides, labels))
    if not (is_label and tables and _goes_on_from(before, tables[0])):
        return []
    first, *others = tables
    if any(line.text for line in lines[: first.first]):
        return []
    *above, label = ((each, *repeat("", len(first.bands))) for each in labels)
    row, *rest = first.rows
    if is_one_label(label, row, is_tight=not row[0]):
        row = tuple(one_text(*pair) for pair in zip(label, row, strict=True))
    else:
        above.append(label)
    return [replace(first, rows=(*above, row, *rest)), *others]


def _joined(above: PdfTable, rest: PdfTable, between: Mapping[int, str]) -> PdfTable:
    """One table; the text `between` them, by line, makes rows without values."""
    labels = [(text, *repeat("", len(above.bands))) for text in between.values()]
    return replace(above, lines=above.lines | rest.lines | between.keys(), rows=(*above.rows, *labels, *rest.rows))


def _goes_on_from(above: PdfTable, table: PdfTable) -> bool:
    """Whether it has the same names, or none and its columns below those of the other, which may have one more."""
    if table.head:
        return table.head == above.head
    return len(table.bands) in (len(above.bands), len(above.bands) - 1) and all(
        abs(one.right - other.right) <= table.size * SLIVER_GAP * 2
        for one, other in zip(above.bands, table.bands, strict=False)
    )


def _divides(line: str) -> bool:
    """Text between two tables that is no label of theirs."""
    return len(line) > LONGEST_HEAD_CHARS or (len(line.split()) > 6 and line.endswith(ENDS))
