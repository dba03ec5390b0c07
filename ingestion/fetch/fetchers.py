"""Which fetcher serves which kind of source; notes need none (`ingestion.note`).

In: a `ClaimedDocument` and the folder made for it. Out: a `FetchedFile` in that folder. `open_fetchers` builds the set
that the worker uses, and closes its network.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from domain.documents import SourceType
from ingestion.fetch.download import Downloader, DownloadLimits
from ingestion.fetch.guard import AddressGuard
from ingestion.fetch.local import LocalFetcher
from ingestion.fetch.network import GuardedTransport
from ingestion.fetch.telegram import TelegramFetcher
from ingestion.fetch.web import WebFetcher
from ingestion.ports import TelegramFiles
from ingestion.records import ClaimedDocument, FetchedFile, Source


class SourceFetcher(Protocol):
    """Fetches one kind of source."""

    async def fetch(self, source: Source, folder: Path) -> FetchedFile:
        """Bytes on disk, in `folder`. Raises SourceError, ServiceError."""
        ...


@dataclass(frozen=True, kw_only=True)
class FetchLimits:
    """What a source may cost, and the inside addresses that tests may reach ("host:port")."""

    file_bytes: int
    page_bytes: int
    page_s: float
    allow_hosts: frozenset[str] = frozenset()


class Fetchers:
    """Chooses by the type of the source."""

    def __init__(self, by_type: Mapping[SourceType, SourceFetcher]) -> None:
        self._by_type = by_type

    async def fetch(self, document: ClaimedDocument, folder: Path) -> FetchedFile:
        """Bytes on disk, in `folder`. Raises SourceError, ServiceError."""
        return await self._by_type[document.source.type].fetch(document.source, folder)


@asynccontextmanager
async def open_fetchers(limits: FetchLimits, *, files: TelegramFiles | None) -> AsyncIterator[Fetchers]:
    """All fetchers, with their network open. `files` is None where there is no bot."""
    guard = AddressGuard(allow_hosts=limits.allow_hosts)
    page_limits = DownloadLimits(total_s=limits.page_s, size_bytes=limits.page_bytes)
    async with GuardedTransport(guard) as transport:
        yield Fetchers(
            {
                SourceType.PATH: LocalFetcher(limit_bytes=limits.file_bytes),
                SourceType.FILE: TelegramFetcher(files, limit_bytes=limits.file_bytes),
                SourceType.LINK: WebFetcher(Downloader(guard, transport, limits=page_limits)),
            }
        )
