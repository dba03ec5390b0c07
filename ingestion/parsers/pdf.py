"""Reads PDF: the text of each page as paragraphs, headings and tables of numbers that know their page.

In: a PDF, unprotected or with an empty password. Out: a `Document`; pages without text of their own are listed. PDFium
reads; pypdf, in twelve times as long, retries what PDFium cannot open or decode, and gives lines without looks and
positions. Headings are told from paragraphs by their fonts; where that is doubtful there are none: a wrong heading is
attached to every passage below it.
"""

import marshal
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import FileNotDecryptedError
from pypdfium2 import PdfiumError
from pypdfium2.raw import FPDF_ERR_PASSWORD

from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import tell_pages
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import Outline
from ingestion.parsers.pdf_layout import BULLET, Paragraph, build_paragraphs
from ingestion.parsers.pdf_lines import PageLine, is_readable, is_shifted, mend_encoding, plain_lines
from ingestion.parsers.pdf_pages import PdfPages
from ingestion.records import BlockKind, Document
from ingestion.spool import Spool, Writing

LARGER = 1.12  # times the size of body text
SAME_LEVEL = 0.05  # relative difference of sizes on one level
MOST_HEADINGS_SHARE = 0.45  # of all characters; a short list of questions and answers has 0.4
ENDS = frozenset(".,;")  # ends of a sentence, or of a line that PDFium has cut
NAME_OF_TABLE = re.compile(r"[^\W\d_].*[^.;,]\Z", re.DOTALL)  # a line with letters that is no sentence
MOST_PAGES = 50_000  # a damaged file may claim any number
MOST_RETRIED_PAGES = 50  # at some 40 ms each; a file with more bad pages is bad itself
STAMP_CHARS = 60  # "Scanned by …", a page number, a fax header: not the page's text if a picture covers the page

Looks = tuple[float, bool]
"""Font size in points, and whether it is bold."""

Page = tuple[Sequence[PageLine], bool]
"""Its lines, and whether they are more than a stamp."""

SPOOLED = Writing[Paragraph](  # marshal is fast, and safe here: only this process writes what it reads
    write=lambda paragraphs: marshal.dumps(list(map(tuple, paragraphs))),
    read=lambda written: [Paragraph(*fields) for fields in marshal.loads(written)],  # noqa: S302
)


def heading_levels(paragraphs: Iterable[Paragraph]) -> Mapping[Looks, int]:
    """Levels, 1 the outermost, of the looks that make a short paragraph of a document a heading."""
    everywhere: Counter[Looks] = Counter()  # characters of each look, its size rounded
    brief: Counter[Looks] = Counter()  # of paragraphs whose text may be a heading
    for paragraph in paragraphs:
        everywhere[_rounded(paragraph.size), paragraph.bold] += len(paragraph.text)
        if _may_be_heading(paragraph):
            brief[paragraph.size, paragraph.bold] += len(paragraph.text)
    (text_size, text_is_bold), _ = everywhere.most_common(1)[0] if everywhere else ((0.0, False), 0)
    chosen = [
        (size, bold)
        for size, bold in brief
        if size >= text_size * LARGER or (bold and not text_is_bold and _rounded(size) >= text_size)
    ]
    if not text_size or sum(brief[looks] for looks in chosen) > everywhere.total() * MOST_HEADINGS_SHARE:
        return {}
    steps: list[float] = []  # nearly equal sizes share a level
    for size in sorted({size for size, _ in chosen}, reverse=True):
        if not steps or size < steps[-1] * (1 - SAME_LEVEL):
            steps.append(size)
    return {looks: min(sum(looks[0] <= step for step in steps), 6) for looks in chosen}


def level_of(paragraph: Paragraph, levels: Mapping[Looks, int]) -> int | None:
    """None: no heading."""
    level = levels.get((paragraph.size, paragraph.bold))
    return level if level is not None and _may_be_heading(paragraph) else None


def _rounded(size: float) -> float:
    """To half a point, to find the size of body text."""
    return round(size * 2) / 2


def _may_be_heading(paragraph: Paragraph) -> bool:
    text = paragraph.text
    return (
        not paragraph.is_table
        and len(text) <= 160
        and paragraph.lines <= 3
        and any(character.isalpha() for character in text)
        and text[0] not in ENDS
        and text[-1] not in ENDS
        and " … " not in text  # as in a table of contents
        and (BULLET.match(text) is None or text[0].isdigit())
    )


