"""Files on disk: a folder for each document in work, bytes that are hashed while they are written, pages of a site.

In: the folder that all processes of an installation share; pieces of bytes; pages as the crawler got them. Out: a
private folder, removed at the end, however the work ends; the file, its size and SHA-256; a file of JSON lines. The
owner of a folder holds a lock on it, which ends with the owner's process; the next document removes what those that
were killed have left.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from uuid import uuid4

from domain.documents import UnreadPart
from sandbox.records import from_line

SITE_TYPE = "application/x-baza-site"
_GATE = "gate.lock"  # held while folders are made and swept, so that a new folder does not look abandoned

READ_BYTES = 1 << 18
MEGABYTE = 1 << 20


@contextmanager
def document_folder(root: Path) -> Iterator[Path]:
    """A folder under `root` (made when missing), removed with its content. Raises OSError when the disk fails."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = root / uuid4().hex
    with locked(root / _GATE):
        _sweep(root)
        folder.mkdir(mode=0o700)
        lock = _take(folder, os.O_RDONLY)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Waits until no other process holds the lock on the file (made when missing); that of a process that is killed
    ends with it."""
    descriptor = _take(path, os.O_RDWR | os.O_CREAT)
    try:
        yield
    finally:
        os.close(descriptor)


def _take(path: Path, flags: int) -> int:
    """Open the file or folder and wait for its lock; closing the descriptor releases it."""
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def _sweep(root: Path) -> None:
    """Remove the folders whose owners' processes are gone."""
    for folder in root.iterdir():
        with suppress(FileNotFoundError, NotADirectoryError):  # its owner has just removed it
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            if try_lock(descriptor):
                shutil.rmtree(folder, ignore_errors=True)
            os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Take the lock of flock(2) for ourselves without waiting; False when another process holds one."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Oversize(Exception):
    """More bytes than the limit; the caller says whose limit it was."""

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

    def __exit__(self, *_: object) -> None:
        self._file.close()


def hash_file(path: Path) -> str:
    """SHA-256 (hex) of a file that is on disk already. Blocking."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def megabytes(limit_bytes: int) -> int:
    """The limit as it is shown to people."""
    return max(1, limit_bytes // MEGABYTE)


@dataclass(frozen=True, kw_only=True)
class SitePage:
    """A page of a site: the text is decoded, the markup unchanged."""

    url: str
    html: str


def read_site(path: Path) -> Iterator[SitePage | UnreadPart]:
    """Read a site's file, which has a line for each page and part. Raises ValueError for another file."""
    with path.open("rb") as file:
        for line in file:
            yield from_line(line, SitePage, UnreadPart)
