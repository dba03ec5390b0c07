"""Reads single pages and files of a section, each within the section's remaining time and bytes.

In: addresses. Out: a `Visit` each: a page with its links, or a file on disk. Pictures, recordings and archives that a
section links to are refused.
"""

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.fetch.body import DownloadLimits
from ingestion.fetch.download import Download, Downloader
from ingestion.fetch.links import PageLinks, scan_links
from ingestion.fetch.media import Content, is_text_file, media_type_of
from ingestion.fetch.robot_tags import RobotTags
from ingestion.fetch.robots import RobotsRules, fetch_robots
from ingestion.fetch.web import download_name, make_readable
from ingestion.parsers.encodings import decode_page
from ingestion.parsers.kinds import FileKind, glance
from ingestion.records import FetchedFile

SHORTEST_WAIT_S = 1.0  # no page is begun with less time left

_NO_DOCUMENTS = frozenset({FileKind.IMAGE, FileKind.MEDIA, FileKind.ARCHIVE})


@dataclass(frozen=True, kw_only=True)
class Visit:
    """The content of an address: a page with its links, or a file if it is no page."""

    url: str  # after redirects
    tags: RobotTags
    html: str = ""
    links: PageLinks = field(default_factory=PageLinks)
    file: FetchedFile | None = None


class Visitor:
    """Reads addresses until its time is over."""

    def __init__(self, downloader: Downloader, folder: Path, *, limits: DownloadLimits, total_s: float) -> None:
        """`limits` apply to a single page or file."""
        self._downloader = downloader
        self._folder = folder
        self._limits = replace(limits, documents_only=True)
        self._ends_at = asyncio.get_running_loop().time() + total_s
        self._count = 0

    @property
    def left_s(self) -> float:
        """Seconds until the time is over."""
        return self._ends_at - asyncio.get_running_loop().time()

    async def rules_of(self, url: str) -> RobotsRules:
        """The robots.txt of the host of `url`."""
        return await fetch_robots(self._downloader, url, self._folder)

    async def visit(self, address: str, *, file_bytes: int = 0) -> Visit:
        """A page, or a file of at most `file_bytes` (0: files are refused).

        Raises SourceError and ServiceError with PAGE_* codes; PAGE_TYPE for what is neither a page nor a document.
        """
        self._count += 1
        target = self._folder / f"page-{self._count}"
        try:
            download = await self._downloader.download(address, target, limits=self._limits_now(file_bytes))
            await asyncio.to_thread(make_readable, download)
            visit = await asyncio.to_thread(_read_page if download.content is Content.PAGE else _keep_file, download)
        except BaseException:
            target.unlink(missing_ok=True)
            raise
        if visit.file is None:
            target.unlink(missing_ok=True)
        return visit

    def _limits_now(self, file_bytes: int) -> DownloadLimits:
        """Limits for the next download: even a file gets no more than the time left."""
        left_s = max(SHORTEST_WAIT_S, self.left_s)
        total_s = min(self._limits.total_s, left_s)
        patience = max(1.0, min(self._limits.file_patience, left_s / total_s))
        return replace(
            self._limits, total_s=total_s, file_patience=patience, file_bytes=min(file_bytes, self._limits.file_bytes)
        )


def _read_page(download: Download) -> Visit:
    url = str(download.url)
    html = decode_page(download.path.read_bytes())
    links = scan_links(html, url=url)
    tags = download.tags & links.tags
    return Visit(url=url, tags=tags, html=html, links=links if tags.follow else replace(links, links=()))


def _keep_file(download: Download) -> Visit:
    is_text = download.content is not Content.FILE
    is_data = is_text and not is_text_file(download.media_type)
    if is_data or not download.size_bytes or glance(download.path) in _NO_DOCUMENTS:
        raise SourceError(FailureCode.PAGE_TYPE, host=download.url.host, media_type=download.media_type or "?")
    file = FetchedFile(
        path=download.path,
        name=download_name(download),
        media_type=media_type_of(download.content, download.media_type),
        size_bytes=download.size_bytes,
        sha256=download.sha256,
        url=str(download.url),
    )
    return Visit(url=str(download.url), tags=download.tags, file=file)
