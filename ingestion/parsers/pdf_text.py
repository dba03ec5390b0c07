"""Turns the text of a PDF into paragraphs, page by page: only some hundred pages of a book are held at a time.

In: the lines of each page in order. Out: paragraphs, and a spool for many of them. Running lines and hyphenated words
are looked up in a stretch of pages and both its neighbours, so in the whole document if it has at most two stretches.
"""

import marshal
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from ingestion.parsers.pdf_layout import HYPHENS, WORD, Paragraph, join_pages
from ingestion.parsers.pdf_lines import PageLine, RunningKey, RunningLines, clean_line, count_edges
from ingestion.spool import Spool, Writing

STRETCH_PAGES = 200  # some 3 MB of lines; three stretches are held

Page = Sequence[PageLine]


def build_paragraphs(pages: Iterable[Page]) -> Iterator[Paragraph]:
    """Paragraphs in order, as soon as enough of the following pages is known; an empty line ends a paragraph."""
    return join_pages(_readable(pages))


def paragraph_spool() -> Spool[Paragraph]:
    """A spool for single paragraphs; many are compressed in memory."""
    return Spool(None, Writing(write=_write, read=_read))


def _write(paragraphs: Sequence[Paragraph]) -> bytes:
    """Serialise with `marshal`, which is fast, and safe because only this process writes what it reads."""
    return marshal.dumps(
        [(one.text, one.page, one.last_page, one.size, one.bold, one.lines, one.is_table) for one in paragraphs]
    )


def _read(written: bytes) -> list[Paragraph]:
    return [
        Paragraph(text=text, page=page, last_page=last_page, size=size, bold=bold, lines=lines, is_table=is_table)
        for text, page, last_page, size, bold, lines, is_table in marshal.loads(written)  # noqa: S302 - never left this process
    ]


@dataclass(frozen=True, kw_only=True)
class _Stretch:
    """Consecutive pages."""

    first: int  # from 0
    pages: Sequence[Page]

    @cached_property
    def edges(self) -> Counter[RunningKey]:
        return count_edges(self.pages, first=self.first)

    @cached_property
    def is_divided(self) -> bool:
        """Whether any line ends with a hyphen; if none does, `words` is not needed."""
        return any(line.text.endswith(HYPHENS) for page in self.pages for line in page)

    @cached_property
    def words(self) -> frozenset[str]:
        texts = ("\n".join(line.text for line in page) for page in self.pages)
        return frozenset(word.lower() for text in texts for word in WORD.findall(text))


def _readable(pages: Iterable[Page]) -> Iterator[tuple[Page, Collection[str]]]:
    """Cleaned pages, each with the words of the pages around it."""
    running = RunningLines()
    for own, around in _with_neighbours(_stretches(pages)):
        counts = sum((one.edges for one in around), start=Counter[RunningKey]())
        of_pages = sum(len(one.pages) for one in around)
        is_divided = any(one.is_divided for one in around)
        words = frozenset[str]().union(*(one.words for one in around)) if is_divided else frozenset[str]()
        for page in running.drop(own.pages, counts, first=own.first, of_pages=of_pages):
            yield page, words


def _stretches(pages: Iterable[Page]) -> Iterator[_Stretch]:
    cleaned = ([clean_line(line) for line in page] for page in pages)
    first = 0
    while stretch := list(islice(cleaned, STRETCH_PAGES)):
        yield _Stretch(first=first, pages=stretch)
        first += len(stretch)


def _with_neighbours(stretches: Iterable[_Stretch]) -> Iterator[tuple[_Stretch, Sequence[_Stretch]]]:
    """Each stretch with itself and its neighbours before and after."""
    held: list[_Stretch] = []
    for stretch in stretches:
        held.append(stretch)
        if len(held) > 1:
            yield held[-2], held
        del held[:-2]
    if held:
        yield held[-1], held
