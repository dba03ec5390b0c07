"""Crawls a section of a site into one file: breadth first, within limits of depth, number, bytes and time.

In: a SITE source, the address of the section's first page. Out: a `FetchedFile` of SITE_TYPE; documents that the pages
link to are attached, and count as pages. A `Section` admits or refuses addresses by the first page's links. It obeys
robots.txt (RFC 9309: a site whose rules cannot be fetched because it is in trouble is not crawled; one that has none,
or refuses to show them, sets no limits), nofollow and noindex, requests two addresses at a time, each within the
section's remaining time and bytes, and guards each like a single link. Pictures, recordings and archives that a section
links to are refused. The order of pages depends on the site alone, so the same site gives the same document again. It
extracts no text.
"""

import asyncio
import re
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from urllib.parse import SplitResult, unquote, urlsplit

import structlog
from protego import Protego

from domain.documents import DocumentStatus, UnreadPart
from ingestion.errors import FailureCode, IngestionError, ServiceError, SourceError
from ingestion.fetch.download import (
    TEXT_FILES,
    Content,
    Download,
    Downloader,
    DownloadLimits,
    as_fetched,
    make_readable,
)
from ingestion.fetch.urls import ROBOT, Link, PageLinks, RobotTags, scan_links, site_of
from ingestion.files import SITE_TYPE, SiteFile, SitePage
from ingestion.parsers.encodings import decode_page
from ingestion.parsers.kinds import FileKind, glance
from ingestion.progress import Progress
from ingestion.records import About, FetchedFile, Source

ROBOTS_LIMITS = DownloadLimits(total_s=10, page_bytes=500 * 1024, file_bytes=0, cut=True)  # RFC 9309, 2.5: 500 KiB
LONGEST_DELAY_S = 10.0  # largest Crawl-delay obeyed; some ask for minutes to keep everybody off
_ROBOTS_NAME = "robots.txt"
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
_NOT_PAGES = _DOCUMENTS | frozenset(_NO_PAGE_ENDINGS.split())
_SAME_PAGE_PARAMETERS = (
    "phpsessid jsessionid sid sessionid session_id cfid cftoken aspsessionid print replytocom share amp ref"
)
_SAME_PAGE = frozenset(_SAME_PAGE_PARAMETERS.split())
"""Parameters that change the session or the view, but not the content."""
_INDEX = re.compile(r"(?:index|default)\.(?:html?|php|aspx?)$", re.IGNORECASE)
_SESSION_IN_PATH = re.compile(r";(?:jsessionid|phpsessid)=[^/?]*", re.IGNORECASE)

SHORTEST_WAIT_S = 1.0  # no page is begun with less time left
_NO_DOCUMENTS = frozenset({FileKind.IMAGE, FileKind.MEDIA, FileKind.ARCHIVE})
SITE_NAME = "site"
SIDE_BY_SIDE = 2  # concurrent requests to one site
TRIES_A_PAGE = 3  # addresses requested for each page wanted: many lead to no page
FAILURES_IN_A_ROW = 6  # then the site refuses us, or has broken down
_GONE = frozenset({404, 410})
_NO_FAILURES = frozenset({FailureCode.PAGE_TYPE, FailureCode.PAGE_ADDRESS_FORBIDDEN, FailureCode.PAGE_ADDRESS_INVALID})


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
    target = folder / _ROBOTS_NAME
    try:
        await downloader.download(f"{parts.scheme}://{parts.netloc}/{_ROBOTS_NAME}", target, limits=ROBOTS_LIMITS)
    except ServiceError:
        return RobotsRules(rules=None, closed=True)
    except SourceError as error:
        if error.code in _NO_HOST:
            raise
        return RobotsRules(rules=None, closed=error.code not in _NO_RULES)
    text = target.read_bytes().decode("utf-8", errors="replace")
    return RobotsRules(rules=await asyncio.to_thread(Protego.parse, text))


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
        if PurePosixPath(parts.path).suffix.lower() in _DOCUMENTS:
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


def _may_be_page(parts: SplitResult) -> bool:
    segments = [segment for segment in parts.path.split("/") if segment]
    repeated = max(Counter(segments).values(), default=0) >= REPEATED_SEGMENT
    return not repeated and len(segments) <= DEEPEST_PATH and PurePosixPath(parts.path).suffix.lower() not in _NOT_PAGES


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
    is_data = is_text and download.media_type not in TEXT_FILES
    if is_data or not download.size_bytes or glance(download.path) in _NO_DOCUMENTS:
        raise SourceError(FailureCode.PAGE_TYPE, host=download.url.host, media_type=download.media_type or "?")
    return Visit(url=str(download.url), tags=download.tags, file=as_fetched(download))


@dataclass(frozen=True, kw_only=True)
class CrawlLimits:
    """Limits for one section."""

    depth: int = 2  # links away from the first page
    pages: int = 50
    total_s: float = 120.0
    site_bytes: int = 64 * 1024 * 1024  # of all pages together


