"""Single values by name: the token, the bot's commands and texts, the webhook, each chat's reply keyboard.

In and out: JSON values. Their meaning is up to the callers.
"""

import json
import os
import secrets
import sqlite3
from pathlib import Path

from bot.localchat.rooms import BOT_ID


class Values:
    """JSON values by key."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

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
    """The bot token of this folder: generated at the first call, in a file that only its owner can read."""
    path = folder / "token"
    if not path.exists():
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{BOT_ID}:{secrets.token_urlsafe(26)}")
    return path.read_text().strip()
