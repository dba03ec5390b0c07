"""The sources of an answer: the block below it, and a passage that is shown on demand.

In: citations in the order of use. Out: rich text. The block has one line per document, with all its pages. It does not
decide what was used: `rag.answering` does.
"""

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from bot.replies.names import MEDIA_SIGNS, SIGNS, shortened, told_apart
from bot.replies.places import exact_place, places, section
from bot.replies.rich import BOLD, FOLDED_QUOTE, RichText, rich
from bot.texts import Words
from domain.addresses import readable_address, readable_host
from domain.documents import Medium, SourceType, known_as
from domain.locator import Locator
from rag.records import Citation, Passage
from rag.table_rows import Line, lines_in_words
from rag.words import Span

_ADDRESSED = frozenset({SourceType.LINK, SourceType.SITE})
TITLE_CHARACTERS = 80  # of a source in the block


def source_block(citations: Sequence[Citation], words: Words) -> RichText:
    """«Информация взята из:» and a line for each document; empty without citations."""
    if not citations:
        return RichText()
    lines = [_line(group, words) for group in _by_document(citations)]
    return rich(words.plain("answer-sources-label"), BOLD) + rich("\n" + "\n".join(lines))


def source_label(citation: Citation, words: Words, *, names: Iterable[str], characters: int) -> str:
    """A source on a button: `📄 стр. 7` if all sources are of one document, else `📄 Договор.pdf, стр. 7`. `names` are
    those of all documents of the answer, from which this one is told apart."""
    names = set(names)
    sign = _sign(citation.source_type, citation.locator)
    place = exact_place([citation.locator], words)
    page = place if len(place) <= characters // 2 else ""
    if len(names) == 1 and (named := page or section(citation.locator, citation.title)):
        return f"{sign} {shortened(named, characters)}"
    title = told_apart(names, characters - len(page))[cited_name(citation)]
    return f"{sign} {title}, {page}" if page else f"{sign} {title}"


def cited_name(citation: Citation) -> str:
    """What the person calls the document."""
    return known_as(citation.source_type, citation.title, citation.source_identifier)


def source_title(source_type: SourceType, title: str, identifier: str, locator: Locator | None = None) -> str:
    """`📄 Договор аренды.pdf`, `🔗 Правила расчётов, bank.example.org`; a page of a site has its own address."""
    name = known_as(source_type, title, identifier)
    line = f"{_sign(source_type, locator or Locator())} {shortened(name, TITLE_CHARACTERS)}"
    address = (locator.url if locator else None) or (identifier if source_type in _ADDRESSED else "")
    parts = urlsplit(address)
    if source_type is SourceType.LINK:
        host = readable_host(parts.hostname or "")
    else:
        host = readable_address(address).removeprefix(f"{parts.scheme}://")
    return f"{line}, {shortened(host, TITLE_CHARACTERS)}" if host and host != name else line


def _sign(source_type: SourceType, locator: Locator) -> str:
    """The source's sign; a locator with a time belongs to a recording, whatever the source type."""
    return SIGNS[source_type] if locator.start_s is None else MEDIA_SIGNS[Medium.AUDIO]


def _by_document(citations: Iterable[Citation]) -> list[list[Citation]]:
    groups: dict[str, list[Citation]] = {}
    for citation in citations:
        groups.setdefault(citation.document_id, []).append(citation)
    return list(groups.values())


def _line(group: Sequence[Citation], words: Words) -> str:
    first = group[0]
    title = source_title(first.source_type, first.title, first.source_identifier, first.locator)
    place = places((citation.locator for citation in group), words, title=first.title)
    return f"{title}, {place}" if place else title


def passage_quote(passage: Passage, words: Words, *, bold: Sequence[Span] = ()) -> RichText:
    """The passage word for word, as a folded quote under its title and place; in bold its parts `bold`. A table's rows
    among these stand above it: the answering row may be the twentieth of what is folded."""
    title = source_title(passage.source_type, passage.title, passage.source_identifier, passage.locator)
    place = places([passage.locator], words, title=passage.title)
    heading = rich(f"{title}, {place}" if place else title, BOLD)
    rows = (line.said for line in lines_in_words(passage.text) if line.row and _parts_of(line, bold))
    answering = rich("".join(f"\n{row}" for row in rows), BOLD)
    return heading + answering + rich("\n") + _emphasised(passage.text, bold).stripped().wrapped(FOLDED_QUOTE)


def _emphasised(text: str, bold: Sequence[Span]) -> RichText:
    """With the rows of tables in words, each bold as a whole if a part of it is."""
    shown = RichText()
    for line in lines_in_words(text):
        shown += rich("\n") if shown else RichText()
        parts = _parts_of(line, bold)
        if line.row:
            shown += rich(line.said, *([BOLD] if parts else []))
            continue
        at = 0
        for part in parts:
            if at <= part.start < part.end:
                shown += rich(line.said[at : part.start]) + rich(line.said[part.start : part.end], BOLD)
                at = part.end
        shown += rich(line.said[at:])
    return shown


def _parts_of(line: Line, bold: Sequence[Span]) -> list[Span]:
    """The parts of a line that are bold."""
    return [_clipped(span, line) for span in bold if span.start < line.end and span.end > line.start]


def _clipped(span: Span, line: Line) -> Span:
    return Span(start=max(span.start, line.start) - line.start, end=min(span.end, line.end) - line.start)
