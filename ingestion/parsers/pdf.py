"""Reads PDF: the text of each page as paragraphs, headings and tables of numbers that know their page.

In: a PDF, unprotected or with an empty password. Out: a `Document`; pages without text of their own are listed, and if
all are, it has no blocks. PDFium reads (the same words as pypdf in a twelfth of the time, see benchmarks/README.md);
pypdf, pure Python and slow, retries what PDFium cannot open or decode, and gives lines without looks and positions.
Headings are told from paragraphs by their fonts; without sizes, or where half the text would be headings, there are
none: a wrong heading is attached to every passage below it. It does no OCR.
"""

import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import DependencyError, DeprecationError, FileNotDecryptedError, PyPdfError

from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.language import language_of
from ingestion.parsers.codec import report_pages
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import Outline, choose_title
from ingestion.parsers.pdf_layout import BULLET, Paragraph
from ingestion.parsers.pdf_lines import PageLine, plain_lines
from ingestion.parsers.pdf_pages import PdfPages, PdfTrouble, Stated
from ingestion.parsers.pdf_text import build_paragraphs, is_readable, is_shifted, mend_encoding, paragraph_spool
from ingestion.records import Block, BlockKind, Document
from ingestion.spool import Spool

LARGER = 1.12  # times the size of body text
SAME_LEVEL = 0.05  # relative difference of sizes on one level
LONGEST_HEADING_CHARS = 160
MOST_HEADING_LINES = 3
DEEPEST_LEVEL = 6
MOST_HEADINGS_SHARE = 0.45  # of all characters; a short list of questions and answers has 0.4
ENDS = frozenset(".,;")  # ends of a sentence, or of a line that PDFium has cut
LEADER = " … "  # in a table of contents, see `pdf_lines`
SIZE_STEP = 0.5  # points; sizes are rounded to it to find the size of body text


Looks = tuple[float, bool]
"""Font size in points, and whether it is bold."""

MOST_RETRIED_PAGES = 50  # at some 40 ms each; a file with more bad pages is bad itself

