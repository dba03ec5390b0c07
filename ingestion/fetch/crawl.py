"""Crawls a section of a site into one file: breadth first, within limits of depth, number, bytes and time.

In: a SITE source, the address of the section's first page. Out: a `FetchedFile` of SITE_TYPE; documents that the pages
link to are attached, and count as pages. It obeys robots.txt (RFC 9309) and nofollow, and guards each address like a
single link. The order of pages depends on the site alone, so the same site gives the same document again.
"""

import asyncio
import re
import sys
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

import structlog
from protego import Protego

from domain.documents import DocumentStatus, UnreadPart
from ingestion.errors import FailureCode, IngestionError, ServiceError, SourceError
from ingestion.fetch.download import TEXT_FILES, Content, Download, Downloader, DownloadLimits
from ingestion.fetch.urls import ROBOT, Link, PageLinks, scan_links, site_of
from ingestion.files import SITE_TYPE, HashedFile, SitePage
from ingestion.parsers.encodings import decode_page
from ingestion.parsers.kinds import FileKind, glance
from ingestion.progress import Progress
from ingestion.records import FetchedFile, Source
from sandbox.records import to_line

ROBOTS_LIMITS = DownloadLimits(total_s=10, page_bytes=1024 * 1024)  # RFC 9309, 2.5: at least 500 KiB
LONGEST_DELAY_S = 10.0  # largest Crawl-delay obeyed; some ask for minutes to keep everybody off
_NOTHING_ELSE = "User-agent: *\nDisallow: /"  # of a site in trouble only the page that a person asked for is read
_NO_HOST = frozenset(
    {FailureCode.PAGE_ADDRESS_FORBIDDEN, FailureCode.PAGE_ADDRESS_INVALID, FailureCode.PAGE_NOT_FOUND_HOST}
)
_NO_RULES = frozenset({FailureCode.PAGE_STATUS, FailureCode.PAGE_TYPE, FailureCode.PAGE_TOO_MANY_REDIRECTS})
"""A refusal (4xx) and endless redirects mean that there are no rules: RFC 9309, 2.3.1.2 and 2.3.1.3."""
FEWEST_PAGES_BELOW = 2  # this many pages under `/blog/` make `/blog` a section of its own
_DOCUMENT = re.compile(r"\.(?:pdf|doc[xm]?|rtf|odt|xls[xm]?|ods|csv|pptx?|ppsx|odp|epub|fb2)$", re.IGNORECASE)
_NO_PAGE = re.compile(
    r"\.(?:jpe?g|png|gif|webp|svg|ico|bmp|css|js|json|xml|rss|atom|zip|gz|rar|7z|tar|exe|dmg|apk"
    r"|mp3|ogg|wav|flac|m4a|mp4|webm|avi|mov|mkv)$",
    re.IGNORECASE,
)
QUERIES_OF_A_PATH = 10  # calendars and sort orders are endless
REPEATED_SEGMENT = 3  # `/a/b/a/b/a/b`: a relative link that leads back into itself
_SESSION = re.compile(
    r"(?:;|\b)(?:phpsessid|jsessionid|sid|sessionid|session_id|replytocom|print)=[^/?&]*", re.IGNORECASE
)
"""What changes in the addresses of one page."""
_INDEX = re.compile(r"(?:index|default)\.(?:html?|php|aspx?)$", re.IGNORECASE)

SHORTEST_WAIT_S = 1.0  # no page is begun with less time left
_NO_DOCUMENTS = frozenset({FileKind.IMAGE, FileKind.MEDIA, FileKind.ARCHIVE})
SIDE_BY_SIDE = 2  # concurrent requests to one site
TRIES_A_PAGE = 3  # addresses requested for each page wanted: many lead to no page
FAILURES_IN_A_ROW = 6  # then the site refuses us, or has broken down
_GONE = frozenset({404, 410})
_NO_FAILURES = frozenset({FailureCode.PAGE_TYPE, FailureCode.PAGE_ADDRESS_FORBIDDEN, FailureCode.PAGE_ADDRESS_INVALID})


@dataclass(frozen=True, kw_only=True)
class Section:
    """The pages of one host below one folder."""

    host: str  # with its port, if given
    front: str  # the first page's address
    folder: str  # "/docs/"
    content_only: bool = False  # ignore links in menus

    def admits(self, link: Link) -> bool:
        """Whether it leads to a page or a document of the section. Sites often keep documents in a separate folder
        (`/files/`): one that is linked in the content may be anywhere on the host."""
        if _DOCUMENT.search(urlsplit(link.url).path):
            return self.holds(link.url) or (link.in_content and self.is_of_site(link.url))
        return self.holds_page(link.url) and (link.in_content or not self.content_only)

    def holds_page(self, address: str) -> bool:
        path = urlsplit(address).path
        repeated = max(Counter(filter(None, path.split("/"))).values(), default=0)
        is_page = repeated < REPEATED_SEGMENT and not (_DOCUMENT.search(path) or _NO_PAGE.search(path))
        return is_page and self.holds(address)

    def holds(self, address: str) -> bool:
        return self.is_of_site(address) and f"{urlsplit(address).path.rstrip('/')}/".startswith(self.folder)

    def is_of_site(self, address: str) -> bool:
        return urlsplit(address).netloc == self.host