class SiteFetcher:
    """Fetches sections."""

    def __init__(self, downloader: Downloader, *, page: DownloadLimits, limits: CrawlLimits) -> None:
        """`page` limits a single page or file."""
        self._downloader = downloader
        self._page = page
        self._limits = limits

    async def fetch(self, source: Source, folder: Path, progress: Progress) -> FetchedFile:
        """Crawl the section of an address; an address that is a document itself is a section of that document alone.

        Raises SourceError SITE_FORBIDS, and whatever the first page itself fails with.
        """
        visitor = Visitor(self._downloader, folder, limits=self._page, total_s=self._limits.total_s)
        first, rules = await self._begin(source.identifier, visitor)
        with SiteFile(folder / SITE_NAME) as file:
            crawl = Crawl(visitor, rules, first, self._limits, file)
            if not rules.closed:
                await crawl.run(progress)
            file.end(unread=crawl.unread)
        host = site_of(first.url)
        structlog.get_logger().info(
            "site_fetched", host=host, pages=crawl.pages, files=len(crawl.attached), unread=len(crawl.unread)
        )
        return FetchedFile(
            path=file.path,
            name=host,
            media_type=SITE_TYPE,
            size_bytes=crawl.size_bytes,
            sha256=file.sha256,
            url=first.url,
            about=About(site=host),
            attached=tuple(crawl.attached),
        )

    async def _begin(self, address: str, visitor: Visitor) -> tuple[Visit, RobotsRules]:
        """The first page, and the rules of the host that it finally comes from."""
        rules = await visitor.rules_of(address)
        _require(rules, address)
        first = await visitor.visit(address, file_bytes=self._limits.site_bytes)
        if urlsplit(first.url).netloc != urlsplit(address).netloc:
            rules = await visitor.rules_of(first.url)
            _require(rules, first.url)
        return first, rules


class Crawl:
    """The crawl of one section, from its first page on."""

    def __init__(self, visitor: Visitor, rules: RobotsRules, first: Visit, limits: CrawlLimits, file: SiteFile) -> None:
        self.file = file
        self.pages = 0  # files included
        self.attached: list[FetchedFile] = []
        self.unread: list[UnreadPart] = []
        self._visitor = visitor
        self._rules = rules
        self._limits = limits
        self._section = choose_section(first.url, first.links.links)
        self._met = {page_key(first.url)}  # keys of pages that were queued or read
        self._kept: set[str] = set()  # keys of pages that were written, and hashes of files
        self._waiting: deque[tuple[str, int]] = deque()
        self._asked = 0
        self._failures = 0
        self._keep(first, depth=0)

    @property
    def size_bytes(self) -> int:
        """Of everything that was kept."""
        return self.file.size_bytes + sum(file.size_bytes for file in self.attached)

    async def run(self, progress: Progress) -> None:
        """Crawl until nothing is left, or a limit is reached."""
        while self._waiting and self._may_go_on():
            total = min(self._limits.pages, self.pages + len(self._waiting))
            await progress.report(DocumentStatus.FETCHING, done=self.pages, total=total)
            batch = [self._waiting.popleft() for _ in range(min(self._batch_size(), len(self._waiting)))]
            await asyncio.sleep(self._rules.delay_s)
            visits = await asyncio.gather(*(self._try(address) for address, _ in batch))
            for (_, depth), visit in zip(batch, visits, strict=True):
                if visit is not None:
                    self._keep(visit, depth=depth)

    def _batch_size(self) -> int:
        return 1 if self._rules.delay_s else min(SIDE_BY_SIDE, self._limits.pages - self.pages)

    def _may_go_on(self) -> bool:
        return (
            self.pages < self._limits.pages
            and self._asked < self._limits.pages * TRIES_A_PAGE
            and self._failures < FAILURES_IN_A_ROW
            and self.size_bytes < self._limits.site_bytes
            and self._visitor.left_s > SHORTEST_WAIT_S + self._rules.delay_s
        )

    async def _try(self, address: str) -> Visit | None:
        self._asked += 1
        try:
            visit = await self._visitor.visit(address, file_bytes=self._limits.site_bytes - self.size_bytes)
        except IngestionError as error:
            if error.code not in _NO_FAILURES and error.params.get("status") not in _GONE:
                self.unread.append(UnreadPart(name=address, code=error.code))
                self._failures += 1
            return None
        self._failures = 0
        is_inside = self._section.is_of_site(visit.url) if visit.file else self._section.holds(visit.url)
        return visit if is_inside and self._rules.allow(visit.url) else None

    def _keep(self, visit: Visit, *, depth: int) -> None:
        """Write the visit unless it was kept under another address, and queue its links.

        A page with noindex is not written, but its links are followed; the first page, which a person has named, is
        always written.
        """
        keys = {visit.file.sha256} if visit.file else {page_key(visit.url), self._canonical_key(visit)}
        if keys & self._kept:
            return
        self._kept |= keys
        self._met |= keys
        if visit.tags.index or not depth:
            self._write(visit)
        if depth < self._limits.depth:
            self._line_up(visit.links.links, depth + 1)

    def _write(self, visit: Visit) -> None:
        self.pages += 1
        if visit.file:
            self.attached.append(visit.file)
        else:
            self.file.add(SitePage(url=visit.url, html=visit.html))

    def _canonical_key(self, visit: Visit) -> str:
        """The canonical address is trusted only within the section: some sites name their front page on every page."""
        canonical = clean_address(visit.links.canonical or visit.url, scheme=self._section.scheme)
        is_believed = self._section.holds(canonical) and page_key(canonical) != page_key(self._section.front)
        return page_key(canonical if is_believed else visit.url)

    def _line_up(self, links: Sequence[Link], depth: int) -> None:
        for link in links:
            address = self._section.admit(link)
            if address and page_key(address) not in self._met and self._rules.allow(address):
                self._met.add(page_key(address))
                self._waiting.append((address, depth))


def _require(rules: RobotsRules, url: str) -> None:
    """Raise SITE_FORBIDS if the rules forbid `url`. A `closed` host is still asked for the person's page."""
    if not rules.closed and not rules.allow(url):
        raise SourceError(FailureCode.SITE_FORBIDS, host=site_of(url))
