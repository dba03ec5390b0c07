"""Decides which addresses belong to the section that a person asked for, which are one page, and which robots may read.

In: the address of the section's first page and its links. Out: a `Section` that admits or refuses addresses, keys that
are equal for the same page, and the site's `RobotsRules` (RFC 9309): a site whose rules cannot be fetched because it is
in trouble is not crawled; one that has none, or refuses to show them, sets no limits.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from urllib.parse import SplitResult, unquote, urlsplit

from protego import Protego

from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.fetch.download import Downloader, DownloadLimits
from ingestion.fetch.links import ROBOT, Link

ROBOTS_LIMITS = DownloadLimits(total_s=10, page_bytes=500 * 1024, file_bytes=0, cut=True)  # RFC 9309, 2.5: 500 KiB
LONGEST_DELAY_S = 10.0  # largest Crawl-delay obeyed; some ask for minutes to keep everybody off
_NAME = "robots.txt"
_NO_HOST = frozenset(
    {FailureCode.PAGE_ADDRESS_FORBIDDEN, FailureCode.PAGE_ADDRESS_INVALID, FailureCode.PAGE_NOT_FOUND_HOST}
)
_NO_RULES = frozenset({FailureCode.PAGE_STATUS, FailureCode.PAGE_TYPE, FailureCode.PAGE_TOO_MANY_REDIRECTS})
"""A refusal (4xx) and endless redirects mean that there are no rules: RFC 9309, 2.3.1.2 and 2.3.1.3."""
FEWEST_PAGES_BELOW = 2  # this many pages under `/blog/` make `/blog` a section of its own
QUERIES_OF_A_PATH = 10  # different queries per path; calendars and sort orders are endless
DEEPEST_PATH = 12  # path segments
REPEATED_SEGMENT = 3  # `/a/b/a/b/a/b`: a relative link that leads back into itself
_DOCUMENT_ENDINGS = ".pdf .doc .docx .docm .rtf .odt .xls .xlsx .xlsm .ods .csv .ppt .pptx .ppsx .odp .epub .fb2"
_NO_PAGE_ENDINGS = (
    ".jpg .jpeg .png .gif .webp .svg .ico .bmp .css .js .json .xml .rss .atom .zip .gz .rar .7z .tar .exe .dmg .apk "
    ".mp3 .ogg .wav .flac .m4a .mp4 .webm .avi .mov .mkv"
)
_DOCUMENTS = frozenset(_DOCUMENT_ENDINGS.split())
_NO_PAGE = _DOCUMENTS | frozenset(_NO_PAGE_ENDINGS.split())
_SAME_PAGE_PARAMETERS = (
    "phpsessid jsessionid sid sessionid session_id cfid cftoken aspsessionid print replytocom share amp ref"
)
_SAME_PAGE = frozenset(_SAME_PAGE_PARAMETERS.split())
"""Parameters that change the session or the view, but not the content."""
_INDEX = re.compile(r"(?:index|default)\.(?:html?|php|aspx?)$", re.IGNORECASE)
_SESSION_IN_PATH = re.compile(r";(?:jsessionid|phpsessid)=[^/?]*", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class RobotsRules:
    """The rules of one host."""

    rules: Protego | None  # None: the host has none
    closed: bool = False  # the site is in trouble: read only the page that a person asked for

    def allow(self, url: str) -> bool:
        """Whether we may read this page."""
        return not self.closed and (self.rules is None or self.rules.can_fetch(url, ROBOT))

    @property
    def delay_s(self) -> float:
        """Seconds between two requests, as the site asks, up to LONGEST_DELAY_S."""
        stated = self.rules.crawl_delay(ROBOT) if self.rules is not None else None
        return min(float(stated or 0.0), LONGEST_DELAY_S)


async def fetch_robots(downloader: Downloader, url: str, folder: Path) -> RobotsRules:
    """The rules of the host of `url`. Raises SourceError PAGE_ADDRESS_* and PAGE_NOT_FOUND_HOST."""
    parts = urlsplit(url)
    target = folder / _NAME
    try:
        await downloader.download(f"{parts.scheme}://{parts.netloc}/{_NAME}", target, limits=ROBOTS_LIMITS)
    except ServiceError:
        return RobotsRules(rules=None, closed=True)
    except SourceError as error:
        if error.code in _NO_HOST:
            raise
        return RobotsRules(rules=None, closed=error.code not in _NO_RULES)
    return RobotsRules(rules=await asyncio.to_thread(_parse, target))


def _parse(path: Path) -> Protego:
    return Protego.parse(path.read_bytes().decode("utf-8", errors="replace"))


@dataclass(frozen=True, kw_only=True)
class Section:
    """The pages of one host below one folder."""

    host: str  # with its port, if given
    scheme: str
    front: str  # the first page's address
    folder: str  # "/docs/"
    content_only: bool = False  # ignore links in menus
    _queries: Counter[str] = field(default_factory=Counter, repr=False, compare=False)

    def admit(self, link: Link) -> str | None:
        """The address to request, or None for what is neither a page nor a document of the section.

        Sites often keep documents in a separate folder (`/files/`): one that is linked in the content may be anywhere
        on the host.
        """
        address = clean_address(link.url, scheme=self.scheme)
        parts = urlsplit(address)
        if _is_document(parts):
            return address if self.holds(address) or (link.in_content and self.is_of_site(address)) else None
        if not self.holds(address) or not _may_be_page(parts) or (self.content_only and not link.in_content):
            return None
        if parts.query:
            self._queries[parts.path] += 1
            if self._queries[parts.path] > QUERIES_OF_A_PATH:
                return None
        return address

    def holds(self, address: str) -> bool:
        """Whether an address lies in the section."""
        parts = urlsplit(address)
        return parts.netloc == self.host and f"{parts.path.rstrip('/')}/".startswith(self.folder)

    def is_of_site(self, address: str) -> bool:
        """Whether an address is on the same host."""
        return urlsplit(address).netloc == self.host


def choose_section(start: str, links: Sequence[Link]) -> Section:
    """The narrowest part of the site that has the first page as its front.

    This is the pages below the page itself (`/blog` and `/blog/…`), else its folder. For a page at the top of its site,
    or a list whose entries are elsewhere, it is whatever the page's content links to.
    """
    parts = urlsplit(start)
    whole = Section(host=parts.netloc, scheme=parts.scheme, front=start, folder="/")
    if parts.path in ("", "/"):
        return whole
    own = replace(whole, folder=f"{parts.path.rstrip('/')}/")
    folder = replace(whole, folder=parts.path[: parts.path.rfind("/") + 1])
    needed = 1 if parts.path.endswith("/") else FEWEST_PAGES_BELOW
    if _count_pages(own, links, start) >= needed:
        return own
    if folder.folder != "/" and _count_pages(folder, links, start):
        return folder
    return replace(whole, content_only=True)


def clean_address(url: str, *, scheme: str) -> str:
    """The address without session and view parameters, under the section's scheme."""
    parts = urlsplit(url)
    kept = [part for part in parts.query.split("&") if part and part.split("=", 1)[0].lower() not in _SAME_PAGE]
    path = _SESSION_IN_PATH.sub("", parts.path) or "/"
    return parts._replace(scheme=scheme, path=path, query="&".join(kept), fragment="").geturl()


def page_key(url: str) -> str:
    """A key equal for all addresses of a page: ignores the last slash, index files and parameter order."""
    parts = urlsplit(url)
    path = _INDEX.sub("", unquote(_SESSION_IN_PATH.sub("", parts.path))).rstrip("/")
    query = "&".join(sorted(part for part in parts.query.split("&") if part))
    return f"{parts.netloc.removeprefix('www.')}{path}?{query}"


def _count_pages(section: Section, links: Sequence[Link], start: str) -> int:
    keys = {page_key(link.url) for link in links if section.holds(link.url) and _may_be_page(urlsplit(link.url))}
    return len(keys - {page_key(start)})


def _is_document(parts: SplitResult) -> bool:
    return PurePosixPath(parts.path).suffix.lower() in _DOCUMENTS


def _may_be_page(parts: SplitResult) -> bool:
    segments = [segment for segment in parts.path.split("/") if segment]
    repeated = max(Counter(segments).values(), default=0) >= REPEATED_SEGMENT
    return not repeated and len(segments) <= DEEPEST_PATH and PurePosixPath(parts.path).suffix.lower() not in _NO_PAGE
