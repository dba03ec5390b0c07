"""Downloads one page or file: follows redirects under the guard, enforces limits, writes to disk.

In: an address and a target path. Out: `Download`. Every failure becomes a PAGE_* error: SourceError where a retry is
useless, ServiceError where the other side may recover. Redirects from https to http are followed as browsers do:
nothing secret is sent, and the person sees the final address. Of the content it inspects only the first bytes, because
pages, files and robots.txt have different limits.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpcore
import httpx

from domain.waiting import retry_after_s
from ingestion.errors import FailureCode, ServiceError, SourceError, Unchanged
from ingestion.fetch.body import ArrivingBody, DownloadLimits, Unwanted
from ingestion.fetch.decoding import ACCEPTED, UndecodableBody, decode_body
from ingestion.fetch.files import HashedFile, Oversize, megabytes
from ingestion.fetch.guard import AddressGuard
from ingestion.fetch.media import Content, is_wanted
from ingestion.fetch.robot_tags import ROBOT, RobotTags, read_headers
from ingestion.records import Edition

REDIRECTS = 5
CONNECT_S = 10.0
READ_S = 15.0  # between two pieces; the total deadline applies too
LONGEST_EDITION = 500  # characters of an entity tag
HEADERS = {
    "User-Agent": f"Mozilla/5.0 (compatible; {ROBOT}/0.1; reads pages that its user has sent to it)",
    "Accept": "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5",
    "Accept-Language": "ru,en;q=0.8,*;q=0.5",
    "Accept-Encoding": ACCEPTED,
}

_REDIRECTING = frozenset({301, 302, 303, 307, 308})
_NOT_MODIFIED = 304
_HEALING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})


@dataclass(frozen=True, kw_only=True)
class Download:
    """A body on disk, and what the server said of it."""

    path: Path
    url: httpx.URL  # after redirects
    media_type: str  # lower case, without parameters; "" if the server sent none
    charset: str | None
    disposition: str
    tags: RobotTags  # of the response headers; a page's markup may add more
    edition: Edition | None
    content: Content
    head: bytes  # the first HEAD_BYTES
    size_bytes: int
    sha256: str


class Downloader:
    """Downloads over a transport that cannot bypass the guard."""

    def __init__(self, guard: AddressGuard, transport: httpx.AsyncBaseTransport, *, limits: DownloadLimits) -> None:
        self._guard = guard
        self._transport = transport
        self._limits = limits

    async def download(
        self, address: str, target: Path, *, limits: DownloadLimits | None = None, known: Edition | None = None
    ) -> Download:
        """Write the content of `address` to `target`. Raises SourceError and ServiceError with PAGE_* codes, and
        Unchanged when the server still has the `known` edition."""
        limits = limits or self._limits
        url = self._guard.check_url(address)
        with _as_page_errors(url.host, limits):
            async with asyncio.timeout(limits.total_s) as deadline, self._open(url, known) as response:
                return await _save(response, target, limits, deadline)

    @asynccontextmanager
    async def _open(self, url: httpx.URL, known: Edition | None) -> AsyncIterator[httpx.Response]:
        """The response after the redirects."""
        for _ in range(REDIRECTS + 1):
            conditions = _conditions(known) if known and known.url == str(url) else {}
            response = await self._ask(url, conditions)
            try:
                if conditions and response.status_code == _NOT_MODIFIED:
                    raise Unchanged
                if response.status_code not in _REDIRECTING or "location" not in response.headers:
                    yield response
                    return
                url = self._guard.check_url(_join(url, response.headers["location"]))
            finally:
                await response.aclose()
        raise SourceError(FailureCode.PAGE_TOO_MANY_REDIRECTS, host=url.host)

    async def _ask(self, url: httpx.URL, conditions: Mapping[str, str]) -> httpx.Response:
        timeout = httpx.Timeout(READ_S, connect=CONNECT_S)
        request = httpx.Request(
            "GET", url, headers={**HEADERS, **conditions}, extensions={"timeout": timeout.as_dict()}
        )
        response = await self._transport.handle_async_request(request)
        response.request = request
        return response


async def _save(response: httpx.Response, target: Path, limits: DownloadLimits, deadline: asyncio.Timeout) -> Download:
    _refuse_status(response)
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not is_wanted(media_type):
        raise Unwanted(media_type)
    _refuse_announced_size(response, limits)
    with HashedFile(target, limit_bytes=limits.most_bytes) as file:
        body = ArrivingBody(file, media_type, limits)
        encoding = response.headers.get("content-encoding", "")
        async for piece in decode_body(response.aiter_raw(), content_encoding=encoding):
            is_known = body.content is not None
            if not body.take(piece):
                break
            if body.content is Content.FILE and not is_known:
                deadline.reschedule((deadline.when() or 0) + (limits.file_patience - 1) * limits.total_s)
        content = body.finish()
    return Download(
        path=target,
        url=response.url,
        media_type=media_type,
        charset=response.charset_encoding,
        disposition=response.headers.get("content-disposition", ""),
        tags=read_headers(response.headers.get_list("x-robots-tag")),
        edition=_edition(response),
        content=content,
        head=body.head,
        size_bytes=file.size_bytes,
        sha256=file.sha256,
    )


def _conditions(known: Edition) -> dict[str, str]:
    """Headers of a conditional request; servers prefer the entity tag to the date (RFC 9110, 13.2.2)."""
    conditions = {"If-None-Match": known.etag, "If-Modified-Since": known.modified}
    return {name: value for name, value in conditions.items() if value}


def _edition(response: httpx.Response) -> Edition | None:
    etag, modified = (_sayable(response.headers.get(name)) for name in ("etag", "last-modified"))
    return Edition(url=str(response.url), etag=etag, modified=modified) if etag or modified else None


def _sayable(value: str | None) -> str | None:
    """The header's value if it can be sent back as it is; else None."""
    return value if value and len(value) <= LONGEST_EDITION and value.isascii() and value.isprintable() else None


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


def _refuse_announced_size(response: httpx.Response, limits: DownloadLimits) -> None:
    announced = response.headers.get("content-length", "")
    if not limits.cut and announced.isdecimal() and int(announced) > limits.most_bytes:
        raise Oversize(limits.most_bytes)


@contextmanager
def _as_page_errors(host: str, limits: DownloadLimits) -> Iterator[None]:
    """Translate errors of the network into errors that people can be shown."""
    try:
        yield
    except Oversize as error:
        raise SourceError(FailureCode.PAGE_TOO_LARGE, host=host, limit_mb=megabytes(error.limit_bytes)) from error
    except Unwanted as error:
        raise SourceError(FailureCode.PAGE_TYPE, host=host, media_type=str(error)[:100] or "?") from error
    except (TimeoutError, httpcore.TimeoutException) as error:
        raise ServiceError(FailureCode.PAGE_TOO_SLOW, host=host, seconds=round(limits.total_s)) from error
    except UndecodableBody as error:
        raise SourceError(FailureCode.PAGE_UNREACHABLE, host=host, detail=str(error)) from error
    except (httpcore.NetworkError, httpcore.ProtocolError, ssl.SSLError) as error:  # SSLError: when connected
        fate = SourceError if _is_bad_certificate(error) else ServiceError
        raise fate(FailureCode.PAGE_UNREACHABLE, host=host, detail=f"{type(error).__name__}: {error}") from error


def _is_bad_certificate(error: BaseException) -> bool:
    reason = error.__cause__ or error.__context__  # httpcore's pool re-raises its errors without their cause
    return isinstance(reason, ssl.SSLCertVerificationError)
