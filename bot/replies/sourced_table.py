"""A table of an answer with more columns: where documents disagree, what was replaced, where each value stands.

In: rows with the passage of each value. Out: a `SourcedTable`, ready to be stored and to become a file.
"""

from collections.abc import Mapping, Sequence

from bot.replies.places import places
from bot.texts import Words
from domain.documents import known_as
from domain.tables import SourcedTable
from rag.records import FactTable, Passage, TableRow


def sourced_table(table: FactTable, words: Words) -> SourcedTable:
    """The table with its columns about values, in the language of `words`. The column of disagreements and that of
    replaced values are there only where they have something to say; that of sources is always the last."""
    columns: dict[str, list[str]] = {
        words.plain("table-disputed"): [_notes(row, table.columns, words, replaced=False) for row in table.rows],
        words.plain("table-formerly"): [_notes(row, table.columns, words, replaced=True) for row in table.rows],
    }
    kept = {name: cells for name, cells in columns.items() if any(cells)}
    kept[words.plain("table-source")] = [_sources(row, table.columns, words) for row in table.rows]
    added = zip(*kept.values(), strict=True)
    return SourcedTable(
        title=table.title,
        columns=(*table.columns, *kept),
        rows=tuple((*row.cells, *more) for row, more in zip(table.rows, added, strict=True)),
    )


def _notes(row: TableRow, columns: Sequence[str], words: Words, *, replaced: bool) -> str:
    """A line for each other value: «цена: 350 000 руб. (Договор 14-2024.txt)»."""
    return "\n".join(
        f"{columns[each.column]}: {each.value} ({_source(each.source.passage, words)})"
        for each in row.notes
        if each.is_replaced is replaced
    )


def _sources(row: TableRow, columns: Sequence[str], words: Words) -> str:
    """The place that says all values; where they are several, a line for each with the columns that it says."""
    said: dict[str, list[str]] = {}
    for column, cell, source in zip(columns, row.cells, row.sources, strict=True):
        if cell:
            said.setdefault(_source(source.passage, words), []).append(column)
    return "\n".join(said) if len(said) == 1 else _by_column(said)


def _by_column(said: Mapping[str, Sequence[str]]) -> str:
    return "\n".join(f"{', '.join(columns)}: {place}" for place, columns in said.items())


def _source(passage: Passage, words: Words) -> str:
    name = known_as(passage.source_type, passage.title, passage.source_identifier)
    place = places([passage.locator], words, title=passage.title)
    return f"{name}, {place}" if place else name
