"""Normalises addresses of pages as people write them, and finds a page's links and what it asks of robots.

In: an address from a message or the command line; the text of a page. Out: one canonical URL, so that the same page
sent twice has one name; `PageLinks`. Markup is scanned for tags in one linear pass, without a tree: parsing hostile
markup belongs in the parsing process, and a link that the scan misses costs only one page.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from urllib.parse import urljoin

import httpx

from domain.visible import readable_host

TRACKING_PARAMETERS = frozenset(
    {"fbclid", "gclid", "dclid", "yclid", "ysclid", "msclkid", "mc_cid", "mc_eid", "igshid", "_openstat", "twclid"}
)
_TELEGRAM_POST = re.compile(r"^https?://(?:www\.)?t\.me/(?:s/)?(\w{4,})/(\d+)(?:\?.*)?$", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_HOST_AND_PORT = re.compile(r"[^/?#:]+\.[^/?#:]+:\d{1,5}(?:[/?#]|$)")
_VIDEO = re.compile(
    r"https?://(?:(?:www|m|music)\.)?(?:youtube\.com/(?:watch|shorts/|live/|embed/)|youtu\.be/[\w-]{6,}(?:[?#]|$)"
    r"|vimeo\.com/(?:\d|channels/[^/]+/\d)|rutube\.ru/(?:video|shorts|live/video)/[^?#]"
    r"|(?:vk\.com|vkvideo\.ru)/(?:video|clip)[-\d]|dzen\.ru/(?:video/watch|shorts)/[^?#]"
    r"|ok\.ru/(?:video|live)/\d|twitch\.tv/(?:videos/\d|[^/?#]+/clip/[^?#]))",
    re.IGNORECASE,
)
"""Beginnings of the addresses of videos; EXTRACTORS of `video_child` read these hosts."""

ROBOT = "Baza"  # our name in robots.txt, headers and pages
MOST_LINKS = 2000  # of one page; a million would be a trap, or a sitemap
MOST_ANCHORS = 8000  # read per page; normalising an address takes 0.2 ms
_TAG = re.compile(
    r"<!--|<(/?)(a|base|link|meta|nav|header|footer|aside|script|style|template)\b([^<>]{0,4096})>", re.IGNORECASE
)
"""A tag ends at the next bracket of either kind, so that the scan is linear on any input."""
_ATTRIBUTE = re.compile(r"(?<![a-z-])([a-z-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
"""A name is matched possessively: backtracking through 4,096 letters without a value would be quadratic."""
_ENDS = {name: re.compile(rf"</{name}\b", re.IGNORECASE) for name in ("script", "style", "template")}
_AROUND = frozenset({"nav", "header", "footer", "aside"})
_REFRESH = re.compile(r"\s*(\d++)[\d.]*+\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
"""Possessive: with backtracking, a long number would be split at each of its digits."""
SOON_S = 5  # seconds; a page that refreshes later is there to be read
_UNFOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})


def normalise_url(text: str) -> str | None:
    """`Example.org/a?utm_source=x#top` -> `https://example.org/a`; None when it is no http(s) address. Telegram marks
    bare domains as links; they get https, as in today's browsers."""
    text = text.strip()
    if not _SCHEME.match(text) or _HOST_AND_PORT.match(text):
        text = f"https://{text}"
    try:
        url = httpx.URL(text)
        if url.scheme not in ("http", "https") or not url.host:
            return None
        return str(url.copy_with(query=_without_tracking(url.query), fragment=None))
    except (httpx.InvalidURL, ValueError):  # ValueError: idna's errors on A-labels
        return None


def address_to_read(address: str) -> str:
    """The address at which to read `address`; usually the same. A channel's post shows its text only in the frame for
    embedding in other sites."""
    return _TELEGRAM_POST.sub(r"https://t.me/\1/\2?embed=1&mode=tme", address)


def site_of(url: str) -> str:
    """The host as people name it: `www.example.org` -> `example.org`, with punycode decoded."""
    return readable_host(httpx.URL(url).raw_host.decode("ascii")).removeprefix("www.")


def _without_tracking(query: bytes) -> bytes | None:
    """The query without tracking parameters; the rest byte for byte, since re-encoding could name another page."""
    names = ((part, part.split("=", 1)[0].lower()) for part in query.decode("ascii").split("&") if part)
    kept = [part for part, name in names if name not in TRACKING_PARAMETERS and not name.startswith("utm_")]
    return "&".join(kept).encode("ascii") or None


def is_video_host(url: str) -> bool:
    """Whether `url` is a video of one of the known hosts."""
    return _VIDEO.match(url) is not None


@dataclass(frozen=True, kw_only=True)
class Link:
    """An absolute address without fragment and tracking parameters."""

    url: str
    in_content: bool  # not in a menu, header, footer or side column


@dataclass(frozen=True, kw_only=True)
class PageLinks:
    """The links of a page, content before menus; a nofollow page has none."""

    links: tuple[Link, ...] = ()
    canonical: str | None = None


def scan_links(text: str, *, url: str) -> PageLinks:
    """`url` is the page's address after redirects."""
    found: dict[str, Link] = {}
    base, canonical, may_follow = url, None, True
    for anchors, (name, attributes, in_content) in enumerate(_tags(text)):
        if len(found) >= MOST_LINKS or anchors >= MOST_ANCHORS:
            break
        if name == "base":
            base = _join(url, attributes.get("href", "")) or base
        elif name == "meta" and attributes.get("name", "").lower() in ("robots", ROBOT.lower()):
            may_follow = may_follow and not re.search(r"\b(nofollow|none)\b", attributes.get("content", "").lower())
        elif name == "link" and attributes.get("rel", "").lower() == "canonical":
            canonical = _join(base, attributes.get("href", ""))
        elif name == "a" and not _UNFOLLOWED & set(attributes.get("rel", "").lower().split()):
            address = _join(base, attributes.get("href", ""))
            if address and (address not in found or in_content):
                found[address] = Link(url=address, in_content=in_content)
    links = sorted(found.values(), key=lambda link: not link.in_content)
    return PageLinks(links=tuple(links) if may_follow else (), canonical=canonical)


def sent_on_to(text: str, *, url: str) -> str | None:
    """The target of `<meta http-equiv=refresh>`, as browsers follow it; None if it stays on the same page."""
    for name, attributes, _ in _tags(text):
        if name != "meta" or attributes.get("http-equiv", "").lower() != "refresh":
            continue
        refresh = _REFRESH.match(attributes.get("content", ""))
        if refresh and int(refresh.group(1)[:9]) <= SOON_S:
            address = _join(url, refresh.group(2))
            return address if address != normalise_url(url) else None
    return None


def _tags(text: str) -> Iterator[tuple[str, dict[str, str], bool]]:
    """Relevant opening tags, and whether they are in the content. Comments and scripts are skipped."""
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
            found = _ATTRIBUTE.findall(match.group(3))
            yield name, {key.lower(): unescape("".join(values)) for key, *values in found}, not around
        if position < 0:
            return


def _join(base: str, reference: str) -> str | None:
    reference = reference.strip()
    if not reference or reference.startswith("#"):
        return None
    try:
        joined = urljoin(base, reference)
    except ValueError:
        return None
    return normalise_url(joined) if joined.startswith(("http://", "https://")) else None
