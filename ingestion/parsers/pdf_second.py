"""The second opinion on a PDF: pypdf, for files and pages that PDFium cannot open or make sense of.

In: a path. Out: the lines of a page, without looks or places; none where this reader too is at a loss. It is pure
Python and slow, so the file is opened with the first question only.
"""

import struct
import zlib
from functools import cached_property
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import DependencyError, DeprecationError, FileNotDecryptedError, PyPdfError

from ingestion.parsers.pdf_lines import PageLine, plain_lines

MOST_PAGES = 50  # at some 40 ms each; a longer run of bad pages is a bad file

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


class PdfUnreadable(Exception):
    """Neither the file's structure nor a way around it was found."""


class PdfLocked(Exception):
    """A password is wanted."""


class SecondReader:
    """Lines by pypdf."""

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
        """Of the page `index`, from 0; empty when there are none or too many pages were asked for."""
        self._asked += 1
        if self._asked > MOST_PAGES:
            return []
        try:
            return plain_lines(self._reader.pages[index].extract_text().split("\n"))
        except DAMAGE:
            return []

    @cached_property
    def _reader(self) -> PdfReader:
        return PdfReader(self._path)
