"""Messages and unanswered button presses. In and out: records; ids are counted per chat, as in Telegram's groups."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict

from bot.localchat.records import Attachment, Entity, Message, Query, StoredFile

_COLUMNS = (
    "chat_id", "message_id", "sender_id", "date", "text", "entities", "kind", "file_id", "album", "reply_to", "quote",
    "markup", "preview", "edited", "reaction",
)  # fmt: skip
_PLAIN = tuple(name for name in _COLUMNS if name not in ("entities", "kind", "file_id"))
_SELECT = """
select m.*, f.unique_id, f.name, f.mime, f.size, f.path, f.width, f.height
from messages m left join files f using (file_id) where m.chat_id = ?
"""


class Messages:
    """The history of every chat."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def next_id(self, chat_id: int, *, first: int) -> int:
        """The next id of the chat. Ids grow from `first` and are never reused, not even after a deletion."""
        row = self._connection.execute(
            "insert into counters values (?, ?) on conflict (name) do update set value = value + 1 returning value",
            (f"messages of {chat_id}", first),
        ).fetchone()
        return int(row[0])

    def save(self, message: Message) -> None:
        """Insert the message, or replace the one with the same id."""
        marks = ", ".join("?" * len(_COLUMNS))
        self._connection.execute(
            f"insert or replace into messages ({', '.join(_COLUMNS)}) values ({marks})",  # noqa: S608 - constants
            _row(message),
        )

    def find(self, chat_id: int, message_id: int) -> Message | None:
        row = self._connection.execute(_SELECT + "and message_id = ?", (chat_id, message_id)).fetchone()
        return _message(row) if row else None

    def delete(self, chat_id: int, message_id: int) -> bool:
        """False when there is no such message."""
        found = self._connection.execute(
            "delete from messages where chat_id = ? and message_id = ?", (chat_id, message_id)
        )
        return found.rowcount > 0

    def page(self, chat_id: int, *, before: int | None, limit: int) -> Sequence[Message]:
        """The last `limit` messages with an id under `before`, oldest first."""
        rows = self._connection.execute(
            _SELECT + "and message_id < ? order by message_id desc limit ?", (chat_id, before or 2**62, limit)
        ).fetchall()
        return [_message(row) for row in reversed(rows)]

    def save_query(self, query: Query) -> None:
        self._connection.execute(
            "insert into queries values (:query_id, :chat_id, :message_id, :user_id, :pressed_at)", asdict(query)
        )

    def take_query(self, query_id: str) -> Query | None:
        """Remove and return a press, so that it can be answered only once."""
        row = self._connection.execute("delete from queries where query_id = ? returning *", (query_id,)).fetchone()
        return Query(**dict(row)) if row else None


def _row(message: Message) -> tuple[object, ...]:
    attachment = message.attachment
    special: dict[str, object] = {
        "entities": json.dumps([_packed(entity) for entity in message.entities]),
        "kind": attachment.kind if attachment else None,
        "file_id": attachment.file.file_id if attachment else None,
    }
    return tuple(special[name] if name in special else getattr(message, name) for name in _COLUMNS)


def _packed(entity: Entity) -> dict[str, object]:
    return {name: value for name, value in asdict(entity).items() if value is not None}


def _message(row: sqlite3.Row) -> Message:
    return Message(
        **{name: row[name] for name in _PLAIN},
        entities=tuple(Entity(**item) for item in json.loads(row["entities"])),
        attachment=Attachment(kind=row["kind"], file=stored_file(row)) if row["file_id"] else None,
    )


def stored_file(row: sqlite3.Row) -> StoredFile:
    """The file in a row of `files`."""
    return StoredFile(
        file_id=row["file_id"],
        unique_id=row["unique_id"],
        name=row["name"],
        mime=row["mime"],
        size=row["size"],
        path=row["path"],
        width=row["width"],
        height=row["height"],
    )
