"""Fetches a link to disk: the page itself, or the document behind the address.

In: a LINK source. Out: a `FetchedFile`. A page stays HTML: extracting its text is parsing of hostile input and belongs
in the parsing process. Text whose charset only the header tells is rewritten as UTF-8 with a byte order mark, which
every reader trusts first.
"""

import asyncio
import codecs
from dataclasses import replace
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.fetch.download import Content, Download, Downloader, file_name, media_type_of
from ingestion.fetch.urls import address_to_read, sent_on_to, site_of
from ingestion.parsers.encodings import decode_page
from ingestion.progress import Progress
from ingestion.records import About, FetchedFile, Source

BODY_NAME = "page"
SENT_ON = 3  # redirects in a row by the pages themselves
STUB_BYTES = 8 * 1024  # a page that only redirects is short; a longer one has content

_CHARSETS = ("cp", "iso8859", "koi8", "mac", "utf-16", "gb", "big5", "euc", "shift_jis", "kz1048", "ptcp154", "tis")
"""Prefixes of Python's names of real charsets; its registry also has `hex`, `idna` and the like."""
_AS_BROWSERS_READ = {"iso8859-1": "cp1252", "iso8859-9": "cp1254"}  # encoding.spec.whatwg.org


class WebFetcher:
    """Fetches links."""

    def __init__(self, downloader: Downloader) -> None:
        self._downloader = downloader

    async def fetch(self, source: Source, folder: Path, progress: Progress) -> FetchedFile:
        """Download `source.identifier`. Raises SourceError and ServiceError with PAGE_* codes, Unchanged."""
        download = await self._download(source, folder / BODY_NAME)
        if not download.size_bytes:
            raise SourceError(FailureCode.PAGE_WITHOUT_TEXT, host=download.url.host, detail="empty body")
        await asyncio.to_thread(make_readable, download)
        return replace(as_fetched(download), about=About(site=site_of(str(download.url))), edition=download.edition)

    async def _download(self, source: Source, target: Path) -> Download:
        """Download, following redirects of servers and of pages."""
        address = address_to_read(source.identifier)
        for _ in range(SENT_ON + 1):
            download = await self._downloader.download(address, target, known=source.edition)
            onward = await asyncio.to_thread(_onward, download)
            if onward is None:
                return download
            address = onward
        raise SourceError(FailureCode.PAGE_TOO_MANY_REDIRECTS, host=download.url.host)


def _onward(download: Download) -> str | None:
    """Where a short page redirects its reader; None if it does not. Blocking."""
    if download.content is not Content.PAGE or download.size_bytes > STUB_BYTES:
        return None
    return sent_on_to(decode_page(download.path.read_bytes()), url=str(download.url))


def make_readable(download: Download) -> None:
    """Rewrite a text as UTF-8 if only the header tells its charset. Blocking."""
    if download.content is not Content.FILE and (charset := _foreign_charset(download)):
        _rewrite_as_utf8(download.path, charset)


def as_fetched(download: Download) -> FetchedFile:
    """The file as later stages know it."""
    return FetchedFile(
        path=download.path,
        name=download_name(download),
        media_type=media_type_of(download.content, download.media_type),
        size_bytes=download.size_bytes,
        sha256=download.sha256,
        url=str(download.url),
    )


def download_name(download: Download) -> str:
    """The name of a page or file; see `media.file_name`."""
    return file_name(
        download.disposition,
        download.url.path,
        download.url.host,
        download.content,
        declared=download.media_type,
        head=download.head,
    )


def _foreign_charset(download: Download) -> str | None:
    """The declared charset, if known and not UTF-8."""
    try:
        name = codecs.lookup(download.charset or "utf-8").name
    except (LookupError, ValueError):
        return None
    return _AS_BROWSERS_READ.get(name, name) if name.startswith(_CHARSETS) else None


def _rewrite_as_utf8(path: Path, charset: str) -> None:
    body = path.read_bytes()
    if not charset.startswith("utf-16") and _is_utf8(body):
        return  # servers declare a default that their pages do not follow
    text = body.decode(charset, errors="replace")
    path.write_text(text.removeprefix("\ufeff"), encoding="utf-8-sig", newline="")


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
