"""Downloads one page or file: follows redirects under the guard, enforces limits, writes to disk, and names it.

In: an address and a target path. Out: `Download`. Every failure becomes a PAGE_* error: SourceError where a retry is
useless, ServiceError where the other side may recover. Redirects from https to http are followed as browsers do:
nothing secret is sent, and the person sees the final address. Of the content it inspects only the first bytes, which
decide, not a wrong header, whether the limits of pages or those of files hold.
"""

import asyncio
import codecs
import mimetypes
import re
import ssl
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import Message
from email.utils import collapse_rfc2231_value
from enum import StrEnum
from pathlib import Path, PurePath
from urllib.parse import unquote

import httpx

from domain.errors import retry_after_s
from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.fetch.guard import AddressGuard
from ingestion.fetch.urls import ROBOT
from ingestion.files import HashedFile, Oversize, megabytes
from ingestion.records import FetchedFile

HTML_TYPE = "text/html"
HEAD_BYTES = 1024  # enough for every signature below; PDF allows junk before its own
NAME_CHARACTERS = 120
LONGEST_ENDING = 5
STEP_BYTES = 1 << 18
_PLAIN = frozenset({"", "identity"})
_ZIPPED = frozenset({"gzip", "x-gzip", "deflate"})
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS  # zlib detects which by the header
REDIRECTS = 5
CONNECT_S = 10.0
READ_S = 15.0  # between two pieces; the total deadline applies too
HEADERS = {
    "User-Agent": f"Mozilla/5.0 (compatible; {ROBOT}/0.1; reads pages that its user has sent to it)",
    "Accept": "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5",
    "Accept-Language": "ru,en;q=0.8,*;q=0.5",
    "Accept-Encoding": "gzip",
}
_CHARSETS = ("cp", "iso8859", "koi8", "mac", "utf-16", "gb", "big5", "euc", "shift_jis", "kz1048", "ptcp154", "tis")
"""Prefixes of Python's names of real charsets; its registry also has `hex`, `idna` and the like."""
_AS_BROWSERS_READ = {"iso8859-1": "cp1252", "iso8859-9": "cp1254"}  # encoding.spec.whatwg.org
_HEALING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})


class Content(StrEnum):
    """Kinds of content behind a link; the value is the extension given to a name without one."""

    PAGE = ".html"
    MARKDOWN = ".md"
    TEXT = ".txt"
    FILE = ""  # PDF, an office document, a picture, a recording, an archive …


MEDIA_TYPES = {Content.PAGE: HTML_TYPE, Content.MARKDOWN: "text/markdown", Content.TEXT: "text/plain"}

_BY_TYPE = {
    **{media_type: content for content, media_type in MEDIA_TYPES.items()},
    "application/xhtml+xml": Content.PAGE,
    "text/x-markdown": Content.MARKDOWN,
}
_UNWANTED = ("font/", "model/", "text/css", "text/javascript", "application/javascript", "application/wasm")
"""Prefixes of media types without words for people."""
TEXT_FILES = frozenset(
    {"", "text/plain", "text/markdown", "text/x-markdown", "text/csv", "text/rtf", "application/rtf"}
)
_VAGUE_TYPES = frozenset({"", "application/octet-stream", "binary/octet-stream", "text/plain"})

_PAGE_START = re.compile(
    rb"\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--.*?-->\s*+)*+<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
"""Possessive: with backtracking, a hundred comments in a row would take hours."""
_UNPRINTABLE = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")  # byte order marks of UTF-16, which is full of zero bytes
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|]+")


def recognise(media_type: str, head: bytes) -> Content:
    """The kind of a body, by its first HEAD_BYTES and then by its declared type."""
    if _PAGE_START.match(head.removeprefix(b"\xef\xbb\xbf")):
        return Content.PAGE
    if b"%PDF-" in head or (_UNPRINTABLE.search(head) and not head.startswith(_WIDE_MARKS)):
        return Content.FILE
    return _BY_TYPE.get(media_type, Content.TEXT)


