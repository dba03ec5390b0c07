"""Joins the lines of a page description into paragraphs.

In: the lines of each page. Out: paragraphs with their pages and looks, words rejoined at line ends. Where positions are
known, a wider gap or another font ends a paragraph; otherwise the length of the lines decides.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from ingestion.chunking.sentences import split_sentences
from ingestion.parsers.pdf_grid import ruled_tables
from ingestion.parsers.pdf_lines import PageLine
from ingestion.parsers.pdf_tables import PdfTable, begin_with_label, find_tables, inherit_heads

FULL_LINE_SHARE = 0.75  # of the usual length; a shorter line ends where its author wanted
USUAL_LENGTH_QUANTILE = 0.9
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
LONGEST_WORD_CHARS = 60
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")

HYPHENATED_ENDS = frozenset({"то", "либо", "нибудь", "таки", "ка", "де", "based", "like"})
"""Second halves before which the hyphen belongs to the word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Paragraph:
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


def join_pages(pages: Iterable[tuple[Sequence[PageLine], Collection[str]]]) -> Iterator[Paragraph]:
    """Paragraphs of all pages in order; one that crosses a page break is joined. Each page comes with the words that
    tell how a hyphenated word is written elsewhere."""
    waiting: list[Paragraph] = []  # the last paragraph, which may continue
    table: PdfTable | None = None  # the last one of the page before
    label = ""  # what stands below it, and nothing else
    for page, (lines, words) in enumerate(pages, start=1):
        found = sorted((*ruled_tables(lines), *find_tables(lines)), key=lambda each: each.first)
        tables = inherit_heads(found, lines, table)
        if label and table and (whole := begin_with_label(tables, lines, table, label)):
            tables, waiting = whole, []
        table = tables[-1] if tables else None
        new = list(_with_tables(lines, tables, words, page))
        label = new[-1].text if len(new) > 1 and new[-2].is_table and not new[-1].is_table else ""
        if new and waiting and waiting[0].last_page == page - 1 and _goes_on(waiting[0], new[0]):
            new[:1] = _bridge_pages(waiting.pop(), new[0], words)
        if new:
            yield from waiting
            yield from new[:-1]
            waiting = new[-1:]
    yield from waiting


def _bridge_pages(before: Paragraph, after: Paragraph, words: Collection[str]) -> Iterator[Paragraph]:
    """Split off the sentence that crosses the page break, so that the text around it keeps its exact page."""
    page = before.last_page
    begin = split_sentences(before.text)[-1][0]
    end = split_sentences(after.text)[0][1]
    if before.text[:begin].strip():
        yield replace(before, text=before.text[:begin].rstrip())
        before = replace(before, text=before.text[begin:], page=page)
    yield replace(before, text=_join(before.text, after.text[:end], " ", words), last_page=page + 1)
    if after.text[end:].strip():
        yield replace(after, text=after.text[end:].strip())


def join_lines(lines: Iterable[PageLine], words: Collection[str], *, page: int) -> Iterator[Paragraph]:
    """Paragraphs of one page: a line of the usual length continues in the next."""
    lines = list(lines)
    measure = _measure(lines)
    gathered: list[PageLine] = []
    for line in lines:
        if gathered and (not line.text or _begins_paragraph(gathered[-1], line, measure)):
            yield _paragraph(gathered, measure, words, page)
            gathered = []
        if line.text:
            gathered.append(line)
    if gathered:
        yield _paragraph(gathered, measure, words, page)


def _with_tables(
    lines: Sequence[PageLine], tables: Sequence[PdfTable], words: Collection[str], page: int
) -> Iterator[Paragraph]:
    """The paragraphs of a page with its tables between them."""
    begin = 0
    taken = frozenset[int]().union(*(table.lines for table in tables))
    for table in sorted(tables, key=lambda each: each.first):
        yield from join_lines((lines[i] for i in range(begin, table.first) if i not in taken), words, page=page)
        yield Paragraph(
            text=table.text, page=page, last_page=page, size=table.size, lines=len(table.lines), is_table=True
        )
        begin = table.first
    yield from join_lines((lines[i] for i in range(begin, len(lines)) if i not in taken), words, page=page)


