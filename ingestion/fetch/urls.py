"""Normalises addresses of pages as people write them, and tells links to videos of known hosts from links to pages.

In: an address from a message or the command line. Out: one canonical URL, so that the same page sent twice has one
name; None for what is no web address. Hosts are data. It resolves nothing and connects to nothing.
"""

import re
from urllib.parse import urlsplit

import httpx

from domain.addresses import readable_host

TRACKING_PARAMETERS = frozenset(
    {"fbclid", "gclid", "dclid", "yclid", "ysclid", "msclkid", "mc_cid", "mc_eid", "igshid", "_openstat", "twclid"}
)
TRACKING_PREFIXES = ("utm_",)
READABLE_FORMS = (
    # A channel's post shows its text only in the frame for embedding in other sites.
    (
        re.compile(r"^https?://(?:www\.)?t\.me/(?:s/)?(\w{4,})/(\d+)(?:\?.*)?$", re.IGNORECASE),
        r"https://t.me/\1/\2?embed=1&mode=tme",
    ),
)
"""Pages whose text is at another address of the same host: (pattern, replacement)."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_HOST_AND_PORT = re.compile(r"[^/?#:]+\.[^/?#:]+:\d{1,5}(?:[/?#]|$)")
VIDEO_PATHS = {
    "youtube.com": r"/(watch|shorts/|live/|embed/).*",
    "youtu.be": r"/[\w-]{6,}",
    "vimeo.com": r"/(\d+|channels/[^/]+/\d+).*",
    "rutube.ru": r"/(video|shorts|live/video)/.+",
    "vk.com": r"/(video|clip)[-\d].*",
    "vkvideo.ru": r"/(video|clip)[-\d].*",
    "dzen.ru": r"/(video/watch|shorts)/.+",
    "ok.ru": r"/(video|live)/\d+.*",
    "twitch.tv": r"/(videos/\d+|[^/]+/clip/.+)",
}
"""Host -> pattern of its video paths; the subdomains `www`, `m` and `music` count as the host."""
_SUBDOMAIN = re.compile(r"^(www|m|music)\.")


def normalise_url(text: str) -> str | None:
    """`Example.org/a?utm_source=x#top` -> `https://example.org/a`; None when it is no http(s) address.

    Telegram marks bare domains as links; they get https, as in today's browsers.
    """
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
    """The address at which to read `address`; usually the same."""
    for pattern, form in READABLE_FORMS:
        if pattern.match(address):
            return pattern.sub(form, address)
    return address


def site_of(url: str) -> str:
    """The host as people name it: `www.example.org` -> `example.org`, with punycode decoded."""
    return readable_host(httpx.URL(url).raw_host.decode("ascii")).removeprefix("www.")


def _without_tracking(query: bytes) -> bytes | None:
    """The query without tracking parameters; the rest byte for byte, since re-encoding could name another page."""
    kept = [part for part in query.decode("ascii").split("&") if part and not _is_tracking(part)]
    return "&".join(kept).encode("ascii") or None


def _is_tracking(parameter: str) -> bool:
    name = parameter.split("=", 1)[0].lower()
    return name in TRACKING_PARAMETERS or name.startswith(TRACKING_PREFIXES)


def is_video_host(url: str) -> bool:
    """Whether `url` is a video of one of the hosts above."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    paths = VIDEO_PATHS.get(_SUBDOMAIN.sub("", (parts.hostname or "").lower()))
    return parts.scheme in ("http", "https") and paths is not None and re.fullmatch(paths, parts.path) is not None