def _declared_name(disposition: str) -> str:
    """The name in Content-Disposition; the extended form takes precedence (RFC 6266, 4.3). What servers do to names is
    undone: UTF-8 in headers that are decoded as Latin-1, percent encoding inside quotes."""
    header = Message()
    header["Content-Disposition"] = disposition
    named = [value for key, value in header.get_params([], "Content-Disposition") if key == "filename"]
    name = collapse_rfc2231_value(named[-1]) if named else ""
    with suppress(UnicodeError):
        name = name.encode("latin-1").decode("utf-8")
    return unquote(name)


@dataclass(frozen=True, kw_only=True)
class DownloadLimits:
    """Limits for one address. Bytes are counted after decompression."""

    total_s: float  # for a page; files get more, see `file_patience`
    page_bytes: int
    file_bytes: int = 0  # 0: no files
    file_patience: float = 4.0  # a file may take this many times the seconds of a page


async def decode_body(response: httpx.Response) -> AsyncIterator[bytes]:
    """The body, decompressed in steps, so that a bomb hits the limit and not the memory. It may be several gzip members
    in a row. Raises SourceError PAGE_UNREACHABLE for a coding that was not requested, or is not what it says."""
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding not in _PLAIN | _ZIPPED:
        detail = f"content-encoding {coding[:40]}"
        raise SourceError(FailureCode.PAGE_UNREACHABLE, host=response.url.host, detail=detail)
    unzipper = zlib.decompressobj(_GZIP_OR_ZLIB)
    async for piece in response.aiter_raw():
        if coding in _PLAIN:
            yield piece
            continue
        while piece:
            if unzipper.eof:
                unzipper = zlib.decompressobj(_GZIP_OR_ZLIB)
            try:
                decoded = unzipper.decompress(piece, STEP_BYTES)
            except zlib.error as error:
                raise SourceError(FailureCode.PAGE_UNREACHABLE, host=response.url.host, detail=str(error)) from error
            yield decoded
            piece = unzipper.unused_data if unzipper.eof else unzipper.unconsumed_tail


@dataclass(frozen=True, kw_only=True)
class Download(FetchedFile):
    """What is behind an address: its type is ours where we recognise the content, else the server's."""

    url: str
    declared: str  # media type: lower case, without parameters; "" if the server sent none
    content: Content


@dataclass(frozen=True)
class Downloader:
    """Downloads over a transport that cannot bypass the guard."""

    guard: AddressGuard
    transport: httpx.AsyncBaseTransport
    limits: DownloadLimits = field(kw_only=True)

    async def download(self, address: str, target: Path, *, limits: DownloadLimits | None = None) -> Download:
        """Write the content of `address` to `target`. Raises SourceError and ServiceError with PAGE_* codes."""
        limits = limits or self.limits
        url = self.guard.check_url(address)
        try:
            async with asyncio.timeout(limits.total_s) as deadline, self._open(url) as response:
                return await _save(response, target, limits, deadline)
        except Oversize as error:
            raise SourceError(
                FailureCode.PAGE_TOO_LARGE, host=url.host, limit_mb=megabytes(error.limit_bytes)
            ) from error
        except (TimeoutError, httpx.TimeoutException) as error:
            raise ServiceError(FailureCode.PAGE_TOO_SLOW, host=url.host, seconds=round(limits.total_s)) from error
        except (httpx.TransportError, ssl.SSLError) as error:  # SSLError: when connected
            fate = SourceError if _is_bad_certificate(error) else ServiceError
            detail = f"{type(error).__name__}: {error}"
            raise fate(FailureCode.PAGE_UNREACHABLE, host=url.host, detail=detail) from error

    @asynccontextmanager
    async def _open(self, url: httpx.URL) -> AsyncIterator[httpx.Response]:
        """The response after the redirects."""
        timeout = httpx.Timeout(READ_S, connect=CONNECT_S).as_dict()
        for _ in range(REDIRECTS + 1):
            request = httpx.Request("GET", url, headers=HEADERS, extensions={"timeout": timeout})
            response = await self.transport.handle_async_request(request)
            response.request = request
            try:
                if not response.has_redirect_location:
                    yield response
                    return
                url = self.guard.check_url(_join(url, response.headers["location"]))
            finally:
                await response.aclose()
        raise SourceError(FailureCode.PAGE_TOO_MANY_REDIRECTS, host=url.host)


