"""PDF: the text of each page as paragraphs that know their page.

In: a PDF with a text layer, open or with an empty password. Out: a `Document`; pages that hold no text are listed.
It does no OCR and reads no tables as tables; `pdf_layout` makes paragraphs of lines.
"""

import struct
import zlib
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import DependencyError, DeprecationError, FileNotDecryptedError, PyPdfError

from domain.locator import Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.language import detect_language
from ingestion.parsers.kinds import FileInfo, FileKind
from ingestion.parsers.pdf_layout import Paragraph, build_paragraphs
from ingestion.parsers.titles import choose_title
from ingestion.records import Block, BlockKind, Document

PageLines = list[str]

DAMAGE = (
    PyPdfError,
    DependencyError,  # a picture format that only a program outside could read
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
"""What pypdf raises on damaged files (met on fuzzed ones): it trusts objects to be of the type they should be."""


def accepts(file: FileInfo) -> bool:
    """Content that bears the mark of a PDF."""
    return file.kind is FileKind.PDF


def parse(path: Path, info: FileInfo) -> Document:
    """A damaged page costs that page alone. Raises SourceError: FILE_ENCRYPTED, FILE_DAMAGED, FILE_WITHOUT_TEXT."""
    try:
        return _read(PdfReader(path), info)
    except FileNotDecryptedError as error:
        raise SourceError(FailureCode.FILE_ENCRYPTED, name=info.name, detail=str(error)) from error
    except DAMAGE as error:
        detail = f"{type(error).__name__}: {error}"
        raise SourceError(FailureCode.FILE_DAMAGED, name=info.name, detail=detail) from error


def _read(reader: PdfReader, info: FileInfo) -> Document:
    pages, damage = _read_pages(reader)
    without_text = tuple(number for number, lines in enumerate(pages, start=1) if not any(map(str.strip, lines)))
    if len(without_text) == len(pages):
        code = FailureCode.FILE_DAMAGED if damage else FailureCode.FILE_WITHOUT_TEXT
        raise SourceError(code, name=info.name, detail=damage)
    blocks = tuple(_to_block(paragraph) for paragraph in build_paragraphs(pages))
    return Document(
        title=choose_title(_stated(reader, "title"), blocks, name=info.name),
        blocks=blocks,
        pages=len(pages),
        pages_without_text=without_text,
        language=detect_language("\n".join(block.text for block in blocks)),
        author=_stated(reader, "author"),
    )


def _read_pages(reader: PdfReader) -> tuple[list[PageLines], str]:
    """Lines of each page, and what went wrong with the last page that could not be read."""
    pages: list[PageLines] = []
    damage = ""
    for index in range(len(reader.pages)):
        try:
            pages.append(reader.pages[index].extract_text().split("\n"))
        except FileNotDecryptedError:
            raise
        except DAMAGE as error:
            damage = f"page {index + 1}: {type(error).__name__}: {error}"
            pages.append([])
    return pages, damage


def _to_block(paragraph: Paragraph) -> Block:
    last = paragraph.last_page if paragraph.last_page != paragraph.page else None
    return Block(kind=BlockKind.PARAGRAPH, text=paragraph.text, locator=Locator(page=paragraph.page, page_end=last))


def _stated(reader: PdfReader, field: str) -> str | None:
    """The document information is often the first thing to be damaged; nobody misses it."""
    try:
        value = getattr(reader.metadata, field, None)
    except DAMAGE:
        return None
    return value.strip() or None if isinstance(value, str) else None
