"""Updates that the bot has not acknowledged yet.

In: events in the Bot API's JSON. Out: the same, oldest first. Updates survive restarts and are delivered again until
they are acknowledged, for a day at most.
"""

import json
import sqlite3
from collections.abc import Sequence

from bot.localchat.records import Json

KEPT_S = 24 * 3600  # Telegram keeps an update for a day (core.telegram.org/bots/api#getting-updates)


class Updates:
    """The queue between people and the bot."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, kind: str, payload: Json, *, now: float) -> None:
        """Append an update and drop those over a day old. Ids start from the clock's milliseconds, as those of messages
        do (see `Exchange.post`)."""
        self._connection.execute("delete from updates where made_at < ?", (now - KEPT_S,))
        self._connection.execute(
            "insert into updates (update_id, kind, payload, made_at) values ("
            "  coalesce((select seq + 1 from sqlite_sequence where name = 'updates'), ?), ?, ?, ?)",
            (int(now * 1000), kind, json.dumps(payload, ensure_ascii=False), now),
        )

    def acknowledge(self, offset: int) -> None:
        """Delete all updates before `offset`; a negative offset keeps only the last `-offset`."""
        if offset < 0:
            self._connection.execute(
                "delete from updates where update_id not in (select update_id from updates order by 1 desc limit ?)",
                (-offset,),
            )
        self._connection.execute("delete from updates where update_id < ?", (offset,))

    def pending(self, *, limit: int) -> Sequence[Json]:
        """The oldest `limit` updates, in order."""
        rows = self._connection.execute("select * from updates order by update_id limit ?", (limit,)).fetchall()
        return [{"update_id": row["update_id"], row["kind"]: json.loads(row["payload"])} for row in rows]

    def count(self) -> int:
        return int(self._connection.execute("select count(*) from updates").fetchone()[0])

    def clear(self) -> None:
        """Delete all pending updates (`drop_pending_updates`)."""
        self._connection.execute("delete from updates")
