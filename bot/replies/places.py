"""Places in a document, in the person's language.

In: locators. Out: `стр. 7, 12–13`, `слайд 3`, `строки 12–15 листа «Смета»`, `3:20–3:45`, `раздел «Сроки»`, preceded by
the file's name inside an archive; an empty text when nothing is known.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from bot.replies.names import shortened
from bot.texts import Words
from domain.documents import known_as
from domain.locator import Locator
from domain.tables import SourcedTable
from ingestion.records import Block
from rag.records import FactTable, Passage, TableRow

NAME_CHARACTERS = 60  # of a section, a sheet or a file
QUOTE_CHARACTERS = 60  # by which a quote is found on its page
Range = tuple[int, int]


def places(locators: Iterable[Locator], words: Words, *, title: str) -> str:
    """The most exact place known for these locators.

    A section with the document's own name (`title`) says nothing new and is left out.
    """
    known = list(locators)
    place = exact_place(known, words) or _sections(known, words, title)
    return ", ".join(filter(None, [_member(known, words), place]))


def exact_place(known: Sequence[Locator], words: Words) -> str:
    """Pages, slides, rows or moments; empty where only sections are known."""
    return _pages(known, words) or _slides(known, words) or _rows(known, words) or _moments(known, words)


def _pages(known: Sequence[Locator], words: Words) -> str:
    pages = stretches((each.page, each.page_end) for each in known)
    return words.plain("place-pages", pages=", ".join(pages)) if pages else ""


def _slides(known: Sequence[Locator], words: Words) -> str:
    slides = stretches((each.slide, None) for each in known)
    return words.plain("place-slides", slides=", ".join(slides)) if slides else ""


def _rows(known: Sequence[Locator], words: Words) -> str:
    """Row numbers of the first sheet; rows of different sheets cannot be listed together."""
    sheets = dict.fromkeys(each.headings[-1] if each.headings else "" for each in known if each.row is not None)
    if not sheets:
        return ""
    sheet = next(iter(sheets))
    of_sheet = [each for each in known if (each.headings[-1] if each.headings else "") == sheet]
    rows = ", ".join(stretches((each.row, each.row_end) for each in of_sheet))
    if not sheet:
        return words.plain("place-rows", rows=rows)
    return words.plain("place-rows-of", rows=rows, sheet=shortened(sheet, NAME_CHARACTERS))


def _moments(known: Sequence[Locator], words: Words) -> str:
    """Start and end of a single stretch; for several only the start of the first."""
    timed = [each for each in known if each.start_s is not None]
    if not timed:
        return ""
    start = timedelta(seconds=min(each.start_s or 0.0 for each in timed))
    end_s = timed[0].end_s
    if len(timed) == 1 and end_s is not None:
        return words.plain("place-stretch", start=start, end=timedelta(seconds=end_s))
    return words.plain("place-moment", start=start)


def _sections(known: Sequence[Locator], words: Words, title: str) -> str:
    sections = dict.fromkeys(section(each, title) for each in known)
    name = next(iter(sections)) if len(sections) == 1 else ""
    return words.plain("place-section", section=shortened(name, NAME_CHARACTERS)) if name else ""


def _member(known: Sequence[Locator], words: Words) -> str:
    members = dict.fromkeys(each.member for each in known if each.member)
    name = next(iter(members)) if len(members) == 1 else ""
    return words.plain("place-member", file=shortened(name, NAME_CHARACTERS)) if name else ""


def section(locator: Locator, title: str) -> str:
    """The innermost heading; empty when it is the document's own title."""
    name = locator.headings[-1].strip() if locator.headings else ""
    return "" if name.casefold() == title.strip().casefold() else name


def page_of(quote: str, locator: Locator, blocks: Iterable[Block]) -> Locator:
    """The locator narrowed to the page of the block that holds the quote's first words; unchanged where none does."""
    words = " ".join(quote.split())[:QUOTE_CHARACTERS]
    within = range(locator.page or 0, (locator.page_end or locator.page or 0) + 1)
    holding = (
        block.locator
        for block in blocks
        if block.locator.page in within and words and words in " ".join(block.text.split())
    )
    place = next(holding, None)
    return replace(locator, page=place.page, page_end=place.page_end) if place else locator


def stretches(numbers: Iterable[tuple[int | None, int | None]]) -> list[str]:
    """`3–4`, `7`: sorted, with consecutive numbers merged into ranges."""
    ranges = sorted({(first, last or first) for first, last in numbers if first is not None})
    joined: list[Range] = []
    for first, last in ranges:
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return [str(first) if first == last else f"{first}–{last}" for first, last in joined]


def sourced_table(table: FactTable, words: Words) -> SourcedTable:
    """The table with its columns about values, in the language of `words`. The column of disagreements and that of
    replaced values are there only where they have something to say; that of sources is always the last."""
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
        f"{columns[each.column]}: {each.value} ({_source(each.source.passage, words)})"
        for each in row.notes
        if each.is_replaced is replaced
    )


def _sources(row: TableRow, columns: Sequence[str], words: Words) -> str:
    """The place that says all values; where they are several, a line for each with the columns that it says."""
    said: dict[str, list[str]] = {}
    for column, cell, source in zip(columns, row.cells, row.sources, strict=True):
        if cell:
            said.setdefault(_source(source.passage, words), []).append(column)
    return "\n".join(said) if len(said) == 1 else _by_column(said)


def _by_column(said: Mapping[str, Sequence[str]]) -> str:
    return "\n".join(f"{', '.join(columns)}: {place}" for place, columns in said.items())


def _source(passage: Passage, words: Words) -> str:
    name = known_as(passage.source_type, passage.title, passage.source_identifier)
    place = places([passage.locator], words, title=passage.title)
    return f"{name}, {place}" if place else name
