"""Files of both sides, on disk under random names. In: bytes of an upload. Out: `StoredFile`; nothing is executed.

A file is found by its id or by the path that getFile told, both through the table, so no request names a real path.
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
# Types that a bare Linux image does not know by the name of a file
_TYPES = {
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".md": "text/markdown",
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".webp": "image/webp",
}


class Files:
    """Keeps uploads for as long as the folder lives."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        folder.mkdir(mode=0o700, exist_ok=True)

    def save(self, source: IO[bytes], *, name: str, mime: str | None, kind: FileKind = "document") -> StoredFile:
        """Copy an upload to disk. The mime type is the sender's word, or follows from the name."""
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
        """`path` is one that getFile told."""
        return self._one("path", path)

    def location(self, file: StoredFile) -> Path:
        """Where the bytes are."""
        return self._folder / file.unique_id

    def _one(self, column: str, value: str) -> StoredFile | None:
        query = f"select * from files where {column} = ?"  # noqa: S608 - the column is one of two constants
        row = self._connection.execute(query, (value,)).fetchone()
        return stored_file(row) if row else None


def _guess_type(name: str) -> str:
    return _TYPES.get(PurePosixPath(name).suffix.lower()) or mimetypes.guess_type(name)[0] or _BYTES


def _base_name(name: str) -> str:
    """The last part of a sender's path, whichever system it came from."""
    return PurePosixPath(PureWindowsPath(name).name).name[:255] or "file"
