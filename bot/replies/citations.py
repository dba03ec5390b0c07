"""The sources of an answer: the block below it and the buttons that show the passages.

In: citations in the order of use. Out: rich text and buttons. Passages of one document are one line there, with all
its pages. It does not decide what was used: `rag.answering` does.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from urllib.parse import urlsplit

from aiogram.types import InlineKeyboardButton

from bot.keyboards import BUTTON_CHARACTERS, ShowSource, button
from bot.replies.names import SIGNS, known_as, shortened
from bot.replies.rich import BOLD, FOLDED_QUOTE, RichText, rich
from bot.texts import Words
from domain.documents import SourceType
from domain.locator import Locator
from rag.records import Citation, Passage

MAX_BUTTONS = 6
TITLE_CHARACTERS = 80  # of a source in the block


def source_block(citations: Sequence[Citation], words: Words) -> RichText:
    """«Информация взята из:» and a line for each document; empty without citations."""
    if not citations:
        return RichText()
    lines = [_line(group, words) for group in _by_document(citations)]
    return rich(words.plain("answer-sources-label"), BOLD) + rich("\n" + "\n".join(lines))


def source_buttons(citations: Sequence[Citation], words: Words) -> list[InlineKeyboardButton]:
    """A button for each place that was used; places that would look the same share one."""
    documents = {citation.document_id for citation in citations}
    labels: dict[str, Citation] = {}
    for citation in citations:
        labels.setdefault(_label(citation, words, alone=len(documents) == 1), citation)
    shown = list(labels.items())[:MAX_BUTTONS]
    return [button(label, ShowSource(chunk=citation.chunk_id)) for label, citation in shown]


def source_title(source_type: SourceType, title: str, identifier: str) -> str:
    """`📄 Договор аренды.pdf`, `🔗 Правила расчётов, bank.example.org`."""
    name = known_as(source_type, title, identifier)
    line = f"{SIGNS[source_type]} {shortened(name, TITLE_CHARACTERS)}"
    host = urlsplit(identifier).hostname if source_type is SourceType.LINK else None
    return f"{line}, {host}" if host and host != name else line


def places(locators: Iterable[Locator], words: Words) -> str:
    """`стр. 7, 12–13`; without pages the moment of a recording or the section; else an empty text."""
    known = list(locators)
    pages = _pages(known)
    if pages:
        return words.plain("place-pages", pages=", ".join(pages))
    moments = [locator.start_s for locator in known if locator.start_s is not None]
    if moments:
        return words.plain("place-moment", start=timedelta(seconds=min(moments)))
    sections = dict.fromkeys(locator.headings[-1] for locator in known if locator.headings)
    if len(sections) != 1:
        return ""
    return words.plain("place-section", section=shortened(next(iter(sections)), TITLE_CHARACTERS))


def _pages(locators: Iterable[Locator]) -> list[str]:
    ranges = {(found.page, found.page_end or found.page) for found in locators if found.page is not None}
    return [str(first) if first == last else f"{first}–{last}" for first, last in sorted(ranges)]


def _by_document(citations: Iterable[Citation]) -> list[list[Citation]]:
    groups: dict[str, list[Citation]] = {}
    for citation in citations:
        groups.setdefault(citation.document_id, []).append(citation)
    return list(groups.values())


def _line(group: Sequence[Citation], words: Words) -> str:
    first = group[0]
    title = source_title(first.source_type, first.title, first.source_identifier)
    place = places((citation.locator for citation in group), words)
    return f"{title}, {place}" if place else title


def _label(citation: Citation, words: Words, *, alone: bool) -> str:
    """The page, which is what tells buttons of one document apart; with other documents around, their titles too."""
    sign = SIGNS[citation.source_type]
    page = words.plain("place-pages", pages=str(citation.locator.page)) if citation.locator.page else ""
    if page and alone:
        return f"{sign} {page}"
    name = known_as(citation.source_type, citation.title, citation.source_identifier)
    title = shortened(name, BUTTON_CHARACTERS - len(page))
    return f"{sign} {title}, {page}" if page else f"{sign} {title}"


def passage_quote(passage: Passage, words: Words) -> RichText:
    """The passage word for word, folded, under its title and place."""
    title = source_title(passage.source_type, passage.title, passage.source_identifier)
    place = places([passage.locator], words)
    heading = rich(f"{title}, {place}" if place else title, BOLD)
    return heading + rich("\n") + rich(passage.text.strip(), FOLDED_QUOTE)
