"""Files of the bot and people, on disk under random names. In: bytes of an upload. Out: `StoredFile`.

A file is found by its id or by the path that getFile returned. Both are looked up in the table, so no request can name
a real path. Nothing is executed; of images the headers are read, for width and height.
"""

import mimetypes
import secrets
import shutil
import sqlite3
import struct
from dataclasses import astuple
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

from localchat.records import FileKind, StoredFile
from localchat.store import stored_file

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


_JPEG_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # start-of-frame markers; the three are tables
_HEAD_BYTES = 30


def image_size(path: Path) -> tuple[int, int] | None:
    """(width, height) in pixels; None for any other file."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
            return struct.unpack(">II", head[16:24])
        if head[:6] in (b"GIF87a", b"GIF89a") and len(head) >= 10:
            return struct.unpack("<HH", head[6:10])
        if head[:4] == b"RIFF" and head[8:12] == b"WEBP" and len(head) == _HEAD_BYTES:
            return _webp_size(head)
        return _jpeg_size(file) if head.startswith(b"\xff\xd8") else None


def _webp_size(head: bytes) -> tuple[int, int] | None:
    kind = head[12:16]
    if kind == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack("<HH", head[26:30])
    return width & 0x3FFF, height & 0x3FFF


def _jpeg_size(file: IO[bytes]) -> tuple[int, int] | None:
    file.seek(2)
    while len(marker := file.read(4)) == 4 and marker[0] == 0xFF:
        length = int.from_bytes(marker[2:4], "big")
        if marker[1] in _JPEG_FRAMES:
            frame = file.read(5)
            return (int.from_bytes(frame[3:5], "big"), int.from_bytes(frame[1:3], "big")) if len(frame) == 5 else None
        file.seek(length - 2, 1)
    return None