def _paragraph(lines: Sequence[PageLine], measure: _Measure, words: Collection[str], page: int) -> Paragraph:
    text = lines[0].text
    for above, line in pairwise(lines):
        text = _join(text, line.text, " " if len(above.text) >= measure.full_chars else "\n", words)
    bold = all(line.bold for line in lines)
    return Paragraph(text=text, page=page, last_page=page, size=lines[0].size, bold=bold, lines=len(lines))


def _measure(lines: Sequence[PageLine]) -> _Measure:
    lengths = sorted(len(line.text) for line in lines if line.text)
    usual = lengths[int((len(lengths) - 1) * USUAL_LENGTH_QUANTILE)] if lengths else 0
    steps = [step for above, line in pairwise(lines) if (step := _step(above, line)) > 0]
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    size = sizes.most_common(1)[0][0] if sizes else 0
    return _Measure(full_chars=usual * FULL_LINE_SHARE, pitch=median(steps) if steps else 0, size=size)


def _step(above: PageLine, line: PageLine) -> float:
    """Points from one baseline down to the next; 0 if that says nothing: another column, or unknown positions."""
    if not (above.is_placed and line.is_placed) or line.left > above.right or line.right < above.left:
        return 0
    return max(0.0, above.baseline - line.baseline)


def _begins_paragraph(last: PageLine, line: PageLine, measure: _Measure) -> bool:
    if BULLET.match(line.text) or _looks_differ(last, line) or _begins_clause(last.text, line.text):
        return True
    if measure.pitch and _step(last, line) > max(measure.pitch, last.size) * WIDE_GAP:
        return True
    if last.size == line.size >= measure.size * DISPLAY_SIZE and _step(last, line):
        return False
    if len(last.text) >= measure.full_chars:
        return False
    return SENTENCE_END.search(last.text) is not None or not line.text[0].islower()


def _begins_clause(last: str, line: str) -> bool:
    """Whether a sentence with the number of a clause begins here («3.2. Плата …»): of a contract set without gaps no
    other sign tells it. «… по п. | 3.2 договора» goes on."""
    if not CLAUSE.match(line):
        return False
    before = last[-CLAUSE_CHARS:]
    return any(start == len(before) + 1 for start, _ in split_sentences(f"{before} {line[:CLAUSE_CHARS]}"))


def _looks_differ(last: PageLine, line: PageLine) -> bool:
    if last.bold != line.bold and not line.text[0].islower():
        return True
    return abs(last.size - line.size) > max(last.size, line.size) * SAME_SIZE and not line.text[0].islower()


def _goes_on(before: Paragraph, after: Paragraph) -> bool:
    if before.is_table or after.is_table:
        return False
    return SENTENCE_END.search(before.text) is None and after.text[:1].islower()


def _join(text: str, line: str, space: str, words: Collection[str]) -> str:
    if not text.endswith(HYPHENS) or LINE_END_HYPHEN.search(text[-2:]) is None or not line[:1].isalnum():
        return text + space + line
    if not line[:1].islower():
        return text + line  # "Lucene-BM25": no word is divided before a capital or a digit
    first, second = FIRST_HALF.search(text[-LONGEST_WORD_CHARS:]), WORD.match(line)
    keeps = first is not None and second is not None and _keeps_hyphen(first.group(), second.group(), words)
    return text + line if keeps else text[:-1] + line


def _keeps_hyphen(first: str, second: str, words: Collection[str]) -> bool:
    """Whether the document writes the word with a hyphen elsewhere; otherwise the typesetter divided it."""
    if second.lower() in HYPHENATED_ENDS:
        return True
    return f"{first}{second}".lower() not in words and f"{first}-{second}".lower() in words
