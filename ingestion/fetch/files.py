"""Bytes to disk: hashed while they are written, and never more than allowed.

In: a path and pieces of bytes. Out: the file, its size and SHA-256. `Oversize` when the limit is passed; the caller
says whose limit it was. Writing is plain blocking I/O on a local disk, in pieces small enough not to hold up the loop.
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
        """Append. Raises Oversize instead of writing beyond the limit."""
        self.size_bytes += len(piece)
        if self.size_bytes > self._limit_bytes:
            raise Oversize(self._limit_bytes)
        self._hash.update(piece)
        self._file.write(piece)

    @property
    def sha256(self) -> str:
        """Hex, of what was written so far."""
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
    """A limit as people are told it."""
    return max(1, limit_bytes // MEGABYTE)
