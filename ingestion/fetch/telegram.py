"""Downloads a file that was sent to the bot, through the `TelegramFiles` port.

In: a FILE source with Telegram's file_id. Out: a `FetchedFile`. The declared size is checked before the download, the
real one afterwards.
"""

import asyncio
from pathlib import Path

from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.fetch.files import hash_file, megabytes
from ingestion.ports import TelegramFiles
from ingestion.progress import Progress
from ingestion.records import FetchedFile, Source

DOWNLOAD_NAME = "upload"


class TelegramFetcher:
    """Downloads sent files. In a worker without a bot token `files` is None: it leaves files to other workers."""

    def __init__(self, files: TelegramFiles | None, *, limit_bytes: int) -> None:
        self._files = files
        self._limit_bytes = limit_bytes

    async def fetch(self, source: Source, folder: Path, progress: Progress) -> FetchedFile:
        """Raises SourceError FILE_TOO_LARGE or FILE_GONE, ServiceError when Telegram is away."""
        if self._files is None:
            raise ServiceError(FailureCode.SERVICE_AWAY, service="Telegram", detail="this worker has no bot token")
        if source.file_id is None:
            raise SourceError(FailureCode.FILE_GONE, name=source.identifier, detail="no file_id")
        self._refuse_over_limit(source, source.size_bytes or 0)
        path = folder / DOWNLOAD_NAME
        await self._files.download(source.file_id, path, limit_bytes=self._limit_bytes)
        size_bytes = path.stat().st_size
        self._refuse_over_limit(source, size_bytes)
        return FetchedFile(
            path=path,
            name=source.identifier,
            media_type=source.media_type,
            size_bytes=size_bytes,
            sha256=await asyncio.to_thread(hash_file, path),
        )

    def _refuse_over_limit(self, source: Source, size_bytes: int) -> None:
        if size_bytes > self._limit_bytes:
            limit_mb = megabytes(self._limit_bytes)
            raise SourceError(FailureCode.FILE_TOO_LARGE, name=source.identifier, limit_mb=limit_mb)
