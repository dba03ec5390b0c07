"""The sources of an answer, and places in a document, in the person's language.

In: locators; citations in the order of use. Out: `стр. 7, 12–13`, `слайд 3`, `строки 12–15 листа «Смета»`, `3:20–3:45`,
`раздел «Сроки»`, preceded by the file's name inside an archive; the block below an answer, a line per document; a
passage that is shown on demand. What was used is decided by `rag.answering`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlsplit

from bot.replies.names import ADDRESSED, MEDIA_SIGNS, SIGNS, shortened, told_apart
from bot.replies.rich import BOLD, FOLDED_QUOTE, RichText, rich
from bot.texts import Words
from domain.documents import Medium, SourcedTable, SourceType
from domain.locator import Locator
from domain.visible import readable_address, readable_host
from ingestion.records import Block
from rag.records import Citation, FactTable, Passage, TableRow
from rag.table_rows import Line, lines_in_words
from rag.words import Span

NAME_CHARACTERS = 60  # of a section, a sheet or a file
QUOTE_CHARACTERS = 60  # by which a quote is found on its page


def places(locators: Iterable[Locator], words: Words, *, title: str) -> str:
    """The most exact place known for these locators; a section with the document's own name (`title`) is none."""
    known = list(locators)
    place, sections = exact_place(known, words), {section(each, title) for each in known}
    if not place and len(sections) == 1 and (name := sections.pop()):
        place = words.plain("place-section", section=shortened(name, NAME_CHARACTERS))
    members = {each.member for each in known if each.member}
    member = words.plain("place-member", file=shortened(members.pop(), NAME_CHARACTERS)) if len(members) == 1 else ""
    return ", ".join(filter(None, [member, place]))


def exact_place(known: Sequence[Locator], words: Words) -> str:
    """Pages, slides, rows or moments; empty where only sections are known. Of moments start and end of a single
    stretch, for several only the start of the first."""
    if pages := stretches((each.page, each.page_end) for each in known):
        return words.plain("place-pages", pages=", ".join(pages))
    if slides := stretches((each.slide, None) for each in known):
        return words.plain("place-slides", slides=", ".join(slides))
    if rows := _rows(known, words):
        return rows
    timed = sorted((each.start_s, each.end_s or 0.0) for each in known if each.start_s is not None)
    if not timed:
        return ""
    start, end = (timedelta(seconds=seconds) for seconds in timed[0])
    if end and len(timed) == 1:
        return words.plain("place-stretch", start=start, end=end)
    return words.plain("place-moment", start=start)


def _rows(known: Sequence[Locator], words: Words) -> str:
    """Row numbers of the first sheet; rows of different sheets cannot be listed together."""
    named = [("".join(each.headings[-1:]), each) for each in known]
    sheet = next((name for name, each in named if each.row is not None), "")
    rows = ", ".join(stretches((each.row, each.row_end) for name, each in named if name == sheet))
    if not sheet or not rows:
        return words.plain("place-rows", rows=rows) if rows else ""
    return words.plain("place-rows-of", rows=rows, sheet=shortened(sheet, NAME_CHARACTERS))


def section(locator: Locator, title: str) -> str:
    """The innermost heading; empty when it is the document's own title."""
    name = locator.headings[-1].strip() if locator.headings else ""
    return "" if name.casefold() == title.strip().casefold() else name


def page_of(quote: str, locator: Locator, blocks: Iterable[Block]) -> Locator:
    """The locator narrowed to the page of the block that holds the quote's first words; unchanged where none does."""
    words = " ".join(quote.split())[:QUOTE_CHARACTERS]
    within = range(locator.page or 0, (locator.page_end or locator.page or 0) + 1)
    for block in blocks:
        if block.locator.page in within and words and words in " ".join(block.text.split()):
            return replace(locator, page=block.locator.page, page_end=block.locator.page_end)
    return locator


def stretches(numbers: Iterable[tuple[int | None, int | None]]) -> list[str]:
    """`3–4`, `7`: sorted, with consecutive numbers merged into ranges."""
    ranges = sorted({(first, last or first) for first, last in numbers if first is not None})
    joined: list[tuple[int, int]] = []
    for first, last in ranges:
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return [str(first) if first == last else f"{first}–{last}" for first, last in joined]


def sourced_table(table: FactTable, words: Words) -> SourcedTable:
    """The table with its columns about values: disagreements and replaced values where there are any, and sources."""
    columns: dict[str, list[str]] = {
        words.plain("table-disputed"): [_notes(row, table.columns, words, replaced=False) for row in table.rows],
        words.plain("table-formerly"): [_notes(row, table.columns, words, replaced=True) for row in table.rows],
    }
    kept = {name: cells for name, cells in columns.items() if any(cells)}
    kept[words.plain("table-source")] = [_sources(row, table.columns, words) for row in table.rows]
    added = zip(*kept.values(), strict=True)
    return SourcedTable(
        title=table.title,
        columns=(*table.columns, *kept),
        rows=tuple((*row.cells, *more) for row, more in zip(table.rows, added, strict=True)),
    )


