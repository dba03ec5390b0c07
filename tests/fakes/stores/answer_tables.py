"""Tables under answers, in memory.

In and out: what `bot.ports.AnswerTables` says. Removing a document forgets the tables of its base (`Tables.remove`).
"""

from domain.ids import BaseId, UserId
from domain.tables import SourcedTable
from tests.fakes.stores.tables import Tables


class MemoryAnswerTables:
    """Meets `bot.ports.AnswerTables`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def save_table(self, user: UserId, base: BaseId, table: SourcedTable) -> int:
        number = len(self._tables.answer_tables) + 1
        self._tables.answer_tables[number] = (base, table)
        return number

    async def read_table(self, base: BaseId, number: int) -> SourcedTable | None:
        owner, table = self._tables.answer_tables.get(number, (None, None))
        return table if owner == base else None
