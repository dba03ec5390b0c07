"""Chooses the fetcher for a source by its type; links, and files that Telegram, the API or we hold, are fetched here.

In: a `ClaimedDocument` and the folder made for it. Out: a `FetchedFile` in that folder, so that later stages read
exactly what was hashed: of a link the page itself, or the document behind the address. A page stays HTML: extracting
its text is parsing of hostile input and belongs in the parsing process. A file that holds only a link (desktops make
them when an address is dragged out of a browser) counts as its address. Notes need no fetcher (`ingestion.about`).
`open_fetchers` builds the fetchers that the worker uses, and closes their network.
"""

import asyncio
import codecs
import html
import os
import re
import stat
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Protocol

from domain.documents import SourceType
from domain.ids import BaseId
from ingestion.errors import FailureCode, HoldsLink, ServiceError, SourceError
from ingestion.fetch.crawl import CrawlLimits, SiteFetcher
from ingestion.fetch.download import Content, Download, Downloader, DownloadLimits, as_fetched, make_readable
from ingestion.fetch.guard import AddressGuard, GuardedTransport
from ingestion.fetch.urls import address_to_read, is_video_host, normalise_url, sent_on_to
from ingestion.files import READ_BYTES, HashedFile, Oversize, hash_file, megabytes
from ingestion.parsers.encodings import decode_page
from ingestion.ports import KeptFiles, TelegramFiles
from ingestion.progress import Progress
from ingestion.records import ClaimedDocument, FetchedFile, Source

COPY_NAME = "file"
DOWNLOAD_NAME = "upload"
BODY_NAME = "page"
SENT_ON = 3  # redirects in a row by the pages themselves
STUB_BYTES = 8 * 1024  # a page that only redirects is short; a longer one has content
LARGEST_BYTES = 64 * 1024  # some carry an icon
SECTIONS = frozenset({b"[internetshortcut]", b"[desktop entry]"})
_XML_PROPERTY = re.compile(rb"<key>\s*URL\s*</key>\s*<string>\s*([^<\s]+)\s*</string>")
_BINARY_TEXT = re.compile(rb"(https?://[\x21-\x7e]+)", re.IGNORECASE)  # in a binary list no letter follows a text
_FILES = frozenset({SourceType.FILE, SourceType.PATH})


def _too_large(name: str, limit_bytes: int) -> SourceError:
    return SourceError(FailureCode.FILE_TOO_LARGE, name=name, limit_mb=megabytes(limit_bytes))


@dataclass(frozen=True)
class KeptFetcher:
    files: KeptFiles
    limit_bytes: int

    async def fetch(self, base: BaseId, source: Source, folder: Path) -> FetchedFile:
        """Raises SourceError FILE_GONE or FILE_TOO_LARGE, ServiceError when the storage is away."""
        if source.kept_file is None:
            raise SourceError(FailureCode.FILE_GONE, name=source.identifier, detail="no kept file")
        target = folder / COPY_NAME
        try:
            with HashedFile(target, limit_bytes=self.limit_bytes) as copy:
                async for piece in self.files.read(base, source.kept_file):
                    copy.write(piece)
        except Oversize as error:
            raise _too_large(source.identifier, self.limit_bytes) from error
        return _copied(source, source.identifier, copy)