def _notes(row: TableRow, columns: Sequence[str], words: Words, *, replaced: bool) -> str:
    """A line for each other value: «цена: 350 000 руб. (Договор 14-2024.txt)»."""
    return "\n".join(
        f"{column}: {each.value} ({_source(each.source, words)})"
        for column, others in zip(columns, row.others, strict=False)
        for each in others
        if each.is_replaced is replaced
    )


def _sources(row: TableRow, columns: Sequence[str], words: Words) -> str:
    """The place that says all values; where they are several, a line for each with the columns that it says."""
    said: dict[str, list[str]] = {}
    for column, cell, source in zip(columns, row.cells, row.sources, strict=True):
        if cell:
            said.setdefault(_source(source, words), []).append(column)
    if len(said) == 1:
        return next(iter(said))
    return "\n".join(f"{', '.join(columns)}: {place}" for place, columns in said.items())


def _source(passage: Passage, words: Words) -> str:
    return ", ".join(filter(None, [passage.name, places([passage.locator], words, title=passage.title)]))


TITLE_CHARACTERS = 80  # of a source in the block


def source_block(citations: Sequence[Citation], words: Words) -> RichText:
    """«Информация взята из:» and a line for each document; empty without citations."""
    groups: dict[str, list[Citation]] = {}
    for citation in citations:
        groups.setdefault(citation.document_id, []).append(citation)
    text = rich(words.plain("answer-sources-label"), BOLD) if groups else RichText()
    for used in groups.values():
        text += rich(f"\n{source_line(used[0], (each.locator for each in used), words)}")
    return text


def source_label(citation: Citation, words: Words, *, names: Iterable[str], characters: int) -> str:
    """A source on a button: `📄 стр. 7` if all sources are of one document, else `📄 Договор.pdf, стр. 7`. `names` are
    those of all documents of the answer, from which this one is told apart."""
    names = set(names)
    sign, place = _sign(citation), exact_place([citation.locator], words)
    page = place if len(place) <= characters // 2 else ""
    if len(names) == 1 and (named := page or section(citation.locator, citation.title)):
        return f"{sign} {shortened(named, characters)}"
    title = told_apart(names, characters - len(page))[citation.name]
    return f"{sign} {title}, {page}" if page else f"{sign} {title}"


def source_line(source: Citation | Passage, locators: Iterable[Locator], words: Words) -> str:
    """`📄 Договор аренды.pdf, стр. 7`, `🔗 Правила, bank.example.org`; a page of a site has its own address."""
    address = source.locator.url or (source.source_identifier if source.source_type in ADDRESSED else "")
    parts = urlsplit(address)
    if source.source_type is SourceType.LINK:
        host = readable_host(parts.hostname or "")
    else:
        host = readable_address(address).removeprefix(f"{parts.scheme}://")
    named = [source.name, host] if host != source.name else [host]
    shown = [*(shortened(each, TITLE_CHARACTERS) for each in named), places(locators, words, title=source.title)]
    return f"{_sign(source)} {', '.join(filter(None, shown))}"


def _sign(source: Citation | Passage) -> str:
    """The source's sign; a locator with a time belongs to a recording, whatever the source type."""
    return SIGNS[source.source_type] if source.locator.start_s is None else MEDIA_SIGNS[Medium.AUDIO]


def passage_quote(passage: Passage, words: Words, *, bold: Sequence[Span] = ()) -> RichText:
    """The passage word for word, as a folded quote under its title and place; in bold its parts `bold`. A table's rows
    among these stand above it: the answering row may be the twentieth of what is folded."""
    heading = rich(source_line(passage, [passage.locator], words), BOLD)
    rows = (line.said for line in lines_in_words(passage.text) if line.row and _parts_of(line, bold))
    answering = rich("".join(f"\n{row}" for row in rows), BOLD)
    return heading + answering + rich("\n") + _emphasised(passage.text, bold).stripped().wrapped(FOLDED_QUOTE)


def _emphasised(text: str, bold: Sequence[Span]) -> RichText:
    """With the rows of tables in words, each bold as a whole if a part of it is."""
    shown = RichText()
    for line in lines_in_words(text):
        shown += rich("\n") if shown else RichText()
        parts, at = _parts_of(line, bold), 0
        if line.row and parts:
            parts = [Span(start=0, end=len(line.said))]
        for part in parts:
            if at <= part.start < part.end:
                shown += rich(line.said[at : part.start]) + rich(line.said[part.start : part.end], BOLD)
                at = part.end
        shown += rich(line.said[at:])
    return shown


def _parts_of(line: Line, bold: Sequence[Span]) -> list[Span]:
    return [
        Span(start=max(span.start, line.start) - line.start, end=min(span.end, line.end) - line.start)
        for span in bold
        if span.start < line.end and span.end > line.start
    ]
