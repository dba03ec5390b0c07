"""Reads PDF: the text of each page as paragraphs, headings and tables of numbers that know their page.

In: a PDF, unprotected or with an empty password. Out: a `Document`; pages without text of their own are listed, and if
all are, it has no blocks. PDFium reads (the same words as pypdf in a twelfth of the time, see docs/decisions.md); pypdf
retries what PDFium cannot open or decode. It does no OCR.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from pathlib import Path

from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.language import language_of
from ingestion.parsers.codec import report_pages
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.outline import Outline
from ingestion.parsers.pdf_headings import HeadingLooks, level_of
from ingestion.parsers.pdf_layout import Paragraph
from ingestion.parsers.pdf_lines import PageLine
from ingestion.parsers.pdf_pages import PdfPages, PdfTrouble, Stated
from ingestion.parsers.pdf_quality import is_readable, is_shifted, mend_encoding
from ingestion.parsers.pdf_second import PdfLocked, PdfUnreadable, SecondReader
from ingestion.parsers.pdf_text import build_paragraphs, paragraph_spool
from ingestion.parsers.titles import choose_title
from ingestion.records import Block, BlockKind, Document
from ingestion.spool import Spool

MOST_PAGES = 50_000  # a damaged file may claim any number
NAME_OF_TABLE = re.compile(r"[^\W\d_].*[^.;,]\Z", re.DOTALL)  # a line with letters that is no sentence
STAMP_CHARS = 60  # "Scanned by …", a page number, a fax header: not the page's text if a picture covers the page


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


def accepts(file: FileInfo) -> bool:
    """Content with the mark of a PDF."""
    return file.kind is FileKind.PDF


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
