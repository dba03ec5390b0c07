"""A table of an answer with an additional last column that names the source of each row.

In: rows with their passages. Out: a `SourcedTable`, ready to be stored and to become a file.
"""

from bot.replies.places import places
from bot.texts import Words
from domain.documents import known_as
from domain.tables import SourcedTable
from rag.records import FactTable, Passage, TableRow


def sourced_table(table: FactTable, words: Words) -> SourcedTable:
    """The table with the column of sources, in the language of `words`."""
    return SourcedTable(
        title=table.title,
        columns=(*table.columns, words.plain("table-source")),
        rows=tuple((*row.cells, _sources(row, words)) for row in table.rows),
    )


def _sources(row: TableRow, words: Words) -> str:
    """A line for each place that has this row."""
    return "\n".join(dict.fromkeys(_source(each.passage, words) for each in (row.passage, *row.also)))


def _source(passage: Passage, words: Words) -> str:
    name = known_as(passage.source_type, passage.title, passage.source_identifier)
    place = places([passage.locator], words, title=passage.title)
    return f"{name}, {place}" if place else name
