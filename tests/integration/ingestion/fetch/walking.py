"""A crawl through the scripted web, and what it brought back.

In: a crawler and an address. Out: a `Walk`. The fetcher is the real one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from domain.documents import SourceType, UnreadPart
from ingestion.fetch.crawl import CrawlLimits, fetch_section
from ingestion.fetch.download import Downloader, DownloadLimits
from ingestion.fetch.guard import AddressGuard, GuardedTransport
from ingestion.files import SitePage, read_site
from ingestion.records import FetchedFile, Source
from tests.fakes.ingestion import FakeQueue, progress_of
from tests.integration.ingestion.fetch.conftest import Crawler

SITE = "http://site.example"
PAGE_LIMITS = DownloadLimits(total_s=60, page_bytes=2_000_000, file_bytes=2_000_000)


@dataclass(kw_only=True)
class Walk:
    """A crawl that has ended."""

    file: FetchedFile
    queue: FakeQueue

    @property
    def paths(self) -> list[str]:
        """Of the pages, in their order."""
        pages = (record for record in read_site(self.file.path) if isinstance(record, SitePage))
        return [record.url.removeprefix(SITE) for record in pages]

    @property
    def unread(self) -> Sequence[str]:
        """Paths of what failed."""
        parts = (record for record in read_site(self.file.path) if isinstance(record, UnreadPart))
        return [part.name.removeprefix(SITE) for part in parts]


async def crawl_site(crawler: Crawler, address: str = f"{SITE}/docs/", limits: CrawlLimits | None = None) -> Walk:
    """Fetch a section as the worker does."""
    guard = AddressGuard(resolve=crawler.resolver)
    queue = FakeQueue()
    async with GuardedTransport(guard, connector=crawler.connector, ssl_context=crawler.no_roots) as transport:
        downloader = Downloader(guard, transport, limits=PAGE_LIMITS)
        source = Source(type=SourceType.SITE, identifier=address)
        file = await fetch_section(source, crawler.folder, progress_of(queue), downloader, limits or CrawlLimits())
        return Walk(file=file, queue=queue)
