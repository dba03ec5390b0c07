"""Chooses the fetcher for a source by its type; notes need none (`ingestion.note`).

In: a `ClaimedDocument` and the folder made for it. Out: a `FetchedFile` in that folder. `open_fetchers` builds the
fetchers that the worker uses, and closes their network.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from domain.documents import SourceType
from ingestion.errors import HoldsLink
from ingestion.fetch.body import DownloadLimits
from ingestion.fetch.crawl import CrawlLimits, SiteFetcher
from ingestion.fetch.download import Downloader
from ingestion.fetch.guard import AddressGuard
from ingestion.fetch.kept import KeptFetcher
from ingestion.fetch.local import LocalFetcher
from ingestion.fetch.network import GuardedTransport
from ingestion.fetch.saved_link import saved_link
from ingestion.fetch.telegram import TelegramFetcher
from ingestion.fetch.video_hosts import is_video_host
from ingestion.fetch.web import WebFetcher
from ingestion.ports import KeptFiles, TelegramFiles
from ingestion.progress import Progress
from ingestion.records import ClaimedDocument, FetchedFile, Source

_FILES = frozenset({SourceType.FILE, SourceType.PATH})


class SourceFetcher(Protocol):
    """Fetches one kind of source."""

    async def fetch(self, source: Source, folder: Path, progress: Progress) -> FetchedFile:
        """Write the bytes to `folder`, reporting progress. Raises SourceError, ServiceError, LeaseLost, Unchanged."""
        ...


@dataclass(frozen=True, kw_only=True)
class FetchLimits:
    """Limits for a source, and the inside addresses that tests may reach ("host:port")."""

    file_bytes: int
    page_bytes: int
    page_s: float
    crawl: CrawlLimits = field(default_factory=CrawlLimits)
    allow_hosts: frozenset[str] = frozenset()


class Fetchers:
    """Chooses by the type of the source, and for links also by host."""

    def __init__(
        self,
        by_type: Mapping[SourceType, SourceFetcher],
        *,
        kept: KeptFetcher | None = None,
        video: SourceFetcher | None = None,
    ) -> None:
        """`video` fetches links to video hosts; None where that is not set up: they are read as pages."""
        self._by_type = by_type
        self._kept = kept
        self._video = video

    async def fetch(self, document: ClaimedDocument, folder: Path, progress: Progress) -> FetchedFile:
        """Fetch to `folder`. Raises SourceError, ServiceError, LeaseLost, Unchanged, HoldsLink."""
        source = document.source
        if self._kept is not None and source.type is SourceType.FILE and source.kept_file is not None:
            file = await self._kept.fetch(document.base_id, source, folder)
        else:
            file = await self._fetcher_of(source).fetch(source, folder, progress)
        address = saved_link(file) if source.type in _FILES else None
        if address is not None:
            raise HoldsLink(address)
        return file

    def _fetcher_of(self, source: Source) -> SourceFetcher:
        if self._video is not None and source.type is SourceType.LINK and is_video_host(source.identifier):
            return self._video
        return self._by_type[source.type]


@asynccontextmanager
async def open_fetchers(
    limits: FetchLimits,
    *,
    files: TelegramFiles | None,
    kept: KeptFiles | None = None,
    video: SourceFetcher | None = None,
) -> AsyncIterator[Fetchers]:
    """All fetchers with an open network. `files` is None without a bot, `video` where it is not set up."""
    guard = AddressGuard(allow_hosts=limits.allow_hosts)
    page_limits = DownloadLimits(total_s=limits.page_s, page_bytes=limits.page_bytes, file_bytes=limits.file_bytes)
    async with GuardedTransport(guard) as transport:
        downloader = Downloader(guard, transport, limits=page_limits)
        yield Fetchers(
            {
                SourceType.PATH: LocalFetcher(limit_bytes=limits.file_bytes),
                SourceType.FILE: TelegramFetcher(files, limit_bytes=limits.file_bytes),
                SourceType.LINK: WebFetcher(downloader),
                SourceType.SITE: SiteFetcher(downloader, page=page_limits, limits=limits.crawl),
            },
            kept=KeptFetcher(kept, limit_bytes=limits.file_bytes) if kept else None,
            video=video,
        )
