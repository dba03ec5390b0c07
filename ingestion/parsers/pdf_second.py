"""The second PDF reader: pypdf, for files and pages that PDFium cannot open or decode.

In: a path. Out: the lines of a page, without looks and positions; none if pypdf fails too. It is pure Python and slow,
so the file is opened only on the first call.
"""

import struct
import zlib
from functools import cached_property
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import DependencyError, DeprecationError, FileNotDecryptedError, PyPdfError

from ingestion.parsers.pdf_lines import PageLine, plain_lines

MOST_PAGES = 50  # at some 40 ms each; a file with more bad pages is bad itself

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
        """The lines of page `index`, from 0; empty on failure, or after MOST_PAGES calls."""
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