DAMAGE = (
    PyPdfError,
    DependencyError,  # a picture format that needs an external program
    DeprecationError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What pypdf raises on damaged (fuzzed) files: it assumes that objects have the right type."""

MOST_PAGES = 50_000  # a damaged file may claim any number
NAME_OF_TABLE = re.compile(r"[^\W\d_].*[^.;,]\Z", re.DOTALL)  # a line with letters that is no sentence
STAMP_CHARS = 60  # "Scanned by …", a page number, a fax header: not the page's text if a picture covers the page


class HeadingLooks:
    """Counts the characters of each look, from which the levels of headings follow."""

    def __init__(self) -> None:
        self._all: Counter[Looks] = Counter()  # with rounded sizes
        self._brief: Counter[Looks] = Counter()  # of paragraphs whose text may be a heading

    def note(self, paragraph: Paragraph) -> None:
        """Count the next paragraph."""
        self._all[_rounded(paragraph.size), paragraph.bold] += len(paragraph.text)
        if _may_be_heading(paragraph):
            self._brief[paragraph.size, paragraph.bold] += len(paragraph.text)

    def levels(self) -> Mapping[Looks, int]:
        """Levels of the looks that make a short paragraph a heading; call it after the last `note`."""
        (text_size, text_is_bold), _ = self._all.most_common(1)[0] if self._all else ((0, False), 0)
        if not text_size:
            return {}
        chosen = [looks for looks in self._brief if _stands_out(looks, text_size, text_is_bold=text_is_bold)]
        if sum(self._brief[looks] for looks in chosen) > self._all.total() * MOST_HEADINGS_SHARE:
            return {}
        return dict(zip(chosen, _levels_by_size([size for size, _ in chosen]), strict=True))


def level_of(paragraph: Paragraph, levels: Mapping[Looks, int]) -> int | None:
    """1 is the outermost level; None: no heading."""
    level = levels.get((paragraph.size, paragraph.bold))
    return level if level is not None and _may_be_heading(paragraph) else None


def _rounded(size: float) -> float:
    return round(size / SIZE_STEP) * SIZE_STEP


def _may_be_heading(paragraph: Paragraph) -> bool:
    text = paragraph.text
    return (
        not paragraph.is_table
        and len(text) <= LONGEST_HEADING_CHARS
        and paragraph.lines <= MOST_HEADING_LINES
        and any(character.isalpha() for character in text)
        and text[0] not in ENDS
        and text[-1] not in ENDS
        and LEADER not in text
        and (BULLET.match(text) is None or text[0].isdigit())
    )


def _stands_out(looks: Looks, text_size: float, *, text_is_bold: bool) -> bool:
    size, bold = looks
    if size >= text_size * LARGER:
        return True
    return bold and not text_is_bold and _rounded(size) >= text_size


def _levels_by_size(sizes: Sequence[float]) -> list[int]:
    """The largest size is level 1; nearly equal sizes share a level."""
    steps: list[float] = []
    for size in sorted(set(sizes), reverse=True):
        if not steps or size < steps[-1] * (1 - SAME_LEVEL):
            steps.append(size)
    return [min(sum(size <= step for step in steps), DEEPEST_LEVEL) for size in sizes]


class PdfUnreadable(Exception):
    """pypdf cannot find the file's structure, or work around it."""


class PdfLocked(Exception):
    """The file needs a password."""


class SecondReader:
    """Reads lines with pypdf."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._asked = 0

    def count_pages(self) -> int:
        """Raises PdfLocked, PdfUnreadable."""
        try:
            return len(self._reader.pages)
        except FileNotDecryptedError as error:
            raise PdfLocked from error
        except DAMAGE as error:
            raise PdfUnreadable(f"{type(error).__name__}: {error}") from error

    def lines(self, index: int) -> list[PageLine]:
        """The lines of page `index`, from 0; empty on failure, or after MOST_RETRIED_PAGES calls."""
        self._asked += 1
        if self._asked > MOST_RETRIED_PAGES:
            return []
        try:
            return plain_lines(self._reader.pages[index].extract_text().split("\n"))
        except DAMAGE:
            return []

    @cached_property
    def _reader(self) -> PdfReader:
        return PdfReader(self._path)


@dataclass(frozen=True, kw_only=True)
class _Page:
    lines: Sequence[PageLine]
    has_text: bool  # more than a stamp


@dataclass(kw_only=True)
class _Text:
    """Text collected page by page."""

    pages: int = 0
    pages_without: list[int] = field(default_factory=list)  # from 1
    paragraphs: Spool[Paragraph] = field(default_factory=paragraph_spool)
    looks: HeadingLooks = field(default_factory=HeadingLooks)

    @property
    def is_there(self) -> bool:
        return len(self.pages_without) < self.pages

    def count(self, pages: Iterable[_Page]) -> Iterator[Sequence[PageLine]]:
        """Count the pages and yield their lines."""
        for self.pages, page in enumerate(pages, start=1):
            if not page.has_text:
                self.pages_without.append(self.pages)
            yield page.lines


def parse(path: Path, info: FileInfo) -> Document:
    """Damaged pages yield no text. Reports pages. Raises SourceError: FILE_ENCRYPTED, FILE_DAMAGED, FILE_TOO_HEAVY."""
    second = SecondReader(path)
    try:
        with PdfPages(path) as first:
            text, stated = _gather(_read(first, second, _checked(len(first), info))), first.stated()
    except PdfTrouble as error:
        return _parse_otherwise(second, info, error)
    return _to_document(text, stated, info)  # after PDFium's memory is freed


def _parse_otherwise(second: SecondReader, info: FileInfo, trouble: PdfTrouble) -> Document:
    """By the second reader alone, when PDFium cannot open the file."""
    try:
        count = _checked(second.count_pages(), info)
        text = _gather(_otherwise(second, index) for index in range(count))
    except PdfLocked as error:
        raise SourceError(FailureCode.FILE_ENCRYPTED, name=info.name, detail=str(trouble)) from error
    except PdfUnreadable as error:
        code = FailureCode.FILE_ENCRYPTED if trouble.is_locked else FailureCode.FILE_DAMAGED
        raise SourceError(code, name=info.name, detail=f"{trouble} {error}") from error
    if not text.is_there:
        raise SourceError(FailureCode.FILE_DAMAGED, name=info.name, detail=str(trouble))
    return _to_document(text, Stated(title=None, author=None), info)


def _checked(count: int, info: FileInfo) -> int:
    if not count:
        raise SourceError(FailureCode.FILE_DAMAGED, name=info.name, detail="no pages")
    if count > MOST_PAGES:
        raise SourceError(FailureCode.FILE_TOO_HEAVY, name=info.name, detail=f"{count} pages")
    return count


def _read(first: PdfPages, second: SecondReader, count: int) -> Iterator[_Page]:
    for index in range(count):
        page = _read_page(first, second, index)
        report_pages(index + 1, count)
        yield page


def _read_page(first: PdfPages, second: SecondReader, index: int) -> _Page:
    try:
        lines = _mended(first.lines(index))
        text = _text_of(lines)
        if not is_readable(text) or is_shifted(text):
            return _otherwise(second, index)
        is_stamp = len("".join(text.split())) < STAMP_CHARS and first.is_covered(index)
        return _Page(lines=lines, has_text=bool(text.strip()) and not is_stamp)
    except PdfTrouble:
        return _otherwise(second, index)


def _otherwise(second: SecondReader, index: int) -> _Page:
    lines = _mended(second.lines(index))
    text = _text_of(lines)
    if text.strip() and is_readable(text) and not is_shifted(text):
        return _Page(lines=lines, has_text=True)
    return _Page(lines=(), has_text=False)


def _mended(lines: Sequence[PageLine]) -> list[PageLine]:
    """Mend wrong encodings, judging the whole page: a single line may be a foreign name."""
    text = _text_of(lines)
    mended = mend_encoding(text)
    if mended is text:
        return list(lines)
    return [
        replace(
            line, text=words, segments=tuple(each._replace(text=mend_encoding(each.text)) for each in line.segments)
        )
        for line, words in zip(lines, mended.split("\n"), strict=True)
    ]


def _text_of(lines: Sequence[PageLine]) -> str:
    return "\n".join(line.text for line in lines)


def _gather(pages: Iterable[_Page]) -> _Text:
    text = _Text()
    for paragraph in build_paragraphs(text.count(pages)):
        text.looks.note(paragraph)
        text.paragraphs.append(paragraph, size=len(paragraph.text))
    return text


def _to_document(text: _Text, stated: Stated, info: FileInfo) -> Document:
    blocks = _to_blocks(text) if text.is_there else ()
    return Document(
        title=choose_title(stated.title, blocks, name=info.name),
        blocks=blocks,
        pages=text.pages,
        pages_without_text=tuple(text.pages_without),
        language=language_of(blocks),
        author=stated.author,
    )


def _to_blocks(text: _Text) -> Sequence[Block]:
    levels = text.looks.levels()
    outline = Outline()
    for paragraph, following in pairwise(chain(text.paragraphs.finish(), (None,))):
        if paragraph is None:
            break
        last = paragraph.last_page if paragraph.last_page != paragraph.page else None
        outline.place = Locator(page=paragraph.page, page_end=last)
        level = level_of(paragraph, levels)
        if paragraph.is_table:
            outline.add(BlockKind.TABLE, paragraph.text)
        elif level is not None:
            outline.add_heading(paragraph.text, level)
        elif following is not None and following.is_table and NAME_OF_TABLE.search(paragraph.text):
            outline.name_table(paragraph.text)
        else:
            outline.add(BlockKind.PARAGRAPH, paragraph.text)
    return outline.finish()
