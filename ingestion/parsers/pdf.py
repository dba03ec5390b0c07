"""Reads PDF: the text of each page as paragraphs, headings and tables of numbers that know their page.

In: a PDF, unprotected or with an empty password. Out: a `Document`; pages without text of their own are listed. PDFium
reads, pypdf retries what it cannot open or decode.
Headings are told from paragraphs by their fonts; where that is doubtful there are none: a wrong heading is attached to
every passage below it.
"""

import marshal
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path

import pypdf.filters  # pypdf imports it where it is used, which would cost each child that needs it 2 ms
from pypdf.errors import FileNotDecryptedError
from pypdfium2 import PdfiumError
from pypdfium2.raw import FPDF_ERR_PASSWORD

from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import tell_pages
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

SPOOLED = Writing[Paragraph](  # marshal is fast, and safe here: only this process writes what it reads
    write=lambda paragraphs: marshal.dumps(list(map(tuple, paragraphs))),
    read=lambda written: [Paragraph(*fields) for fields in marshal.loads(written)],  # noqa: S302
    size=lambda paragraph: len(paragraph.text),
)


def heading_levels(paragraphs: Iterable[Paragraph]) -> Mapping[Looks, int]:
    """Levels, 1 the outermost, of the looks that make a short paragraph of a document a heading."""
    everywhere: Counter[Looks] = Counter()  # characters of each look, its size rounded to half a point
    brief: Counter[Looks] = Counter()  # of paragraphs whose text may be a heading
    for paragraph in paragraphs:
        everywhere[round(paragraph.size * 2) / 2, paragraph.bold] += len(paragraph.text)
        if _may_be_heading(paragraph):
            brief[paragraph.size, paragraph.bold] += len(paragraph.text)
    (text_size, text_is_bold), _ = everywhere.most_common(1)[0] if everywhere else ((0.0, False), 0)
    chosen = [
        (size, bold)
        for size, bold in brief
        if size >= text_size * LARGER or (bold and not text_is_bold and round(size * 2) / 2 >= text_size)
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
    """pypdf: it reads some of what PDFium cannot open or decode, in ten times as long and without looks and positions.
    It assumes that objects have the right type, which those of damaged files have not: it may raise anything."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left = MOST_RETRIED_PAGES

    @cached_property
    def _reader(self) -> pypdf.PdfReader:
        return pypdf.PdfReader(self._path)

    def __len__(self) -> int:
        return len(self._reader.pages)

    def lines(self, index: int) -> list[PageLine]:
        """Of page `index`, from 0; none on failure, or when too many were asked for."""
        self._left -= 1
        try:
            return plain_lines(self._reader.pages[index].extract_text().split("\n")) if self._left >= 0 else []
        except MemoryError:
            raise
        except Exception:
            return []


def parse(path: Path, name: str) -> Document:
    """Damaged pages yield no text. Reports pages. Raises SourceError: FILE_ENCRYPTED, FILE_DAMAGED, FILE_TOO_HEAVY."""
    spool, without, second = Spool(None, SPOOLED), list[int](), SecondReader(path)
    title = author = None
    try:
        with closing(PdfPages(path)) as first:
            count, (title, author) = _checked(len(first)), first.stated()
            spool.extend(build_paragraphs(_read(count, first, second, without)))
    except PdfiumError as error:
        spool, without = Spool(None, SPOOLED), []
        count = _checked(_pages_of(second, error))
        spool.extend(build_paragraphs(_read(count, None, second, without)))
        if len(without) == count:
            raise SourceError(FailureCode.FILE_DAMAGED, detail=str(error)) from error
    outline = Outline()  # after PDFium's memory is freed
    _add(spool.finish() if len(without) < count else (), outline)
    document = outline.document(name, title, author=author, pages=count)
    return replace(document, pages_without_text=tuple(without))


def _pages_of(second: SecondReader, trouble: PdfiumError) -> int:
    """How many it finds in a file that PDFium cannot open. Raises SourceError."""
    try:
        return len(second)
    except MemoryError:
        raise
    except Exception as error:
        needs_password = trouble.err_code == FPDF_ERR_PASSWORD or isinstance(error, FileNotDecryptedError)
        code = FailureCode.FILE_ENCRYPTED if needs_password else FailureCode.FILE_DAMAGED
        raise SourceError(code, detail=f"{trouble} {type(error).__name__}: {error}") from error


def _checked(count: int) -> int:
    if not count:
        raise SourceError(FailureCode.FILE_DAMAGED, detail="no pages")
    if count > MOST_PAGES:
        raise SourceError(FailureCode.FILE_TOO_HEAVY, detail=f"{count} pages")
    return count


def _read(count: int, first: PdfPages | None, second: SecondReader, without: list[int]) -> Iterator[Sequence[PageLine]]:
    """The lines of each page. Pages without text, counted from 1, are added to `without`: their lines are a stamp, or
    none."""
    for index in range(count):
        lines, is_stamp = None, False
        with suppress(PdfiumError):
            lines = _decoded(first.lines(index)) if first else None
            is_brief = lines is not None and len("".join("".join(line.text for line in lines).split())) < STAMP_CHARS
            is_stamp = first is not None and is_brief and first.is_covered(index)
        if lines is None:
            lines = _decoded(second.lines(index)) or []
        if is_stamp or not any(line.text.strip() for line in lines):
            without.append(index + 1)
        tell_pages.get()(index + 1, count)
        yield lines


def _decoded(lines: list[PageLine]) -> list[PageLine] | None:
    """In their real encoding; None where fonts decode to nonsense."""
    lines = mend_encoding(lines)
    text = "\n".join(line.text for line in lines)
    return lines if is_readable(text) and not is_shifted(text) else None


def _add(paragraphs: Sequence[Paragraph], outline: Outline) -> None:
    levels = heading_levels(paragraphs)
    for paragraph, following in pairwise(chain(paragraphs, (None,))):
        if paragraph is None:
            break
        last = paragraph.last_page if paragraph.last_page != paragraph.page else None
        outline.place = Locator(page=paragraph.page, page_end=last)
        if paragraph.is_table:
            outline.add(BlockKind.TABLE, paragraph.text)
        elif (level := level_of(paragraph, levels)) is not None:
            outline.add_heading(paragraph.text, level)
        else:
            names_table = following is not None and following.is_table and NAME_OF_TABLE.search(paragraph.text)
            outline.add(BlockKind.PARAGRAPH, paragraph.text, is_name=bool(names_table))
