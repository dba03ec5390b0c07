"""Fetches sources of every type: files from Telegram, our storage or this machine, pages, sections of sites, videos.

In: a `ClaimedDocument` and the folder made for it. Out: a `FetchedFile` in that folder, so that later stages read
exactly what was hashed. A page stays HTML: extracting its text is parsing of hostile input and belongs in the parsing
process. A file that holds only a link (desktops make them when an address is dragged out of a browser) counts as its
address. Notes are not fetched (`ingestion.about`).
"""

import asyncio
import codecs
import html
import os
import re
import stat
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path, PurePath

from domain.documents import SourceType
from ingestion.errors import FailureCode, HoldsLink, ServiceError, SourceError
from ingestion.fetch.crawl import CrawlLimits, fetch_section
from ingestion.fetch.download import Content, Downloader, DownloadLimits
from ingestion.fetch.guard import AddressGuard, GuardedTransport
from ingestion.fetch.urls import address_to_read, is_video_host, normalise_url, sent_on_to, site_of
from ingestion.fetch.video import VideoFetcher
from ingestion.files import READ_BYTES, HashedFile, Oversize, hash_file, megabytes
from ingestion.parsers.encodings import decode_page
from ingestion.ports import KeptFiles, TelegramFiles
from ingestion.progress import Progress
from ingestion.records import ClaimedDocument, FetchedFile, Source

SENT_ON = 3  # redirects in a row by the pages themselves
STUB_BYTES = 8 * 1024  # a page that only redirects is short; a longer one has content
LARGEST_BYTES = 64 * 1024  # of a saved link; some carry an icon
_SHORTCUT = re.compile(
    rb"\A(?=\[)(?s:.*?)^\[(?:internetshortcut|desktop entry)\][^\n]*+\n(?:(?!\[|url=)[^\n]*+\n)*+url=([^\n]+)",
    re.I | re.M,
)
"""The first `URL=` in the section about the link."""
_XML_PROPERTY = re.compile(rb"<key>\s*URL\s*</key>\s*<string>\s*([^<\s]+)\s*</string>")
_BINARY_TEXT = re.compile(rb"(https?://[\x21-\x7e]+)", re.IGNORECASE)  # in a binary list no letter follows a text


@dataclass(frozen=True, kw_only=True)
class Fetchers:
    """Chooses by the type of the source, and for links also by host."""

    downloader: Downloader
    crawl: CrawlLimits = field(default_factory=CrawlLimits)
    files: TelegramFiles | None = None  # None in a worker without a bot token: it leaves files to other workers
    kept: KeptFiles | None = None
    video: VideoFetcher | None = None  # None where that is not set up: links to video hosts are read as pages

    async def fetch(self, document: ClaimedDocument, folder: Path, progress: Progress) -> FetchedFile:
        """Fetch to `folder`. Raises SourceError, ServiceError, LeaseLost, HoldsLink."""
        source = document.source
        match source.type:
            case SourceType.SITE:
                return await fetch_section(source, folder, progress, self.downloader, self.crawl)
            case SourceType.LINK if self.video and is_video_host(source.identifier):
                return await self.video.fetch(source, folder, progress)
            case SourceType.LINK:
                return await fetch_page(source, folder, self.downloader)
        path = folder / "file"
        await self._bring(document, path)
        return await asyncio.to_thread(self._receive, source, path)

    async def fetch_files(
        self, documents: Sequence[ClaimedDocument], folder: Path
    ) -> list[tuple[ClaimedDocument, FetchedFile]]:
        """Fetch what is no link; a document that `fetch` would raise for is left out. Raises OSError."""

        async def comes(document: ClaimedDocument) -> bool:
            with suppress(SourceError, ServiceError):
                await self._bring(document, folder / document.id)
                return True
            return False

        def receive() -> Iterator[tuple[ClaimedDocument, FetchedFile]]:
            for each in compress(documents, came):
                with suppress(SourceError, HoldsLink):
                    yield each, self._receive(each.source, folder / each.id)

        came = await asyncio.gather(*map(comes, documents))
        # In one thread: to change threads for each costs more than to copy a small file.
        return await asyncio.to_thread(lambda: list(receive()))

    async def _bring(self, document: ClaimedDocument, path: Path) -> None:
        """Write a file that is not on this machine. Raises SourceError FILE_GONE or FILE_TOO_LARGE, ServiceError where
        storage or Telegram are away."""
        source, limit_bytes = document.source, self.downloader.limits.file_bytes
        with _within_limit(source.identifier):
            if source.kept_file is not None and self.kept is not None:
                await _write(self.kept.read(document.base_id, source.kept_file), path, limit_bytes)
            elif source.type is not SourceType.PATH:
                await self._download(source, path, limit_bytes)

    def _receive(self, source: Source, path: Path) -> FetchedFile:
        """The file that is at `path` now; one of this machine is copied there. Blocking. Raises SourceError FILE_GONE,
        FILE_UNSUPPORTED or FILE_TOO_LARGE, HoldsLink."""
        limit_bytes = self.downloader.limits.file_bytes
        name = source.identifier if source.type is SourceType.FILE else PurePath(source.identifier).name
        with _within_limit(name):
            if source.type is SourceType.PATH:
                size_bytes, sha256 = _copy(source.identifier, path, limit_bytes)
            else:
                size_bytes, sha256 = path.stat().st_size, hash_file(path)
            if size_bytes > limit_bytes:
                raise Oversize(limit_bytes)
        file = FetchedFile(path=path, name=name, media_type=source.media_type, size_bytes=size_bytes, sha256=sha256)
        if (address := saved_link(file)) is not None:
            raise HoldsLink(address)
        return file

    async def _download(self, source: Source, path: Path, limit_bytes: int) -> None:
        if self.files is None:
            raise ServiceError(FailureCode.SERVICE_AWAY, service="Telegram", detail="this worker has no bot token")
        if source.file_id is None:
            raise SourceError(FailureCode.FILE_GONE, name=source.identifier, detail="no file_id")
        if (source.size_bytes or 0) > limit_bytes:
            raise Oversize(limit_bytes)
        await self.files.download(source.file_id, path, limit_bytes=limit_bytes)


