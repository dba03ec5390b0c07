"""Takes a file that Baza keeps itself, because it came over HTTP.

In: a FILE source with the name of the kept file. Out: a `FetchedFile`.
"""

from pathlib import Path

from domain.ids import BaseId
from ingestion.errors import FailureCode, SourceError
from ingestion.fetch.files import HashedFile, Oversize, megabytes
from ingestion.ports import KeptFiles
from ingestion.records import FetchedFile, Source

COPY_NAME = "kept"


class KeptFetcher:
    """Copies kept files into the document's folder."""

    def __init__(self, files: KeptFiles, *, limit_bytes: int) -> None:
        self._files = files
        self._limit_bytes = limit_bytes

    async def fetch(self, base: BaseId, source: Source, folder: Path) -> FetchedFile:
        """Raises SourceError FILE_GONE or FILE_TOO_LARGE, ServiceError when the storage is away."""
        if source.kept_file is None:
            raise SourceError(FailureCode.FILE_GONE, name=source.identifier, detail="no kept file")
        target = folder / COPY_NAME
        try:
            with HashedFile(target, limit_bytes=self._limit_bytes) as copy:
                async for piece in self._files.read(base, source.kept_file):
                    copy.write(piece)
        except Oversize as error:
            limit_mb = megabytes(self._limit_bytes)
            raise SourceError(FailureCode.FILE_TOO_LARGE, name=source.identifier, limit_mb=limit_mb) from error
        return FetchedFile(
            path=target,
            name=source.identifier,
            media_type=source.media_type,
            size_bytes=copy.size_bytes,
            sha256=copy.sha256,
        )
