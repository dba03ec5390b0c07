"""Tables under answers, kept until somebody wants them as a file.

In: a `SourcedTable` of a base. Out: its number, and the table again. It makes no file.
"""

from adapters.database import rows
from adapters.database.payloads import json_text
from adapters.database.transport import Transport
from domain.ids import BaseId, UserId
from domain.locator import JsonValue
from domain.tables import SourcedTable


class TableStore:
    """Meets `bot.ports.AnswerTables`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def save_table(self, user: UserId, base: BaseId, table: SourcedTable) -> int:
        """The number of its button."""
        content: dict[str, JsonValue] = {
            "title": table.title,
            "columns": list(table.columns),
            "rows": [list(row) for row in table.rows],
        }
        saved = await self._transport.call("save_table", p_user=user, p_base=base, p_content=json_text(content))
        return rows.integer(saved[0], "id")

    async def read_table(self, base: BaseId, number: int) -> SourcedTable | None:
        """None when this base has no such table (any more)."""
        found = await self._transport.call("read_table", p_base=base, p_table=number)
        return next((_table(row["content"]) for row in found), None)


def _table(content: JsonValue) -> SourcedTable:
    """Raises TypeError when it is not what `save_table` wrote."""
    if not isinstance(content, dict):
        raise TypeError("a table is an object")
    columns, lines = content["columns"], content["rows"]
    if not isinstance(columns, list) or not isinstance(lines, list):
        raise TypeError("a table has columns and rows")
    return SourcedTable(title=str(content["title"]), columns=_cells(columns), rows=tuple(map(_cells, lines)))


def _cells(cells: JsonValue) -> tuple[str, ...]:
    return tuple(map(str, cells)) if isinstance(cells, list) else ()