@contextmanager
def _within_limit(name: str) -> Iterator[None]:
    """Oversize becomes a SourceError FILE_TOO_LARGE of this file."""
    try:
        yield
    except Oversize as error:
        raise SourceError(FailureCode.FILE_TOO_LARGE, name=name, limit_mb=megabytes(error.limit_bytes)) from error


async def _write(pieces: AsyncIterator[bytes], target: Path, limit_bytes: int) -> None:
    with HashedFile(target, limit_bytes=limit_bytes) as copy:
        async for piece in pieces:
            copy.write(piece)


def _copy(original: str, target: Path, limit_bytes: int) -> tuple[int, str]:
    """Size and SHA-256 (hex) of the copy. Raises SourceError FILE_GONE or FILE_UNSUPPORTED, Oversize."""
    name = PurePath(original).name
    try:
        # Without O_NONBLOCK, opening a named pipe would wait forever for its writer.
        descriptor = os.open(original, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        raise SourceError(FailureCode.FILE_GONE, name=name, detail=type(error).__name__) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise SourceError(FailureCode.FILE_UNSUPPORTED, name=name, detail="not an ordinary file")
    with os.fdopen(descriptor, "rb") as file, HashedFile(target, limit_bytes=limit_bytes) as copy:
        while piece := file.read(READ_BYTES):
            copy.write(piece)
    return copy.size_bytes, copy.sha256


async def fetch_page(source: Source, folder: Path, downloader: Downloader) -> FetchedFile:
    """What is behind `source.identifier`, also where short pages send their reader on. Raises SourceError and
    ServiceError with PAGE_* codes."""
    address = address_to_read(source.identifier)
    for _ in range(SENT_ON + 1):
        download = await downloader.download(address, folder / "page")
        is_stub = download.content is Content.PAGE and download.size_bytes <= STUB_BYTES
        onward = sent_on_to(decode_page(download.path.read_bytes()), url=download.url) if is_stub else None
        if onward is None:
            break
        address = onward
    else:
        raise SourceError(FailureCode.PAGE_TOO_MANY_REDIRECTS, host=site_of(download.url))
    if not download.size_bytes:
        raise SourceError(FailureCode.PAGE_WITHOUT_TEXT, host=site_of(download.url), detail="empty body")
    return download


def saved_link(file: FetchedFile) -> str | None:
    """The web address, in the form of `normalise_url`; None for other addresses (files, mail). Raises OSError."""
    if file.size_bytes > LARGEST_BYTES:
        return None
    content, pattern = file.path.read_bytes().removeprefix(codecs.BOM_UTF8).strip(), _SHORTCUT
    if PurePath(file.name).suffix.lower() == ".webloc":
        pattern = _BINARY_TEXT if content.startswith(b"bplist") else _XML_PROPERTY
    found = pattern.search(content)
    address = found[1].decode("utf-8", errors="replace") if found else ""
    return normalise_url(html.unescape(address) if pattern is _XML_PROPERTY else address) if address else None


@asynccontextmanager
async def open_downloader(
    limits: DownloadLimits, *, allow_hosts: frozenset[str] = frozenset()
) -> AsyncIterator[Downloader]:
    """With an open network. `allow_hosts` are inside addresses that tests may reach ("host:port")."""
    guard = AddressGuard(allow_hosts=allow_hosts)
    async with GuardedTransport(guard) as transport:
        yield Downloader(guard, transport, limits=limits)
