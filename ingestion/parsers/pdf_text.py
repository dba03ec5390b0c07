"""The text of a PDF as paragraphs, page by page: of a book only some hundred pages are held at a time.

In: the lines of each page in order. Out: paragraphs, and a place for many of them. Which lines run along on every page,
and which words have a hyphen of their own, is asked of a stretch of pages and of both its neighbours: of the whole
document where it is no longer than two.
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

STRETCH_PAGES = 200  # some 3 MB of lines, of which three are held

Page = Sequence[PageLine]


def build_paragraphs(pages: Iterable[Page]) -> Iterator[Paragraph]:
    """In order, as soon as enough of what follows is known; an empty line ends one."""
    return join_pages(_readable(pages))


def paragraph_spool() -> Spool[Paragraph]:
    """Takes them one by one; many are compressed."""
    return Spool(None, Writing(write=_write, read=_read))


def _write(paragraphs: Sequence[Paragraph]) -> bytes:
    """`marshal` is quick, and what it reads here nobody else has written."""
    return marshal.dumps([(one.text, one.page, one.last_page, one.size, one.bold, one.lines) for one in paragraphs])


def _read(written: bytes) -> list[Paragraph]:
    return [
        Paragraph(text=text, page=page, last_page=last_page, size=size, bold=bold, lines=lines)
        for text, page, last_page, size, bold, lines in marshal.loads(written)  # noqa: S302 - never left this process
    ]


@dataclass(frozen=True, kw_only=True)
class _Stretch:
    """Neighbouring pages."""

    first: int  # from 0
    pages: Sequence[Page]

    @cached_property
    def edges(self) -> Counter[RunningKey]:
        return count_edges(self.pages, first=self.first)

    @cached_property
    def is_divided(self) -> bool:
        """Whether a line ends with a hyphen: nobody asks for words otherwise."""
        return any(line.text.endswith(HYPHENS) for page in self.pages for line in page)

    @cached_property
    def words(self) -> frozenset[str]:
        texts = ("\n".join(line.text for line in page) for page in self.pages)
        return frozenset(word.lower() for text in texts for word in WORD.findall(text))


def _readable(pages: Iterable[Page]) -> Iterator[tuple[Page, Collection[str]]]:
    """Pages as people would read them, each with the words of those around it."""
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
    """Each with those that stand before, at and after it."""
    held: list[_Stretch] = []
    for stretch in stretches:
        held.append(stretch)
        if len(held) > 1:
            yield held[-2], held
        del held[:-2]
    if held:
        yield held[-1], held
