"""A table of an answer in the person's words: a last column says where each row stands.

In: rows with their passages. Out: a `SourcedTable`, ready to be kept and to become a file.
"""

from bot.replies.places import places
from bot.texts import Words
from domain.documents import known_as
from domain.tables import SourcedTable
from rag.records import FactTable, Passage, TableRow


def sourced_table(table: FactTable, words: Words) -> SourcedTable:
    """With a column more."""
    return SourcedTable(
        title=table.title,
        columns=(*table.columns, words.plain("table-source")),
        rows=tuple((*row.cells, _sources(row, words)) for row in table.rows),
    )


def _sources(row: TableRow, words: Words) -> str:
    """A line for each place that says the same."""
    return "\n".join(dict.fromkeys(_source(each.passage, words) for each in (row.passage, *row.also)))


def _source(passage: Passage, words: Words) -> str:
    name = known_as(passage.source_type, passage.title, passage.source_identifier)
    place = places([passage.locator], words, title=passage.title)
    return f"{name}, {place}" if place else name
