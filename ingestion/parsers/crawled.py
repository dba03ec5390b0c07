"""Reads a crawled section of a site as one `Document`: page after page, each under its title and with its address.

In: a file of `ingestion.files`. Out: a `Document` with a part for each page. Near-duplicate pages, and blocks that
most pages repeat, are left out. Pages that the process has no time for are listed as unread.
"""

import math
import resource
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from domain.documents import UnreadPart
from ingestion.errors import FailureCode, SourceError
from ingestion.files import read_site
from ingestion.language import language_of
from ingestion.parsers.html import read_page
from ingestion.parsers.outline import chapter
from ingestion.records import Document

SHINGLE_WORDS = 5
ALIKE = 0.9  # share of common shingles: the same page with another date or counter
FEWEST_PAGES = 4  # fewest pages of a site for which repeated blocks are looked for
REPEATED_ON = 0.6  # share of the pages
TIME_SHARE = 0.7  # of the process's time limit; the rest is for assembling and sending

Page = tuple[str, Document]
"""Its address, and what it says."""


def parse(path: Path, name: str) -> Document:
    """Raises SourceError FILE_WITHOUT_TEXT, ValueError for a file that the crawler did not write."""
    unread: list[UnreadPart] = []
    pages = _without_repetitions(_distinct(_read_pages(path, unread)))
    if not pages:
        raise SourceError(FailureCode.FILE_WITHOUT_TEXT, detail=f"{len(unread)} pages unread")
    blocks = tuple(block for url, page in pages for block in chapter(page, url=url))
    authors = {page.author for _, page in pages}
    return Document(
        title=pages[0][1].title,
        blocks=blocks,
        language=language_of(blocks),
        author=authors.pop() if len(authors) == 1 else None,
        parts=len(pages),
        unread=tuple(unread),
    )


def _read_pages(path: Path, unread: list[UnreadPart]) -> Iterator[Page]:
    """Pages with text; galleries and the like are skipped, and pages behind a wall are added to `unread`."""
    soft, _ = resource.getrlimit(resource.RLIMIT_CPU)  # what the parsing process has set itself; none in tests
    ends_at = math.inf if soft == resource.RLIM_INFINITY else time.monotonic() + soft * TIME_SHARE
    for record in read_site(path):
        if isinstance(record, UnreadPart):
            unread.append(record)
            continue
        if time.monotonic() > ends_at:
            unread.append(UnreadPart(name=record.url, code=FailureCode.FILE_TOO_SLOW))
            continue
        try:
            yield record.url, read_page(record.html, name=urlsplit(record.url).path.strip("/") or record.url)
        except SourceError as error:
            if error.code is not FailureCode.FILE_WITHOUT_TEXT:
                unread.append(UnreadPart(name=record.url, code=error.code))


def _distinct(pages: Iterable[Page]) -> list[Page]:
    kept: list[tuple[Page, frozenset[int]]] = []
    for url, page in pages:
        words = " ".join(block.text for block in page.blocks).casefold().split()
        starts = range(max(1, len(words) - SHINGLE_WORDS + 1))
        shingles = frozenset(hash(tuple(words[start : start + SHINGLE_WORDS])) for start in starts)
        if not any(len(shingles & others) >= ALIKE * len(shingles | others) for _, others in kept):
            kept.append(((url, page), shingles))
    return [page for page, _ in kept]


def _without_repetitions(pages: Sequence[Page]) -> list[Page]:
    """Drop blocks that stand on most pages: offers, addresses, notices that extraction took for text."""
    if len(pages) < FEWEST_PAGES:
        return list(pages)
    seen = Counter(text for _, page in pages for text in {block.text for block in page.blocks})
    repeated = {text for text, times in seen.items() if times > REPEATED_ON * len(pages)}
    own = ((url, page, tuple(each for each in page.blocks if each.text not in repeated)) for url, page in pages)
    return [(url, replace(page, blocks=blocks)) for url, page, blocks in own if blocks]
