"""Makes paragraphs of the lines that a page description consists of.

In: the lines of each page. Out: paragraphs with their pages, words rejoined at line ends, running headers and page
numbers left out. It sees no positions or fonts, only the lines and their lengths.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ingestion.chunking.sentences import split_sentences

EDGE_LINES = 2  # at the top and at the bottom of a page a running line is looked for
RUNNING_SHARE = 0.4  # of the pages; left and right pages often have their own header
FEWEST_RUNNING = 3  # pages
FULL_LINE_SHARE = 0.75  # of the usual length; a line shorter than this ends where its author wanted
USUAL_LENGTH_QUANTILE = 0.9

PAGE_NUMBER = re.compile(
    r"[-–—\s|]*(?:(?:page|p\.|страница|стр\.|с\.|лист)\s*)?(\d{1,4})(?:\s*(?:/|of|из|\|)\s*\d{1,4})?[-–—\s|]*",
    re.IGNORECASE,
)
LEADING_NUMBER = re.compile(r"^\d{1,4}\s+(?=\D)")  # "12 Author et al.": the page number before a header
BULLET = re.compile(r"^\s*(?:[•●▪◦‣∙·*–—-]|\(?\d{1,3}[.)]|\(?[a-zа-я][.)])\s+\S", re.IGNORECASE)
SENTENCE_END = re.compile(r"[.!?:;…][»”\"')\]]*$")
LINE_END_HYPHEN = re.compile(r"[^\W\d_][-\u2010]$")
FIRST_HALF = re.compile(r"[^\W\d_]+(?=[-\u2010]$)")
LONGEST_WORD_CHARS = 60
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")

HYPHENATED_ENDS = frozenset({"то", "либо", "нибудь", "таки", "ка", "де", "based", "like"})
"""Second halves before which the hyphen belongs to the word."""

RunningKey = str | int

SUBSTITUTES = {
    **dict(zip(range(0xFB00, 0xFB07), ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)),  # ligatures
    0x00: None,
    0xAD: None,  # soft hyphen
    0xFFFE: None,
    **dict.fromkeys(range(0xD800, 0xE000)),  # halves of characters, from broken fonts: not text, and no UTF-8
}


@dataclass(frozen=True, kw_only=True)
class Paragraph:
    """Text and the pages, from 1, on which it begins and ends."""

    text: str
    page: int
    last_page: int


def build_paragraphs(pages: Sequence[Sequence[str]]) -> list[Paragraph]:
    """Paragraphs of all pages in order; one that runs over a page break is one."""
    cleaned = [[line.translate(SUBSTITUTES).strip() for line in lines] for lines in pages]
    kept = drop_running_lines(cleaned)
    words = frozenset(word.lower() for lines in kept for line in lines for word in WORD.findall(line))
    paragraphs: list[Paragraph] = []
    for page, lines in enumerate(kept, start=1):
        texts = list(join_lines(lines, words))
        if texts and paragraphs and paragraphs[-1].last_page == page - 1 and _goes_on(paragraphs[-1].text, texts[0]):
            paragraphs.extend(_bridge_pages(paragraphs.pop(), texts.pop(0), words))
        paragraphs.extend(Paragraph(text=text, page=page, last_page=page) for text in texts)
    return paragraphs


def _bridge_pages(before: Paragraph, after: str, words: frozenset[str]) -> Iterator[Paragraph]:
    """The sentence that runs over the page break on its own, so that what is around it keeps its exact page."""
    page = before.last_page
    begin = split_sentences(before.text)[-1][0]
    end = split_sentences(after)[0][1]
    if before.text[:begin].strip():
        yield Paragraph(text=before.text[:begin].rstrip(), page=before.page, last_page=page)
        before = Paragraph(text=before.text[begin:], page=page, last_page=page)
    yield Paragraph(text=_join(before.text, after[:end], " ", words), page=before.page, last_page=page + 1)
    if after[end:].strip():
        yield Paragraph(text=after[end:].strip(), page=page + 1, last_page=page + 1)


def drop_running_lines(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """Without page numbers and lines that stand at the edge of many pages; such a line stays where it is first met.

    Only exact repetition counts: «Билет 1», «Билет 2» at the top of pages are headings, not headers.
    """
    edges = [{_running_key(line, page) for line in _edge_lines(lines)} for page, lines in enumerate(pages)]
    counts = Counter(key for keys in edges for key in keys)
    needed = max(FEWEST_RUNNING, len(pages) * RUNNING_SHARE)
    running = {key for key, count in counts.items() if count >= needed}
    met: set[RunningKey] = set()
    return [list(_without_running(lines, page, running, met)) for page, lines in enumerate(pages)]


def join_lines(lines: Iterable[str], words: frozenset[str]) -> Iterator[str]:
    """Paragraphs of one page: a line that reaches the usual length goes on in the next."""
    lines = list(lines)
    lengths = sorted(len(line) for line in lines if line)
    if not lengths:
        return
    full = lengths[int((len(lengths) - 1) * USUAL_LENGTH_QUANTILE)] * FULL_LINE_SHARE
    text, last = "", ""
    for line in lines:
        if text and (not line or _begins_paragraph(last, line, full)):
            yield text
            text = ""
        text = _join(text, line, " " if len(last) >= full else "\n", words) if text else line
        last = line
    if text:
        yield text


def _begins_paragraph(last: str, line: str, full: float) -> bool:
    if BULLET.match(line):
        return True
    return len(last) < full and (SENTENCE_END.search(last) is not None or not line[0].islower())


def _goes_on(text: str, following: str) -> bool:
    return SENTENCE_END.search(text) is None and following[:1].islower()


def _join(text: str, line: str, space: str, words: frozenset[str]) -> str:
    if LINE_END_HYPHEN.search(text) is None or not line[:1].islower():
        return text + space + line
    first, second = FIRST_HALF.search(text[-LONGEST_WORD_CHARS:]), WORD.match(line)
    keeps = first is not None and second is not None and _keeps_hyphen(first.group(), second.group(), words)
    return text + line if keeps else text[:-1] + line


def _keeps_hyphen(first: str, second: str, words: frozenset[str]) -> bool:
    """As the document writes the word elsewhere; a word that is met here only was divided by the typesetter."""
    if second.lower() in HYPHENATED_ENDS:
        return True
    return f"{first}{second}".lower() not in words and f"{first}-{second}".lower() in words


def _edge_lines(lines: Sequence[str]) -> list[str]:
    filled = [line for line in lines if line]
    return filled[:EDGE_LINES] + filled[-EDGE_LINES:]


def _running_key(line: str, page: int) -> RunningKey:
    """What must repeat: the words of a header, or how far a page number is ahead of the page's place in the file."""
    number = PAGE_NUMBER.fullmatch(line)
    if number is not None:
        return int(number.group(1)) - page
    return LEADING_NUMBER.sub("", " ".join(line.split()).casefold())


def _without_running(lines: Sequence[str], page: int, running: set[RunningKey], met: set[RunningKey]) -> Iterator[str]:
    filled = [index for index, line in enumerate(lines) if line]
    edge = {*filled[:EDGE_LINES], *filled[-EDGE_LINES:]}
    for index, line in enumerate(lines):
        key = _running_key(line, page)
        if index not in edge or key not in running:
            yield line
        elif isinstance(key, str) and key not in met:
            met.add(key)
            yield line
