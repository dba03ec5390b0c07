"""What the local chat keeps: one SQLite file with messages, pending updates and single values; the bot's token; files.

In and out: records and JSON; bytes of an upload. Calls block the event loop: people write a few rows at a time, and
each takes well under a millisecond. Updates survive restarts and are delivered again until they are acknowledged, for a
day at most. Files lie on disk under random names. One is found by its id or by the path that getFile returned; both are
looked up in the table, so no request can name a real path. Nothing is executed; of images the headers are read, for
width and height.
"""

import json
import mimetypes
import os
import secrets
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import astuple, fields
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Literal

from localchat.records import ACCOUNTS, BOT_ID, ROOMS, Entity, FileKind, FormattedText, Json, StoredFile, given

_TABLES = """
create table if not exists settings (key text primary key, value text not null) strict;
create table if not exists history (
    chat_id integer not null, message_id integer not null, message text not null, primary key (chat_id, message_id)
) strict;
create table if not exists updates (
    update_id integer primary key autoincrement, kind text not null, payload text not null, made_at real not null
) strict;
create table if not exists files (
    file_id text primary key, unique_id text not null, name text not null, mime text not null, size integer not null,
    path text not null unique, width integer not null, height integer not null
) strict;
drop table if exists counters;
drop table if exists queries;
"""

KEPT_S = 24 * 3600  # Telegram keeps an update for a day (core.telegram.org/bots/api#getting-updates)
_BYTES = "application/octet-stream"
_FOLDERS: dict[FileKind, str] = {
    "document": "documents", "photo": "photos", "audio": "music", "voice": "voice", "video": "videos",
}  # fmt: skip
# Types that a bare Linux image cannot guess from a file name
_TYPES = {
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".md": "text/markdown",
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".webp": "image/webp",
}


