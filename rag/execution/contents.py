"""The contents of a document: its sections with their pages, made by code.

In: a document's passages in order. Out: `Section`s by its headings; for a document without any, by what starts its
parts. No model is asked. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from rag.records import Passage
from rag.tokens import estimate_tokens

PART = 12  # passages of a part where there are no headings: some four pages
TITLE_CHARS = 90
MOST_SECTIONS = 160  # of contents that a model is shown; deeper headings are folded into those above them


@dataclass(frozen=True, kw_only=True)
class Section:
    """A run of passages under one heading."""

    title: str
    first: int  # places of its passages among the document's, the last one included
    last: int
    pages: str  # «12-15»; empty where there are none


def contents_of(passages: Sequence[Passage]) -> tuple[Section, ...]:
    """In reading order, each passage in exactly one section; as many levels of headings as give MOST_SECTIONS."""
    deepest = max((len(each.locator.headings) for each in passages), default=0)
    if not deepest:
        return _parts(passages)
    for depth in range(deepest, 0, -1):
        sections = _by_headings(passages, depth)
        if len(sections) <= MOST_SECTIONS:
            return sections
    return _parts(passages)


def contents_text(sections: Sequence[Section], *, tokens: int) -> str:
    """A line for each section, «3. Ответственность сторон, p. 12-15», as far as they fit."""
    lines: list[str] = []
    for number, section in enumerate(sections, start=1):
        line = f"{number}. {section.title}" + (f", p. {section.pages}" if section.pages else "")
        tokens -= estimate_tokens(line) + 1
        if tokens < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _by_headings(passages: Sequence[Passage], depth: int) -> tuple[Section, ...]:
    places = range(len(passages))
    runs = [list(run) for _, run in groupby(places, key=lambda place: passages[place].locator.headings[:depth])]
    return tuple(_section(passages, run, " > ".join(passages[run[0]].locator.headings[:depth])) for run in runs)


def _parts(passages: Sequence[Passage]) -> tuple[Section, ...]:
    places = range(len(passages))
    return tuple(_section(passages, places[start : start + PART], "") for start in range(0, len(passages), PART))


def _section(passages: Sequence[Passage], places: Sequence[int], title: str) -> Section:
    first, last = passages[places[0]], passages[places[-1]]
    begins, ends = first.locator.page, last.locator.page_end or last.locator.page
    pages = "" if begins is None else f"{begins}-{ends}" if ends and ends != begins else f"{begins}"
    told = " ".join((title or first.text).split())[:TITLE_CHARS]
    return Section(title=told, first=places[0], last=places[-1], pages=pages)
