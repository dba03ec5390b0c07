"""Reads a page's metadata: title, author, day, site, and the summary under its title.

In: the tree of a page. Out: `PageFacts`. Only markup counts (Open Graph, JSON-LD, `<time>`, meta elements); nothing is
guessed from the text, because a wrong date is worse than none.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lxml.html import HtmlElement  # type: ignore[import-untyped] # lxml brings no types
from trafilatura import extract_metadata

EARLIEST = datetime(1995, 1, 1, tzinfo=UTC)  # there were hardly any pages before
AUTHOR_CHARACTERS = 100

_NO_AUTHOR = re.compile(
    r"no author|unknown|anonymous|admin(istrator)?|редакция|автор|guest|user|author|.*\b(says|edited by|comments?)\b.*"
    r"|https?:.*|[\W\d_]*",
    re.IGNORECASE,
)
_SEPARATORS = (" | ", " / ", " — ", " – ", " - ", " :: ", " · ", " » ")


@dataclass(frozen=True, kw_only=True)
class PageFacts:
    """Metadata of a page; None where nothing credible is stated."""

    title: str | None
    author: str | None
    published_at: datetime | None
    site: str | None
    summary: str | None


def read_facts(tree: HtmlElement) -> PageFacts:
    """Read the metadata, without htmldate's extensive search, which would guess."""
    stated = extract_metadata(tree, extensive=False)
    return PageFacts(
        title=_without_site(stated.title, stated.sitename) or stated.sitename or None,
        author=_author(stated.author),
        published_at=_day(stated.date),
        site=stated.sitename or None,
        summary=" ".join(stated.description.split()) if stated.description else None,
    )


def _without_site(title: str | None, site: str | None) -> str | None:
    """`Rules | Bank` becomes `Rules` on the site Bank."""
    for separator in _SEPARATORS if title and site else ():
        head, found, tail = title.rpartition(separator)  # type: ignore[union-attr] # the line above
        if found and head.strip() and tail.strip().casefold() == site.casefold():  # type: ignore[union-attr] # as above
            return head.strip()
    return title


def _author(stated: str | None) -> str | None:
    """The credible names; trafilatura's `A; B` becomes `A, B`."""
    names = [name.strip() for name in (stated or "").split(";")]
    believed = ", ".join(name for name in names if not _NO_AUTHOR.fullmatch(name))
    return believed if 0 < len(believed) <= AUTHOR_CHARACTERS else None


def _day(stated: str | None) -> datetime | None:
    """The day from trafilatura's YYYY-MM-DD; None for January 1, which it also writes for a year without a day."""
    try:
        day = datetime.strptime(stated or "", "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
    if (day.month, day.day) == (1, 1) or not EARLIEST <= day <= datetime.now(UTC) + timedelta(days=1):
        return None
    return day
