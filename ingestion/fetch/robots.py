"""Reads a site's robots.txt, by RFC 9309.

In: an address of the site. Out: `RobotsRules`, checked before each page. A site whose rules cannot be fetched because
it is in trouble is not crawled; a site that has none, or refuses to show them, sets no limits.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from protego import Protego

from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.fetch.body import DownloadLimits
from ingestion.fetch.download import Downloader
from ingestion.fetch.robot_tags import ROBOT

ROBOTS_LIMITS = DownloadLimits(total_s=10, page_bytes=500 * 1024, file_bytes=0, cut=True)  # RFC 9309, 2.5: 500 KiB
LONGEST_DELAY_S = 10.0  # largest Crawl-delay obeyed; some ask for minutes to keep everybody off
_NAME = "robots.txt"

_NO_HOST = frozenset(
    {FailureCode.PAGE_ADDRESS_FORBIDDEN, FailureCode.PAGE_ADDRESS_INVALID, FailureCode.PAGE_NOT_FOUND_HOST}
)
_NO_RULES = frozenset({FailureCode.PAGE_STATUS, FailureCode.PAGE_TYPE, FailureCode.PAGE_TOO_MANY_REDIRECTS})
"""A refusal (4xx) and endless redirects mean that there are no rules: RFC 9309, 2.3.1.2 and 2.3.1.3."""


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