def open_store(folder: Path) -> sqlite3.Connection:
    """Open the database, creating it if needed. Every statement commits by itself."""
    connection = sqlite3.connect(folder / "chat.sqlite3", isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = normal")  # a power cut may lose the last message, never the file
    connection.executescript(_TABLES)
    if connection.execute("select 1 from sqlite_master where name = 'messages'").fetchone():
        _take_over(connection)
    return connection


def _take_over(connection: sqlite3.Connection) -> None:
    """The messages of Baza 0.1.0, which had a column for each field."""
    connection.execute("begin")
    for row in connection.execute("select * from messages left join files using (file_id)").fetchall():
        kind, reply_to = row["kind"], row["reply_to"]
        entities = tuple(Entity(**each) for each in json.loads(row["entities"]))
        formatted = FormattedText(text=row["text"], entities=entities)
        message = given(
            **{"from": ACCOUNTS[row["sender_id"]]},
            chat=ROOMS[row["chat_id"]].to_json(),
            message_id=row["message_id"],
            date=row["date"],
            edit_date=row["edited"],
            media_group_id=row["album"],
            reply_to_message={"message_id": reply_to} if reply_to else None,
            reply_markup=json.loads(row["markup"] or "null"),
            link_preview_options=json.loads(row["preview"] or "null"),
            forward_origin=json.loads(row["origin"] or "null"),
            **formatted.to_json("caption" if kind else "text"),
            **(stored_file(row).shown_as(kind) if kind else {}),
        )
        Store(connection).save(message)
    connection.execute("drop table messages")
    connection.execute("commit")


class Store:
    """The history of every chat, the queue of updates between people and the bot, and JSON values by key."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def last_id(self) -> int:
        """The highest id of all."""
        return int(self._connection.execute("select coalesce(max(message_id), 0) from history").fetchone()[0])

    def save(self, message: Json) -> None:
        """Insert the message, or replace the one with the same id."""
        values = (message["chat"]["id"], message["message_id"], json.dumps(message, ensure_ascii=False))
        self._connection.execute("insert or replace into history values (?, ?, ?)", values)

    def find(self, chat_id: int, message_id: int) -> Json | None:
        query = "select message from history where chat_id = ? and message_id = ?"
        row = self._connection.execute(query, (chat_id, message_id)).fetchone()
        return json.loads(row[0]) if row else None

    def delete(self, chat_id: int, message_id: int) -> bool:
        """False when there is no such message."""
        query = "delete from history where chat_id = ? and message_id = ?"
        return self._connection.execute(query, (chat_id, message_id)).rowcount > 0

    def page(self, chat_id: int, *, before: int, limit: int) -> Sequence[Json]:
        """The last `limit` messages with an id under `before`, oldest first."""
        query = "select message from history where chat_id = ? and message_id < ? order by message_id desc limit ?"
        rows = self._connection.execute(query, (chat_id, before, limit)).fetchall()
        return [json.loads(row[0]) for row in reversed(rows)]

    def enqueue(self, kind: str, payload: Json, *, now: float) -> None:
        """Append an update and drop those over a day old. Ids start from the clock's milliseconds, as those of messages
        do (see `Exchange.post`)."""
        self._connection.execute("delete from updates where made_at < ?", (now - KEPT_S,))
        self._connection.execute(
            "insert into updates (update_id, kind, payload, made_at) values ("
            "  coalesce((select seq + 1 from sqlite_sequence where name = 'updates'), ?), ?, ?, ?)",
            (int(now * 1000), kind, json.dumps(payload, ensure_ascii=False), now),
        )

    def acknowledge(self, offset: int) -> None:
        """Delete all updates before `offset`."""
        self._connection.execute("delete from updates where update_id < ?", (offset,))

    def pending(self, *, limit: int) -> Sequence[Json]:
        """The oldest `limit` updates, in order."""
        rows = self._connection.execute("select * from updates order by update_id limit ?", (limit,)).fetchall()
        return [{"update_id": row["update_id"], row["kind"]: json.loads(row["payload"])} for row in rows]

    def get(self, key: str) -> object:
        """The value of `key`; None when there is none."""
        row = self._connection.execute("select value from settings where key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None

    def put(self, key: str, value: object) -> None:
        """Store a value; None removes it."""
        if value is None:
            self._connection.execute("delete from settings where key = ?", (key,))
        else:
            text = json.dumps(value, ensure_ascii=False)
            self._connection.execute("insert or replace into settings values (?, ?)", (key, text))


def read_token(folder: Path) -> str:
    """The bot token of this folder: generated at the first call, in a file that only its owner can read;
    the folder is made when it is missing."""
    return _kept_secret(folder / "token", f"{BOT_ID}:{secrets.token_urlsafe(26)}")


def read_page_token(folder: Path) -> str:
    """What opens the page, kept like the bot's token."""
    return _kept_secret(folder / "page_token", secrets.token_urlsafe(32))


def _kept_secret(path: Path, fresh: str) -> str:
    """What the file holds; `fresh` when there is none yet, whoever of several processes writes it."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(fresh)
        with suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text().strip()


def stored_file(row: sqlite3.Row) -> StoredFile:
    """The file in a row of `files`."""
    return StoredFile(**{field.name: row[field.name] for field in fields(StoredFile)})


class Files:
    """Stores uploads for as long as the folder exists."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        folder.mkdir(mode=0o700, exist_ok=True)

    def save(self, source: IO[bytes], *, name: str, mime: str | None, kind: FileKind = "document") -> StoredFile:
        """Copy an upload to disk. The MIME type is the sender's, or is guessed from the name."""
        unique_id = secrets.token_hex(12)
        target = self._folder / unique_id
        with target.open("xb") as out:
            shutil.copyfileobj(source, out)
        name = PurePosixPath(PureWindowsPath(name).name).name[:255] or "file"  # of a path of either kind
        if not mime or mime == _BYTES:
            mime = _TYPES.get(PurePosixPath(name).suffix.lower()) or mimetypes.guess_type(name)[0] or _BYTES
        size = image_size(target) or (0, 0)
        number = self._connection.execute("select count(*) from files").fetchone()[0]
        path = f"{_FOLDERS[kind]}/file_{number}{PurePosixPath(name).suffix.lower()}"
        saved = StoredFile(
            file_id=f"BQAC{secrets.token_urlsafe(24)}",
            unique_id=unique_id,
            name=name,
            mime=mime,
            size=target.stat().st_size,
            path=path,
            width=size[0],
            height=size[1],
        )
        self._connection.execute("insert into files values (?, ?, ?, ?, ?, ?, ?, ?)", astuple(saved))
        return saved

    def find(self, value: str, *, by: Literal["file_id", "path"] = "file_id") -> StoredFile | None:
        """The path is the one that getFile returned."""
        query = f"select * from files where {by} = ?"  # noqa: S608 - one of two columns
        row = self._connection.execute(query, (value,)).fetchone()
        return stored_file(row) if row else None

    def location(self, file: StoredFile) -> Path:
        """The file's real path on disk."""
        return self._folder / file.unique_id


def image_size(path: Path) -> tuple[int, int] | None:
    """(width, height) in pixels; None for any other file."""
    from PIL import Image  # a twentieth of a second, which a chat without pictures spares

    try:
        with Image.open(path, formats=("PNG", "GIF", "WEBP", "JPEG")) as image:
            return image.size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):  # what Pillow raises for broken headers
        return None