async def _save(response: httpx.Response, target: Path, limits: DownloadLimits, deadline: asyncio.Timeout) -> Download:
    """Write the body; its kind shows in its first HEAD_BYTES. Raises SourceError, ServiceError, Oversize."""
    _refuse_status(response)
    declared = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    unwanted = SourceError(FailureCode.PAGE_TYPE, host=response.url.host, media_type=declared[:100] or "?")
    if declared.startswith(_UNWANTED):
        raise unwanted
    announced, most_bytes = response.headers.get("content-length", ""), max(limits.page_bytes, limits.file_bytes)
    if announced.isdecimal() and int(announced) > most_bytes:
        raise Oversize(most_bytes)
    body = decode_body(response)
    head = b""
    while len(head) < HEAD_BYTES and (piece := await anext(body, None)) is not None:
        head += piece
    content, limit_bytes = recognise(declared, head[:HEAD_BYTES]), limits.page_bytes
    if content is Content.FILE:
        if not limits.file_bytes:
            raise unwanted
        limit_bytes = limits.file_bytes
        deadline.reschedule((deadline.when() or 0) + (limits.file_patience - 1) * limits.total_s)
    with HashedFile(target, limit_bytes=limit_bytes) as file:
        file.write(head)
        async for piece in body:
            file.write(piece)
    if content is not Content.FILE:
        await asyncio.to_thread(_make_readable, target, response.charset_encoding)
    return Download(
        path=target,
        name=name_of(response.url, content, declared, response.headers.get("content-disposition", "")),
        media_type=MEDIA_TYPES.get(content) or (None if declared in _VAGUE_TYPES else declared),
        size_bytes=file.size_bytes,
        sha256=file.sha256,
        url=str(response.url),
        declared=declared,
        content=content,
    )


def _join(url: httpx.URL, location: str) -> str:
    try:
        return str(url.join(location))
    except (httpx.InvalidURL, ValueError) as error:
        raise SourceError(FailureCode.PAGE_ADDRESS_INVALID, url=location[:1000], detail=str(error)) from error


def _refuse_status(response: httpx.Response) -> None:
    status, host = response.status_code, response.url.host
    if status in _HEALING:
        wait_s = retry_after_s(response.headers.get("retry-after"), now=datetime.now(UTC))
        raise ServiceError(FailureCode.PAGE_STATUS, retry_after_s=wait_s, host=host, status=status)
    if not 200 <= status < 300:
        raise SourceError(FailureCode.PAGE_STATUS, host=host, status=status)


def _is_bad_certificate(error: BaseException | None) -> bool:
    while error and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__  # httpcore's pool re-raises its errors without their cause
    return error is not None


def _make_readable(path: Path, declared: str | None) -> None:
    """Rewrite a text as UTF-8 with a byte order mark, which every reader trusts first, if only the header tells its
    charset. Blocking."""
    try:
        charset = codecs.lookup(declared or "utf-8").name
    except (LookupError, ValueError):
        return
    if not charset.startswith(_CHARSETS):
        return
    body = path.read_bytes()
    if not charset.startswith("utf-16"):
        with suppress(UnicodeDecodeError):
            body.decode("utf-8")
            return  # servers declare a default that their pages do not follow
    text = body.decode(_AS_BROWSERS_READ.get(charset, charset), errors="replace")
    path.write_text(text.removeprefix("\ufeff"), encoding="utf-8-sig", newline="")


def name_of(url: httpx.URL, content: Content, declared: str, disposition: str) -> str:
    """A file name: the one that the server gives, else the last part of the address, else the host."""
    name = _declared_name(disposition) or unquote(url.path.rstrip("/").rsplit("/", 1)[-1])
    name = _NOT_IN_NAMES.sub("_", name).strip(" .")[-NAME_CHARACTERS:]
    suffix = PurePath(name).suffix.lower()
    if suffix in (".html", ".htm", ".xhtml") if content is Content.PAGE else 1 < len(suffix) <= LONGEST_ENDING:
        return name
    return (name or url.host) + (content or mimetypes.guess_extension(declared) or "")