class SecondReader:
    """Reads pages with pypdf."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left = MOST_RETRIED_PAGES

    def __len__(self) -> int:
        """Raises anything where the file is damaged."""
        return len(self._reader.pages)

    def page(self, index: int) -> Page:
        """Page `index`, from 0; empty on failure, or when too many were asked for."""
        self._left -= 1
        if self._left < 0:
            return (), False
        try:
            said = self._reader.pages[index].extract_text()
        except MemoryError:
            raise
        except Exception:  # it assumes that objects have the right type, which those of damaged files have not
            return (), False
        lines, text = _mended(plain_lines(said.split("\n")))
        has_text = bool(text.strip()) and is_readable(text) and not is_shifted(text)
        return lines if has_text else (), has_text

    @cached_property
    def _reader(self) -> PdfReader:
        return PdfReader(self._path)


@dataclass(frozen=True, kw_only=True)
class _Text:
    """Of all pages."""

    pages: int
    without: tuple[int, ...]  # numbers of those without text, from 1
    paragraphs: Sequence[Paragraph]


def _gather(pages: Iterable[Page]) -> _Text:
    """Page by page, so that only some are held."""
    have_text: list[bool] = []

    def lines() -> Iterator[Sequence[PageLine]]:
        for page, has_text in pages:
            have_text.append(has_text)
            yield page

    spool = Spool(None, SPOOLED)
    for paragraph in build_paragraphs(lines()):
        spool.append(paragraph, size=len(paragraph.text))
    without = tuple(number for number, has_text in enumerate(have_text, start=1) if not has_text)
    return _Text(pages=len(have_text), without=without, paragraphs=spool.finish())


def parse(path: Path, info: FileInfo) -> Document:
    """Damaged pages yield no text. Reports pages. Raises SourceError: FILE_ENCRYPTED, FILE_DAMAGED, FILE_TOO_HEAVY."""
    second = SecondReader(path)
    try:
        with PdfPages(path) as first:
            count = _checked(len(first), info)
            text, (title, author) = _gather(_read(first, second, count)), first.stated()
    except PdfiumError as trouble:
        return _to_document(_otherwise(second, info, trouble), info, title=None, author=None)
    return _to_document(text, info, title=title, author=author)  # after PDFium's memory is freed


def _otherwise(second: SecondReader, info: FileInfo, trouble: PdfiumError) -> _Text:
    """By the second reader alone, when PDFium cannot open the file."""
    try:
        count = len(second)
    except MemoryError:
        raise
    except Exception as error:
        needs_password = trouble.err_code == FPDF_ERR_PASSWORD or isinstance(error, FileNotDecryptedError)
        code = FailureCode.FILE_ENCRYPTED if needs_password else FailureCode.FILE_DAMAGED
        raise SourceError(code, name=info.name, detail=f"{trouble} {type(error).__name__}: {error}") from error
    text = _gather(second.page(index) for index in range(_checked(count, info)))
    if len(text.without) == text.pages:
        raise SourceError(FailureCode.FILE_DAMAGED, name=info.name, detail=str(trouble))
    return text


def _checked(count: int, info: FileInfo) -> int:
    if not count:
        raise SourceError(FailureCode.FILE_DAMAGED, name=info.name, detail="no pages")
    if count > MOST_PAGES:
        raise SourceError(FailureCode.FILE_TOO_HEAVY, name=info.name, detail=f"{count} pages")
    return count


def _read(first: PdfPages, second: SecondReader, count: int) -> Iterator[Page]:
    for index in range(count):
        try:
            lines, text = _mended(first.lines(index))
            is_stamp = len("".join(text.split())) < STAMP_CHARS and first.is_covered(index)
            is_usable = is_readable(text) and not is_shifted(text)
            page = (lines, bool(text.strip()) and not is_stamp) if is_usable else second.page(index)
        except PdfiumError:
            page = second.page(index)
        tell_pages.get()(index + 1, count)
        yield page


def _mended(lines: list[PageLine]) -> tuple[list[PageLine], str]:
    """The lines and their text, in their real encoding, which the whole page tells: a line may be a foreign name."""
    text = "\n".join(line.text for line in lines)
    mended = mend_encoding(text)
    if mended is text:
        return lines, text
    changed = [
        replace(
            line, text=words, segments=tuple(each._replace(text=mend_encoding(each.text)) for each in line.segments)
        )
        for line, words in zip(lines, mended.split("\n"), strict=True)
    ]
    return changed, mended


def _to_document(text: _Text, info: FileInfo, *, title: str | None, author: str | None) -> Document:
    outline = Outline()
    levels = heading_levels(text.paragraphs)
    has_text = len(text.without) < text.pages
    for paragraph, following in pairwise(chain(text.paragraphs if has_text else (), (None,))):
        if paragraph is None:
            break
        last = paragraph.last_page if paragraph.last_page != paragraph.page else None
        outline.place = Locator(page=paragraph.page, page_end=last)
        if paragraph.is_table:
            outline.add(BlockKind.TABLE, paragraph.text)
        elif (level := level_of(paragraph, levels)) is not None:
            outline.add_heading(paragraph.text, level)
        elif following is not None and following.is_table and NAME_OF_TABLE.search(paragraph.text):
            outline.name_table(paragraph.text)
        else:
            outline.add(BlockKind.PARAGRAPH, paragraph.text)
    document = outline.document(info.name, title, author=author, pages=text.pages)
    return replace(document, pages_without_text=text.without)
