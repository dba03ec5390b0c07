"""The tables of the local chat. In: the folder. Out: an open connection; the caller closes it."""

import sqlite3
from pathlib import Path

_TABLES = """
create table if not exists settings (key text primary key, value text not null) strict;
create table if not exists messages (
    chat_id integer not null, message_id integer not null, sender_id integer not null, date integer not null,
    text text not null, entities text not null, kind text, file_id text, album text, reply_to integer, quote text,
    markup text, preview text, edited integer, reaction text, primary key (chat_id, message_id)
) strict;
create table if not exists counters (name text primary key, value integer not null) strict;
create table if not exists updates (
    update_id integer primary key autoincrement, kind text not null, payload text not null, made_at real not null
) strict;
create table if not exists files (
    file_id text primary key, unique_id text not null, name text not null, mime text not null, size integer not null,
    path text not null unique, width integer not null, height integer not null
) strict;
create table if not exists queries (
    query_id text primary key, chat_id integer not null, message_id integer not null, user_id integer not null,
    pressed_at real not null
) strict;
"""


def open_store(folder: Path) -> sqlite3.Connection:
    """Open the database, creating it if needed. Every statement commits by itself."""
    connection = sqlite3.connect(folder / "chat.sqlite3", isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = normal")  # a power cut may lose the last message, never the file
    connection.executescript(_TABLES)
    return connection
