"""A scripted web, reached under public names by way of a connector that leads to loopback."""

import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from domain.documents import SourceType
from ingestion.errors import IngestionError
from ingestion.fetch.download import Downloader, DownloadLimits
from ingestion.fetch.fetchers import fetch_page
from ingestion.fetch.guard import AddressGuard, GuardedTransport
from ingestion.records import FetchedFile, Source
from tests.fakes.ingestion import FakeResolver, LoopbackConnector
from tests.servers.web import WebServer, serve_web

SITE_IP = "93.184.216.34"


@dataclass(kw_only=True)
class Crawler:
    """The real fetcher over the real transport; only names and the last hop are scripted."""

    web: WebServer
    resolver: FakeResolver
    connector: LoopbackConnector
    folder: Path
    limits: DownloadLimits
    no_roots: ssl.SSLContext = field(default_factory=lambda: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))

    async def fetch(self, address: str) -> FetchedFile:
        """Fetch as the worker does."""
        guard = AddressGuard(resolve=self.resolver)
        async with GuardedTransport(guard, connector=self.connector, ssl_context=self.no_roots) as transport:
            return await fetch_page(_link(address), self.folder, Downloader(guard, transport, limits=self.limits))

    async def failure(self, address: str) -> IngestionError:
        """The error that fetching ends with."""
        with pytest.raises(IngestionError) as caught:
            await self.fetch(address)
        return caught.value


def _link(address: str) -> Source:
    return Source(type=SourceType.LINK, identifier=address)


@pytest.fixture
async def crawler(tmp_path: Path) -> AsyncIterator[Crawler]:
    """`site.example` and every other name is public; the connector leads to the scripted server."""
    async with serve_web() as web:
        yield Crawler(
            web=web,
            resolver=FakeResolver({}, otherwise=[SITE_IP]),
            connector=LoopbackConnector(web.port),
            folder=tmp_path,
            limits=DownloadLimits(total_s=60, page_bytes=100_000, file_bytes=300_000),
        )
