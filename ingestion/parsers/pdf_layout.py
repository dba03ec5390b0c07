"""Joins the lines of pages into paragraphs and tables.

In: the lines of each page. Out: paragraphs with their pages and looks, without running headers and page numbers, words
rejoined at line ends. Running lines and hyphenated words are looked up in a stretch of pages: only some hundred pages
of a book are held at a time.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from statistics import median
from typing import NamedTuple

from ingestion.chunking.sentences import split_sentences
from ingestion.parsers.pdf_grid import ruled_tables
from ingestion.parsers.pdf_lines import PageLine, clean_line
from ingestion.parsers.pdf_tables import PdfTable, begin_with_label, find_tables, inherit_heads

STRETCH_PAGES = 200  # some 3 MB of lines
EDGE_LINES = 2  # lines at the top and at the bottom of a page that may be running headers
RUNNING_SHARE = 0.4  # of the pages; left and right pages often have different headers
FEWEST_RUNNING = 3  # pages
PAGE_NUMBER = re.compile(
    r"[-–—\s|]*(?:(?:page|p\.|страница|стр\.|с\.|лист)\s*)?(\d{1,4})(?:\s*(?:/|of|из|\|)\s*\d{1,4})?[-–—\s|]*",
    re.IGNORECASE,
)
LEADING_NUMBER = re.compile(r"^\d{1,4}\s+(?=\D)")  # "12 Author et al.": the page number before a header

FULL_LINE_SHARE = 0.75  # of the usual length; a shorter line ends where its author wanted
WIDE_GAP = 1.4  # of the usual distance between baselines
DISPLAY_SIZE = 1.2  # of body text: lines this large are one heading, however short
SAME_SIZE = 0.06  # relative difference of font sizes in one paragraph: readers round

BULLET = re.compile(r"^\s*(?:[•●▪◦‣∙·*–—-]|\(?\d{1,3}[.)]|\(?[a-zа-я][.)])\s+\S", re.IGNORECASE)
CLAUSE = re.compile(r"\d{1,3}(?:\.\d{1,3})+\.?\s+\S")
CLAUSE_CHARS = 120  # of the line before a clause and of its own: they tell whether a sentence ends between them
SENTENCE_END = re.compile(r"[.!?:;…][»”\"')\]]*$")
HYPHENS = ("-", "\u2010")
LINE_END_HYPHEN = re.compile(r"[^\W\d_][-\u2010]$")
FIRST_HALF = re.compile(r"[^\W\d_]+(?=[-\u2010]$)")
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
HYPHENATED_ENDS = frozenset({"то", "либо", "нибудь", "таки", "ка", "де", "based", "like"})  # keep their hyphen

Page = Sequence[PageLine]
RunningKey = str | int


class Paragraph(NamedTuple):
    """Text, the pages (from 1) on which it begins and ends, and the font of its first line."""

    text: str
    page: int
    last_page: int
    size: float = 0  # points; 0: unknown
    bold: bool = False
    lines: int = 1
    is_table: bool = False  # Markdown


@dataclass(frozen=True, kw_only=True)
class _Measure:
    """The usual measures of a page."""

    full_chars: float
    pitch: float  # between baselines, points; 0: unknown
    size: float  # of the font, points; 0: unknown


def build_paragraphs(pages: Iterable[Page]) -> Iterator[Paragraph]:
    """Paragraphs in order, as soon as enough of the pages after is known; one that crosses a page break is joined."""
    waiting: list[Paragraph] = []  # the last paragraph, which may continue
    table: PdfTable | None = None  # the last one of the page before
    label = ""  # what stands below it, and nothing else
    for page, (lines, words) in enumerate(_without_running(pages), start=1):
        found = sorted((*ruled_tables(lines), *find_tables(lines)), key=lambda each: each.first)
        tables = inherit_heads(found, lines, table)
        if label and table and (whole := begin_with_label(tables, lines, table, label)):
            tables, waiting = whole, []
        table = tables[-1] if tables else None
        new = list(_with_tables(lines, tables, words, page))
        label = new[-1].text if len(new) > 1 and new[-2].is_table and not new[-1].is_table else ""
        if new and waiting and waiting[0].last_page == page - 1:
            new[:1] = _bridge_pages(waiting.pop(), new[0], words)
        if new:
            yield from waiting
            yield from new[:-1]
            waiting = new[-1:]
    yield from waiting


def _without_running(pages: Iterable[Page]) -> Iterator[tuple[Page, Collection[str]]]:
    """Pages without page numbers, and without running lines at their edges except where one first occurs; each with the
    words around it and before. Only exact repetition counts: «Билет 1», «Билет 2» at the top of pages are headings."""
    running, met, words = set[RunningKey](), set[RunningKey](), set[str]()
    numbered = enumerate([clean_line(line) for line in page] for page in pages)
    while stretch := list(islice(numbered, STRETCH_PAGES)):
        keys = ({_running_key(page[at].text, number) for at in _edge(page)} for number, page in stretch)
        needed = max(FEWEST_RUNNING, len(stretch) * RUNNING_SHARE)
        running |= {key for key, count in Counter(chain.from_iterable(keys)).items() if count >= needed}
        words.update(WORD.findall("\n".join(line.text for _, page in stretch for line in page).lower()))
        for number, page in stretch:
            yield list(_kept(page, number, running, met)), words


def _edge(page: Page) -> set[int]:
    filled = [at for at, line in enumerate(page) if line.text]
    return {*filled[:EDGE_LINES], *filled[-EDGE_LINES:]}


def _running_key(line: str, page: int) -> RunningKey:
    """What must repeat: a header's words, or the difference between a page number and the page's index in the file."""
    if number := PAGE_NUMBER.fullmatch(line):
        return int(number[1]) - page
    return LEADING_NUMBER.sub("", " ".join(line.split()).casefold())


def _kept(page: Page, number: int, running: set[RunningKey], met: set[RunningKey]) -> Iterator[PageLine]:
    edge = _edge(page)
    for at, line in enumerate(page):
        key = _running_key(line.text, number) if at in edge else None
        if key not in running:
            yield line
        elif isinstance(key, str) and key not in met:
            met.add(key)
            yield line


def _bridge_pages(before: Paragraph, after: Paragraph, words: Collection[str]) -> Iterator[Paragraph]:
    """The sentence that crosses the page break, if one does, and the text around it, which keeps its exact page."""
    is_prose = not (before.is_table or after.is_table)
    if not is_prose or SENTENCE_END.search(before.text) or not after.text[:1].islower():
        yield from (before, after)
        return
    page = before.last_page
    begin = split_sentences(before.text)[-1][0]
    end = split_sentences(after.text)[0][1]
    if before.text[:begin].strip():
        yield before._replace(text=before.text[:begin].rstrip())
        before = before._replace(text=before.text[begin:], page=page)
    yield before._replace(text=_join(before.text, after.text[:end], " ", words), last_page=page + 1)
    if after.text[end:].strip():
        yield after._replace(text=after.text[end:].strip())


def _with_tables(lines: Page, tables: Sequence[PdfTable], words: Collection[str], page: int) -> Iterator[Paragraph]:
    """The paragraphs of a page with its tables between them."""
    begin = 0
    taken = frozenset[int]().union(*(table.lines for table in tables))
    for table in sorted(tables, key=lambda each: each.first):
        yield from _join_lines([lines[at] for at in range(begin, table.first) if at not in taken], words, page)
        yield Paragraph(table.text, page, page, size=lines[table.first].size, lines=len(table.lines), is_table=True)
        begin = table.first
    yield from _join_lines([lines[at] for at in range(begin, len(lines)) if at not in taken], words, page)


def _join_lines(lines: Page, words: Collection[str], page: int) -> Iterator[Paragraph]:
    """Paragraphs of lines without tables: a line of the usual length continues in the next."""
    measure = _measure(lines)
    gathered: list[PageLine] = []
    for line in (*lines, PageLine(text="")):
        if gathered and (not line.text or _begins_paragraph(gathered[-1], line, measure)):
            text = gathered[0].text
            for above, below in pairwise(gathered):
                text = _join(text, below.text, " " if len(above.text) >= measure.full_chars else "\n", words)
            bold = all(each.bold for each in gathered)
            yield Paragraph(text, page, page, size=gathered[0].size, bold=bold, lines=len(gathered))
            gathered = []
        if line.text:
            gathered.append(line)


def _measure(lines: Page) -> _Measure:
    lengths = sorted(len(line.text) for line in lines if line.text)
    usual = lengths[int((len(lengths) - 1) * 0.9)] if lengths else 0
    steps = [step for above, line in pairwise(lines) if (step := _step(above, line)) > 0]
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    size = max(sizes, key=sizes.__getitem__, default=0)
    return _Measure(full_chars=usual * FULL_LINE_SHARE, pitch=median(steps) if steps else 0, size=size)


def _step(above: PageLine, line: PageLine) -> float:
    """Points from one baseline down to the next; 0 if that says nothing: another column, or unknown positions."""
    if not (above.is_placed and line.is_placed) or line.left > above.right or line.right < above.left:
        return 0
    return max(0.0, above.baseline - line.baseline)


def _begins_paragraph(last: PageLine, line: PageLine, measure: _Measure) -> bool:
    begins_low = line.text[0].islower()
    is_other_font = last.bold != line.bold or abs(last.size - line.size) > max(last.size, line.size) * SAME_SIZE
    if BULLET.match(line.text) or (is_other_font and not begins_low) or _begins_clause(last.text, line.text):
        return True
    step = _step(last, line)
    if measure.pitch and step > max(measure.pitch, last.size) * WIDE_GAP:
        return True
    is_display = last.size == line.size >= measure.size * DISPLAY_SIZE and step
    if is_display or len(last.text) >= measure.full_chars:
        return False
    return SENTENCE_END.search(last.text) is not None or not begins_low


def _begins_clause(last: str, line: str) -> bool:
    """Whether a sentence with the number of a clause begins here («3.2. Плата …»): of a contract set without gaps no
    other sign tells it. «… по п. | 3.2 договора» goes on."""
    if CLAUSE.match(line) is None:
        return False
    before = last[-CLAUSE_CHARS:]
    return any(start == len(before) + 1 for start, _ in split_sentences(f"{before} {line[:CLAUSE_CHARS]}"))


def _join(text: str, line: str, space: str, words: Collection[str]) -> str:
    if not text.endswith(HYPHENS) or LINE_END_HYPHEN.search(text[-2:]) is None or not line[:1].isalnum():
        return text + space + line
    if not line[:1].islower():
        return text + line  # "Lucene-BM25": no word is divided before a capital or a digit
    first, second = FIRST_HALF.search(text[-60:]), WORD.match(line)
    if first is None or second is None:
        return text[:-1] + line
    divided, whole = f"{first[0]}-{second[0]}".lower(), f"{first[0]}{second[0]}".lower()
    # The typesetter divided the word, unless the document writes it with a hyphen elsewhere.
    keeps_hyphen = second[0].lower() in HYPHENATED_ENDS or (whole not in words and divided in words)
    return text + line if keeps_hyphen else text[:-1] + line
