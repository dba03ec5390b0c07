"""Copies a local file into the document's folder, so that later stages read exactly what was hashed.

In: a PATH source (`baza add`; never made from a message). Out: a `FetchedFile`. It follows symbolic links, as the
person who named the path would expect, and opens only regular files.
"""

import asyncio
import os
import stat
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.fetch.files import READ_BYTES, HashedFile, Oversize, megabytes
from ingestion.progress import Progress
from ingestion.records import FetchedFile, Source

COPY_NAME = "file"


class LocalFetcher:
    """Copies files of this machine."""

    def __init__(self, *, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes

    async def fetch(self, source: Source, folder: Path, progress: Progress) -> FetchedFile:
        """Copy the file at `source.identifier`. Raises SourceError FILE_GONE, FILE_UNSUPPORTED or FILE_TOO_LARGE."""
        name = Path(source.identifier).name
        try:
            return await asyncio.to_thread(self._copy, source, folder / COPY_NAME)
        except Oversize as error:
            limit_mb = megabytes(self._limit_bytes)
            raise SourceError(FailureCode.FILE_TOO_LARGE, name=name, limit_mb=limit_mb) from error

    def _copy(self, source: Source, target: Path) -> FetchedFile:
        name = Path(source.identifier).name
        descriptor = _open(source.identifier)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise SourceError(FailureCode.FILE_UNSUPPORTED, name=name, detail="not an ordinary file")
        with os.fdopen(descriptor, "rb") as original, HashedFile(target, limit_bytes=self._limit_bytes) as copy:
            while piece := original.read(READ_BYTES):
                copy.write(piece)
        return FetchedFile(
            path=target, name=name, media_type=source.media_type, size_bytes=copy.size_bytes, sha256=copy.sha256
        )


def _open(path: str) -> int:
    try:
        # Without O_NONBLOCK, opening a named pipe would wait forever for its writer.
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        raise SourceError(FailureCode.FILE_GONE, name=Path(path).name, detail=type(error).__name__) from error
