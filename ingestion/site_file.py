"""Several pages of one site in one file: the crawler writes it, the site parser reads it.

In: pages as they came, in reading order. Out: a file of JSON lines, `{"url", "html"}` for each page and one `{"unread":
[{"name": url, "code": …}, …]}` at the end. It fetches and extracts nothing.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from domain.documents import UnreadPart

SITE_TYPE = "application/x-baza-site"


@dataclass(frozen=True, kw_only=True)
class SitePage:
    """A page of a site: the text is decoded, the markup unchanged."""

    url: str
    html: str


@dataclass(frozen=True, kw_only=True)
class Unread:
    """The addresses that did not answer, or answered with something other than a page."""

    parts: tuple[UnreadPart, ...]


class SiteFile:
    """A site file under construction; only one page is in memory at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size_bytes = 0
        self._hash = hashlib.sha256()
        path.write_bytes(b"")

    def add(self, page: SitePage) -> None:
        """Append a page. Blocking, on a local disk."""
        self._append({"url": page.url, "html": page.html})

    def close(self, *, unread: Sequence[UnreadPart]) -> str:
        """Write what could not be read. Returns the SHA-256 (hex) of the whole file."""
        self._append({"unread": [part.to_json() for part in unread]})
        return self._hash.hexdigest()

    def _append(self, record: object) -> None:
        line = json.dumps(record, ensure_ascii=False).encode("utf-8", errors="replace") + b"\n"
        with self.path.open("ab") as file:
            file.write(line)
        self._hash.update(line)
        self.size_bytes += len(line)


def read_site(path: Path) -> Iterator[SitePage | Unread]:
    """Read what `SiteFile` wrote. Raises ValueError for a file that it did not write."""
    with path.open("rb") as file:
        for line in file:
            match json.loads(line):
                case {"url": str(url), "html": str(html)}:
                    yield SitePage(url=url, html=html)
                case {"unread": list(parts)}:
                    yield Unread(parts=tuple(map(UnreadPart.from_json, parts)))
                case _:
                    raise ValueError("not a line of a site")
