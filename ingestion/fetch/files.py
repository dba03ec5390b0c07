"""Writes bytes to disk, hashing them on the way and enforcing a limit.

In: a path and pieces of bytes. Out: the file, its size and SHA-256. Raises `Oversize` beyond the limit; the caller says
whose limit it was. Writing is plain blocking I/O on a local disk, in pieces too small to hold up the event loop.
"""

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Self

READ_BYTES = 1 << 18
MEGABYTE = 1 << 20


class Oversize(Exception):
    """More bytes than the limit."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"more than {limit_bytes} bytes")
        self.limit_bytes = limit_bytes


class HashedFile:
    """A file being written."""

    def __init__(self, path: Path, *, limit_bytes: int) -> None:
        self.path = path
        self.size_bytes = 0
        self._limit_bytes = limit_bytes
        self._hash = hashlib.sha256()
        self._file = path.open("wb")

    def write(self, piece: bytes) -> None:
        """Append a piece. Raises Oversize instead of writing beyond the limit."""
        self.size_bytes += len(piece)
        if self.size_bytes > self._limit_bytes:
            raise Oversize(self._limit_bytes)
        self._hash.update(piece)
        self._file.write(piece)

    @property
    def sha256(self) -> str:
        """Hex, of what has been written so far."""
        return self._hash.hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()


def hash_file(path: Path) -> str:
    """SHA-256 (hex) of a file that is on disk already. Blocking."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def megabytes(limit_bytes: int) -> int:
    """The limit as it is shown to people."""
    return max(1, limit_bytes // MEGABYTE)
