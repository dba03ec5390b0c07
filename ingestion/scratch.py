"""A temporary folder for the files of one document, removed at the end, however the work ends.

In: the folder that all processes of an installation share. Out: a private folder in it. Its owner holds the lock on the
file beside it, and the lock ends with the owner's process. When the next document starts, it removes the folders that
killed processes left, so also that of an earlier attempt at the same document.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

_GATE = "gate.lock"  # held while folders are made and swept, so that a new folder does not look abandoned
_SUFFIX = ".held"


@contextmanager
def document_folder(root: Path) -> Iterator[Path]:
    """A folder under `root` (made when missing), removed with its content. Raises OSError when the disk fails."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = root / uuid4().hex
    with _locked(root / _GATE):
        _sweep(root)
        lock = _take(folder.with_suffix(_SUFFIX))
        folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        _remove(folder)
        os.close(lock)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = _take(path)
    try:
        yield
    finally:
        os.close(descriptor)


def _take(path: Path) -> int:
    """Open the file and wait for its lock; closing the descriptor releases it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def _sweep(root: Path) -> None:
    """Remove the folders whose owners' processes are gone."""
    for name in os.listdir(root):
        if not name.endswith(_SUFFIX):
            continue
        path = root / name
        with _opened(path) as descriptor:
            if descriptor is not None and _is_abandoned(descriptor):
                _remove(path.with_suffix(""))


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """A descriptor; None when the owner has just removed the file."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_abandoned(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.with_suffix(_SUFFIX).unlink(missing_ok=True)