@dataclass(frozen=True)
class LocalFetcher:
    limit_bytes: int

    async def fetch(self, source: Source, folder: Path, progress: Progress) -> FetchedFile:
        """Copy the file at `source.identifier`. Raises SourceError FILE_GONE, FILE_UNSUPPORTED or FILE_TOO_LARGE."""
        return await asyncio.to_thread(self._copy, source, folder / COPY_NAME)

    def _copy(self, source: Source, target: Path) -> FetchedFile:
        name = Path(source.identifier).name
        try:
            # Without O_NONBLOCK, opening a named pipe would wait forever for its writer.
            descriptor = os.open(source.identifier, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
            raise SourceError(FailureCode.FILE_GONE, name=name, detail=type(error).__name__) from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise SourceError(FailureCode.FILE_UNSUPPORTED, name=name, detail="not an ordinary file")
        with os.fdopen(descriptor, "rb") as original, HashedFile(target, limit_bytes=self.limit_bytes) as copy:
            try:
                while piece := original.read(READ_BYTES):
                    copy.write(piece)
            except Oversize as error:
                raise _too_large(name, self.limit_bytes) from error
        return _copied(source, name, copy)


def _copied(source: Source, name: str, copy: HashedFile) -> FetchedFile:
    return FetchedFile(
        path=copy.path, name=name, media_type=source.media_type, size_bytes=copy.size_bytes, sha256=copy.sha256
    )


@dataclass(frozen=True)
class TelegramFetcher:
    """Downloads sent files. In a worker without a bot token `files` is None: it leaves files to other workers."""

    files: TelegramFiles | None
    limit_bytes: int

    async def fetch(self, source: Source, folder: Path, progress: Progress) -> FetchedFile:
        """Raises SourceError FILE_TOO_LARGE or FILE_GONE, ServiceError when Telegram is away."""
        if self.files is None:
            raise ServiceError(FailureCode.SERVICE_AWAY, service="Telegram", detail="this worker has no bot token")
        if source.file_id is None:
            raise SourceError(FailureCode.FILE_GONE, name=source.identifier, detail="no file_id")
        size_bytes = source.size_bytes or 0
        path = folder / DOWNLOAD_NAME
        if size_bytes <= self.limit_bytes:
            await self.files.download(source.file_id, path, limit_bytes=self.limit_bytes)
            size_bytes = path.stat().st_size
        if size_bytes > self.limit_bytes:
            raise _too_large(source.identifier, self.limit_bytes)
        return FetchedFile(
            path=path,
            name=source.identifier,
            media_type=source.media_type,
            size_bytes=size_bytes,
            sha256=await asyncio.to_thread(hash_file, path),
        )


@dataclass(frozen=True)
class WebFetcher:
    downloader: Downloader

    async def fetch(self, source: Source, folder: Path, progress: Progress) -> FetchedFile:
        """Download `source.identifier`, following redirects of servers and of pages. Raises SourceError and
        ServiceError with PAGE_* codes."""
        address = address_to_read(source.identifier)
        for _ in range(SENT_ON + 1):
            download = await self.downloader.download(address, folder / BODY_NAME)
            onward = await asyncio.to_thread(_onward, download)
            if onward is None:
                break
            address = onward
        else:
            raise SourceError(FailureCode.PAGE_TOO_MANY_REDIRECTS, host=download.url.host)
        if not download.size_bytes:
            raise SourceError(FailureCode.PAGE_WITHOUT_TEXT, host=download.url.host, detail="empty body")
        await asyncio.to_thread(make_readable, download)
        return as_fetched(download)


def _onward(download: Download) -> str | None:
    """Where a short page redirects its reader; None if it does not. Blocking."""
    if download.content is not Content.PAGE or download.size_bytes > STUB_BYTES:
        return None
    return sent_on_to(decode_page(download.path.read_bytes()), url=str(download.url))


def saved_link(file: FetchedFile) -> str | None:
    """The web address, in the form of `normalise_url`; None for other addresses (files, mail). Raises OSError."""
    if file.size_bytes > LARGEST_BYTES:
        return None
    content = file.path.read_bytes().removeprefix(codecs.BOM_UTF8).strip()
    address = _of_shortcut(content)
    if not address and PurePath(file.name).suffix.lower() == ".webloc":
        found = (_BINARY_TEXT if content.startswith(b"bplist") else _XML_PROPERTY).search(content)
        address = html.unescape(found[1].decode("utf-8", errors="replace")) if found else ""
    return normalise_url(address) if address else None


def _of_shortcut(content: bytes) -> str:
    """The first `URL=` in the section about the link."""
    is_about_link = False
    for line in map(bytes.strip, content.splitlines()) if content.startswith(b"[") else ():
        if line.startswith(b"["):
            is_about_link = line.lower() in SECTIONS
        elif is_about_link and line[:4].lower() == b"url=":
            return line[4:].strip().decode("utf-8", errors="replace")
    return ""


class SourceFetcher(Protocol):
    """Fetches one kind of source."""

    async def fetch(self, source: Source, folder: Path, progress: Progress) -> FetchedFile:
        """Write the bytes to `folder`, reporting progress. Raises SourceError, ServiceError, LeaseLost."""


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
        """Fetch to `folder`. Raises SourceError, ServiceError, LeaseLost, HoldsLink."""
        source = document.source
        if self._kept is not None and source.type is SourceType.FILE and source.kept_file is not None:
            file = await self._kept.fetch(document.base_id, source, folder)
        else:
            is_video = source.type is SourceType.LINK and is_video_host(source.identifier)
            fetcher = self._video if is_video and self._video else self._by_type[source.type]
            file = await fetcher.fetch(source, folder, progress)
        address = saved_link(file) if source.type in _FILES else None
        if address is not None:
            raise HoldsLink(address)
        return file


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