def choose_section(start: str, links: Sequence[Link]) -> Section:
    """The narrowest part of the site that has the first page as its front: the pages below the page itself (`/blog` and
    `/blog/…`), else its folder. For a page at the top of its site, or a list whose entries are elsewhere, it is
    whatever the page's content links to."""
    parts = urlsplit(start)
    whole = Section(host=parts.netloc, front=start, folder="/")
    if parts.path in ("", "/"):
        return whole
    own = replace(whole, folder=f"{parts.path.rstrip('/')}/")
    folder = replace(whole, folder=parts.path[: parts.path.rfind("/") + 1])
    needed = 1 if parts.path.endswith("/") else FEWEST_PAGES_BELOW
    if _count_pages(own, links) >= needed:
        return own
    if folder.folder != "/" and _count_pages(folder, links):
        return folder
    return replace(whole, content_only=True)


def page_key(url: str) -> str:
    """A key equal for all addresses of a page: ignores the last slash, index files, sessions and parameter order."""
    parts = urlsplit(_SESSION.sub("", url))
    path = _INDEX.sub("", unquote(parts.path)).rstrip("/")
    query = "&".join(sorted(part for part in parts.query.split("&") if part))
    return f"{parts.netloc.removeprefix('www.')}{path}?{query}"


def _count_pages(section: Section, links: Sequence[Link]) -> int:
    """Besides the first one."""
    return len({page_key(link.url) for link in links if section.holds_page(link.url)} - {page_key(section.front)})


@dataclass(frozen=True, kw_only=True)
class Visit:
    """The content of an address: a page with its links, or a file if it is no page."""

    url: str  # after redirects
    html: str = ""
    links: PageLinks = field(default_factory=PageLinks)
    file: FetchedFile | None = None


@dataclass(frozen=True, kw_only=True)
class CrawlLimits:
    depth: int = 2  # links away from the first page
    pages: int = 50
    total_s: float = 120.0
    site_bytes: int = 64 * 1024 * 1024  # of all pages together


async def fetch_section(
    source: Source, folder: Path, progress: Progress, downloader: Downloader, limits: CrawlLimits
) -> FetchedFile:
    """Crawl the section of an address; an address that is a document itself is a section of that document alone.
    Raises SourceError SITE_FORBIDS, and whatever the first page itself fails with."""
    with HashedFile(folder / "site", limit_bytes=sys.maxsize) as file:
        crawl = Crawl(downloader, folder, file, limits)
        first = await crawl.begin(source.identifier)
        await crawl.run(progress)
        for part in crawl.unread:
            file.write(to_line(part))
    host = site_of(first)
    structlog.get_logger().info(
        "site_fetched", host=host, pages=crawl.pages, files=len(crawl.attached), unread=len(crawl.unread)
    )
    return FetchedFile(
        path=file.path,
        name=host,
        media_type=SITE_TYPE,
        size_bytes=crawl.size_bytes,
        sha256=file.sha256,
        url=first,
        attached=tuple(crawl.attached),
    )


