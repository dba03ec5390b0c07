"""The sources of an answer: the block below it, and a passage that is shown on demand.

In: citations in the order of use. Out: rich text. Passages of one document are one line there, with all its pages. It
does not decide what was used: `rag.answering` does.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from urllib.parse import urlsplit

from bot.replies.names import SIGNS, shortened
from bot.replies.rich import BOLD, FOLDED_QUOTE, RichText, rich
from bot.texts import Words
from domain.documents import SourceType, known_as
from domain.locator import Locator
from rag.records import Citation, Passage

TITLE_CHARACTERS = 80  # of a source in the block


def source_block(citations: Sequence[Citation], words: Words) -> RichText:
    """«Информация взята из:» and a line for each document; empty without citations."""
    if not citations:
        return RichText()
    lines = [_line(group, words) for group in _by_document(citations)]
    return rich(words.plain("answer-sources-label"), BOLD) + rich("\n" + "\n".join(lines))


def source_label(citation: Citation, words: Words, *, alone: bool, characters: int) -> str:
    """A source on a button: `📄 стр. 7` of the only document, `📄 Договор.pdf, стр. 7` among others."""
    sign = SIGNS[citation.source_type]
    pages = _pages([citation.locator])
    page = words.plain("place-pages", pages=pages[0]) if pages else ""
    if alone and (place := page or _section(citation.locator, citation.title)):
        return f"{sign} {shortened(place, characters)}"
    name = known_as(citation.source_type, citation.title, citation.source_identifier)
    title = shortened(name, characters - len(page))
    return f"{sign} {title}, {page}" if page else f"{sign} {title}"


def source_title(source_type: SourceType, title: str, identifier: str) -> str:
    """`📄 Договор аренды.pdf`, `🔗 Правила расчётов, bank.example.org`."""
    name = known_as(source_type, title, identifier)
    line = f"{SIGNS[source_type]} {shortened(name, TITLE_CHARACTERS)}"
    host = urlsplit(identifier).hostname if source_type is SourceType.LINK else None
    return f"{line}, {host}" if host and host != name else line


def places(locators: Iterable[Locator], words: Words, *, title: str) -> str:
    """`стр. 7, 12–13`; without pages the moment of a recording or the section; else an empty text.

    A section that is called like the document (`title`) says nothing new and is left out.
    """
    known = list(locators)
    pages = _pages(known)
    if pages:
        return words.plain("place-pages", pages=", ".join(pages))
    moments = [locator.start_s for locator in known if locator.start_s is not None]
    if moments:
        return words.plain("place-moment", start=timedelta(seconds=min(moments)))
    sections = dict.fromkeys(_section(locator, title) for locator in known)
    section = next(iter(sections)) if len(sections) == 1 else ""
    return words.plain("place-section", section=shortened(section, TITLE_CHARACTERS)) if section else ""


def _section(locator: Locator, title: str) -> str:
    name = locator.headings[-1].strip() if locator.headings else ""
    return "" if name.casefold() == title.strip().casefold() else name


def _pages(locators: Iterable[Locator]) -> list[str]:
    """`3–4`, `7`: in order, and pages that follow each other as one stretch."""
    ranges = {(found.page, found.page_end or found.page) for found in locators if found.page is not None}
    stretches: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if stretches and first <= stretches[-1][1] + 1:
            stretches[-1] = (stretches[-1][0], max(stretches[-1][1], last))
        else:
            stretches.append((first, last))
    return [str(first) if first == last else f"{first}–{last}" for first, last in stretches]


def _by_document(citations: Iterable[Citation]) -> list[list[Citation]]:
    groups: dict[str, list[Citation]] = {}
    for citation in citations:
        groups.setdefault(citation.document_id, []).append(citation)
    return list(groups.values())


def _line(group: Sequence[Citation], words: Words) -> str:
    first = group[0]
    title = source_title(first.source_type, first.title, first.source_identifier)
    place = places((citation.locator for citation in group), words, title=first.title)
    return f"{title}, {place}" if place else title


def passage_quote(passage: Passage, words: Words) -> RichText:
    """The passage word for word, folded, under its title and place."""
    title = source_title(passage.source_type, passage.title, passage.source_identifier)
    place = places([passage.locator], words, title=passage.title)
    heading = rich(f"{title}, {place}" if place else title, BOLD)
    return heading + rich("\n") + rich(passage.text.strip(), FOLDED_QUOTE)
