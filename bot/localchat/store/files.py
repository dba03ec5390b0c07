"""Files of the bot and people, on disk under random names. In: bytes of an upload. Out: `StoredFile`.

A file is found by its id or by the path that getFile returned. Both are looked up in the table, so no request can name
a real path. Nothing is executed.
"""

import mimetypes
import secrets
import shutil
import sqlite3
from dataclasses import astuple
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

from bot.localchat.records import FileKind, StoredFile
from bot.localchat.store.images import image_size
from bot.localchat.store.messages import stored_file

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
        name = _base_name(name)
        mime = mime if mime and mime != _BYTES else _guess_type(name)
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

    def find(self, file_id: str) -> StoredFile | None:
        return self._one("file_id", file_id)

    def find_by_path(self, path: str) -> StoredFile | None:
        """`path` is one that getFile returned."""
        return self._one("path", path)

    def location(self, file: StoredFile) -> Path:
        """The file's real path on disk."""
        return self._folder / file.unique_id

    def _one(self, column: str, value: str) -> StoredFile | None:
        query = f"select * from files where {column} = ?"  # noqa: S608 - the column is one of two constants
        row = self._connection.execute(query, (value,)).fetchone()
        return stored_file(row) if row else None


def _guess_type(name: str) -> str:
    return _TYPES.get(PurePosixPath(name).suffix.lower()) or mimetypes.guess_type(name)[0] or _BYTES


def _base_name(name: str) -> str:
    """The last part of the sender's path, whether it is a Windows or a POSIX path."""
    return PurePosixPath(PureWindowsPath(name).name).name[:255] or "file"
