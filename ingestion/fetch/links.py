"""Which pages a page links to, where it sends its reader on, and what it asks of robots.

In: the text of a page. Out: `PageLinks`, bounded in number, or an address. It scans for tags in one linear pass and
builds no tree: parsing hostile markup belongs into the parsers' process, and a link that such a scan misses is one page
less.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import urljoin

from ingestion.fetch.robot_tags import ROBOT_NAMES, RobotTags, read_tag
from ingestion.fetch.urls import normalise_url

MOST_LINKS = 2000  # of one page; a million of them would be a trap, or a sitemap
MOST_ANCHORS = 8000  # looked at; making an address absolute and clean takes 0.2 ms

_TAG = re.compile(
    r"<!--|<(/?)(a|base|link|meta|nav|header|footer|aside|script|style|template)\b([^<>]{0,4096})>", re.IGNORECASE
)
"""A tag ends at the next bracket of either kind, so that the scan is linear whatever it reads."""
_ATTRIBUTE = re.compile(r"(?<![a-z-])([a-z-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
"""A name is tried once, as a whole: one of 4,096 letters without a value would else be cut at each of them."""
_ENDS = {name: re.compile(rf"</{name}\b", re.IGNORECASE) for name in ("script", "style", "template")}
_AROUND = frozenset({"nav", "header", "footer", "aside"})
_REFRESH = re.compile(r"\s*(\d++)[\d.]*+\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
"""Gives no digit back: a long number that nothing follows would be cut in two at each of them."""
SOON_S = 5  # a page that goes on later is there to be read
_UNFOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})


@dataclass(frozen=True, kw_only=True)
class Link:
    """An absolute address without fragment and tracking."""

    url: str
    in_content: bool  # not in a menu, a header, a footer or a side column


@dataclass(frozen=True, kw_only=True)
class PageLinks:
    """What a page says of other pages; menus come last, and a page that says nofollow has none."""

    links: tuple[Link, ...] = ()
    canonical: str | None = None
    tags: RobotTags = field(default_factory=RobotTags)


def scan_links(text: str, *, url: str) -> PageLinks:
    """`url` is where the page came from, after redirects."""
    found: dict[str, Link] = {}
    base, canonical, tags = url, None, RobotTags()
    for anchors, (name, attributes, in_content) in enumerate(_tags(text)):
        if len(found) >= MOST_LINKS or anchors >= MOST_ANCHORS:
            break
        if name == "base":
            base = _join(url, attributes.get("href", "")) or base
        elif name == "meta" and attributes.get("name", "").lower() in ROBOT_NAMES:
            tags &= read_tag(attributes.get("content", ""))
        elif name == "link" and attributes.get("rel", "").lower() == "canonical":
            canonical = _join(base, attributes.get("href", ""))
        elif name == "a" and not _UNFOLLOWED & set(attributes.get("rel", "").lower().split()):
            address = _join(base, attributes.get("href", ""))
            if address and (address not in found or in_content):
                found[address] = Link(url=address, in_content=in_content)
    links = sorted(found.values(), key=lambda link: not link.in_content)
    return PageLinks(links=tuple(links) if tags.follow else (), canonical=canonical, tags=tags)


def sent_on_to(text: str, *, url: str) -> str | None:
    """Where `<meta http-equiv=refresh>` leads, as browsers go there; None when it leads nowhere else."""
    for name, attributes, _ in _tags(text):
        if name != "meta" or attributes.get("http-equiv", "").lower() != "refresh":
            continue
        refresh = _REFRESH.match(attributes.get("content", ""))
        if refresh and int(refresh.group(1)[:9]) <= SOON_S:
            address = _join(url, refresh.group(2))
            return address if address != normalise_url(url) else None
    return None


def _tags(text: str) -> Iterator[tuple[str, dict[str, str], bool]]:
    """Opening tags that matter, and whether they stand in the content. Comments and scripts are jumped over."""
    position, around = 0, 0
    while match := _TAG.search(text, position):
        position = match.end()
        closing, name = match.group(1), (match.group(2) or "").lower()
        if not name:
            position = text.find("-->", position)
        elif name in _AROUND:
            around = max(0, around - 1) if closing else around + 1
        elif name in _ENDS and not closing:
            end = _ENDS[name].search(text, position)
            position = end.end() if end else -1
        elif not closing:
            yield name, _attributes(match.group(3)), not around
        if position < 0:
            return


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): unescape(double or single or bare) for name, double, single, bare in _ATTRIBUTE.findall(text)}


def _join(base: str, reference: str) -> str | None:
    reference = reference.strip()
    if not reference or reference.startswith("#"):
        return None
    try:
        joined = urljoin(base, reference)
    except ValueError:
        return None
    return normalise_url(joined) if joined.startswith(("http://", "https://")) else None
