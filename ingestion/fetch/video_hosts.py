"""Tells links to videos of known hosts from links to pages.

In: an address. Out: yes or no. Pure; hosts are data. `ingestion.fetch.video` does the fetching.
"""

import re
from urllib.parse import urlsplit

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


def is_video_host(url: str) -> bool:
    """Whether `url` is a video of one of the hosts above."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    paths = VIDEO_PATHS.get(_SUBDOMAIN.sub("", (parts.hostname or "").lower()))
    return parts.scheme in ("http", "https") and paths is not None and re.fullmatch(paths, parts.path) is not None