class Crawl:
    """The crawl of one section, from its first page on."""

    _rules: Protego  # of the host that the first page finally comes from
    _section: Section

    def __init__(self, downloader: Downloader, folder: Path, file: HashedFile, limits: CrawlLimits) -> None:
        self.pages = 0  # files included
        self.attached: list[FetchedFile] = []
        self.unread: list[UnreadPart] = []
        self._file = file
        self._downloader = downloader
        self._folder = folder
        self._limits = limits
        self._ends_at = asyncio.get_running_loop().time() + limits.total_s
        self._met: set[str] = set()  # keys of pages that were queued or read
        self._kept: set[str] = set()  # keys of pages that were written, and hashes of files
        self._queries: Counter[str] = Counter()  # how many of each path
        self._waiting: deque[tuple[str, int]] = deque()  # addresses, and how far they are from the first page
        self._asked = 0
        self._failures = 0

    @property
    def size_bytes(self) -> int:
        """Of everything that was kept."""
        return self._file.size_bytes + sum(file.size_bytes for file in self.attached)

    @property
    def _delay_s(self) -> float:
        """Between two requests, as the site asks."""
        return min(float(self._rules.crawl_delay(ROBOT) or 0.0), LONGEST_DELAY_S)

    @property
    def _left_s(self) -> float:
        return self._ends_at - asyncio.get_running_loop().time()

    async def begin(self, address: str) -> str:
        """Read the first page. Returns its address after redirects. Raises SourceError, ServiceError."""
        self._rules = await self._rules_of(address)
        first = await self._visit(address)
        if urlsplit(first.url).netloc != urlsplit(address).netloc:
            self._rules = await self._rules_of(first.url)
        self._section = choose_section(first.url, first.links.links)
        self._met.add(page_key(first.url))
        self._keep(first, depth=0)
        return first.url

    async def run(self, progress: Progress) -> None:
        """Crawl until nothing is left, or a limit is reached."""
        while self._waiting and self._may_go_on():
            total = min(self._limits.pages, self.pages + len(self._waiting))
            await progress.report(DocumentStatus.FETCHING, done=self.pages, total=total)
            together = 1 if self._delay_s else min(SIDE_BY_SIDE, self._limits.pages - self.pages)
            batch = [self._waiting.popleft() for _ in range(min(together, len(self._waiting)))]
            await asyncio.sleep(self._delay_s)
            visits = await asyncio.gather(*(self._try(address) for address, _ in batch))
            for (_, depth), visit in zip(batch, visits, strict=True):
                if visit is not None:
                    self._keep(visit, depth=depth)

    def _may_go_on(self) -> bool:
        return (
            self.pages < self._limits.pages
            and self._asked < self._limits.pages * TRIES_A_PAGE
            and self._failures < FAILURES_IN_A_ROW
            and self.size_bytes < self._limits.site_bytes
            and self._left_s > SHORTEST_WAIT_S + self._delay_s
        )

    async def _rules_of(self, url: str) -> Protego:
        """The robots.txt of the host of `url`. Raises SourceError SITE_FORBIDS, PAGE_ADDRESS_*, PAGE_NOT_FOUND_HOST."""
        parts, target = urlsplit(url), self._folder / "robots.txt"
        try:
            address = f"{parts.scheme}://{parts.netloc}/robots.txt"
            await self._downloader.download(address, target, limits=ROBOTS_LIMITS)
        except ServiceError:
            return Protego.parse(_NOTHING_ELSE)
        except SourceError as error:
            if error.code in _NO_HOST:
                raise
            return Protego.parse("" if error.code in _NO_RULES else _NOTHING_ELSE)
        rules = await asyncio.to_thread(Protego.parse, target.read_bytes().decode("utf-8", errors="replace"))
        if not rules.can_fetch(url, ROBOT):
            raise SourceError(FailureCode.SITE_FORBIDS, host=site_of(url))
        return rules

    async def _visit(self, address: str) -> Visit:
        """A page, or a file where there is room for it. Even a file gets no more than the time left. Raises SourceError
        and ServiceError with PAGE_* codes; PAGE_TYPE for what is neither a page nor a document."""
        self._asked += 1
        target = self._folder / f"page-{self._asked}"
        page, left_s = self._downloader.limits, max(SHORTEST_WAIT_S, self._left_s)
        total_s = min(page.total_s, left_s)
        limits = replace(
            page,
            total_s=total_s,
            file_patience=min(page.file_patience, left_s / total_s),
            file_bytes=min(self._limits.site_bytes - self.size_bytes, page.file_bytes),
        )
        visit = None
        try:
            download = await self._downloader.download(address, target, limits=limits)
            visit = await asyncio.to_thread(_read, download)
        finally:
            if visit is None or visit.file is None:
                target.unlink(missing_ok=True)
        return visit

    async def _try(self, address: str) -> Visit | None:
        try:
            visit = await self._visit(address)
        except IngestionError as error:
            if error.code not in _NO_FAILURES and error.params.get("status") not in _GONE:
                self.unread.append(UnreadPart(name=address, code=error.code))
                self._failures += 1
            return None
        self._failures = 0
        is_inside = self._section.is_of_site(visit.url) if visit.file else self._section.holds(visit.url)
        return visit if is_inside and self._rules.can_fetch(visit.url, ROBOT) else None

    def _keep(self, visit: Visit, *, depth: int) -> None:
        """Write the visit unless it was kept under another address, and queue its links."""
        keys = {visit.file.sha256} if visit.file else {page_key(visit.url)}
        # The canonical address is trusted only within the section: some sites name their front page on every page.
        if (named := visit.links.canonical) and self._section.holds(named):
            keys |= {page_key(named)} - {page_key(self._section.front)}
        if keys & self._kept:
            return
        self._kept |= keys
        self._met |= keys
        self.pages += 1
        if visit.file:
            self.attached.append(visit.file)
        else:
            self._file.write(to_line(SitePage(url=visit.url, html=visit.html)))
        for link in visit.links.links if depth < self._limits.depth else ():
            key = page_key(link.url)
            path, _, query = key.partition("?")
            if query and self._queries[path] >= QUERIES_OF_A_PATH:
                continue
            if key not in self._met and self._section.admits(link) and self._rules.can_fetch(link.url, ROBOT):
                self._met.add(key)
                self._queries[path] += bool(query)
                self._waiting.append((link.url, depth + 1))


def _read(download: Download) -> Visit:
    """Blocking."""
    if download.content is Content.PAGE:
        html = decode_page(download.path.read_bytes())
        return Visit(url=download.url, html=html, links=scan_links(html, url=download.url))
    is_data = download.content is not Content.FILE and download.declared not in TEXT_FILES
    if is_data or not download.size_bytes or glance(download.path) in _NO_DOCUMENTS:
        raise SourceError(FailureCode.PAGE_TYPE, host=site_of(download.url), media_type=download.declared or "?")
    return Visit(url=download.url, file=download)
