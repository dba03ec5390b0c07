"""Which addresses belong to the section that a person asked for, and which of them are the same page.

In: the address of the section's first page and its links. Out: a `Section` that admits or refuses addresses, and keys
by which a page is known again. Pure; it knows neither robots.txt nor the network.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from urllib.parse import SplitResult, unquote, urlsplit

from ingestion.fetch.links import Link

FEWEST_PAGES_BELOW = 2  # so many pages under `/blog/` make `/blog` a section of its own
QUERIES_OF_A_PATH = 10  # calendars and sortings of one list have no end
DEEPEST_PATH = 12  # folders
REPEATED_SEGMENT = 3  # `/a/b/a/b/a/b`: a relative link that leads into itself

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
"""Parameters that change who asks or how it looks, and not what is said."""
_INDEX = re.compile(r"(?:index|default)\.(?:html?|php|aspx?)$", re.IGNORECASE)
_SESSION_IN_PATH = re.compile(r";(?:jsessionid|phpsessid)=[^/?]*", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Section:
    """Pages of one host below one folder."""

    host: str  # with its port, when there is one
    scheme: str
    front: str  # address of the first page
    folder: str  # "/docs/"
    content_only: bool = False  # links of menus lead out of the section
    _queries: Counter[str] = field(default_factory=Counter, repr=False, compare=False)

    def admit(self, link: Link) -> str | None:
        """The address to ask for, or None for what is neither page nor document of the section.

        Sites keep their documents in a folder apart (`/files/`): one that the text links to may stand anywhere on the
        host.
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
        """Whether a page lies in it, however it was reached."""
        parts = urlsplit(address)
        return parts.netloc == self.host and f"{parts.path.rstrip('/')}/".startswith(self.folder)

    def is_of_site(self, address: str) -> bool:
        """Whether it stands on the same host."""
        return urlsplit(address).netloc == self.host


def choose_section(start: str, links: Sequence[Link]) -> Section:
    """The narrowest part of the site that the first page is the front of.

    Pages below the page itself (`/blog` and `/blog/…`); else its folder; else, for a page at the top of its site or a
    list whose entries stand elsewhere, whatever its own text links to.
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
    """Without sessions and views, under the section's own scheme."""
    parts = urlsplit(url)
    kept = [part for part in parts.query.split("&") if part and part.split("=", 1)[0].lower() not in _SAME_PAGE]
    path = _SESSION_IN_PATH.sub("", parts.path) or "/"
    return parts._replace(scheme=scheme, path=path, query="&".join(kept), fragment="").geturl()


def page_key(url: str) -> str:
    """The same for addresses of one page: with or without the last slash or index file, parameters in any order."""
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
