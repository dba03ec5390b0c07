"""Reads the pages of a PDF with PDFium: lines with their fonts and positions.

In: a path. Out: an open document; for each page its `PageLine`s and whether a picture covers it. PDFium is native code
on untrusted files: only the limited process of `registry` may call this.
"""

import ctypes
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from ingestion.parsers.pdf_grid import MOST_RULES, Rule, find_grids, in_cells
from ingestion.parsers.pdf_lines import PageLine, Segment
from ingestion.parsers.pdf_tables import may_have_tables

FORCED_BOLD = 1 << 18  # flag of a font descriptor (PDF 32000-1, table 123)
BOLD_NAME = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)
LONGEST_FONT_NAME = 256
SAME_BASELINE = 0.35  # of the font size: smaller vertical differences stay on one line
LEVEL = 0.6  # of the font size: a line that ends in a superscript is not slanted
WORD_GAP = 0.15  # of the font's size
SEGMENT_GAP = 0.75  # of the font size: a wider gap divides cells of a table; a justified line has narrower ones
LONGEST_ROW_CHARS = 110  # a longer line that ends in a letter is prose; looking for its gaps would take time
RAISED, LONGEST_MARK = 0.15, 4  # of a footnote's mark: of the font size, and characters
LINE_GAP = 3.0  # of the font size: a wider gap separates columns
OVERLAP = 1.5  # of the font size: a superscript may overlap what follows
PAGES_AN_OPENING = 250
"""PDFium keeps what it loads for a page until the document is closed, some 95 kB for a printed book's page. After this
many pages the file is reopened, which costs no measurable time."""

MOST_OPENINGS = 20  # of a long file: opening takes time in proportion to its pages
THIN = 2.5  # points: what is drawn no wider is a line

CURRENCIES = frozenset("$€£¥₽")  # often in a column of their own, close to the one before
WORD = re.compile(r"\S+")
DIVIDED = re.compile("[\ufffe\x02]")  # PDFium's mark for a word divided at a line end; it has joined the lines


class PdfPages:
    """An open PDF; close it when done."""

    def __init__(self, path: Path) -> None:
        """Raises PdfiumError."""
        self._path = path
        self._read = 0  # pages read since it was opened
        self._document = pdfium.PdfDocument(path)
        self._pages_an_opening = max(PAGES_AN_OPENING, len(self) // MOST_OPENINGS)

    def close(self) -> None:
        """Free its memory."""
        self._document.close()

    def __len__(self) -> int:
        return len(self._document)

    def stated(self) -> tuple[str | None, str | None]:
        """Title and author in the document information; None where empty."""
        title, author = (self._document.get_metadata_value(key).strip() for key in ("Title", "Author"))
        return title or None, author or None

    def lines(self, index: int) -> list[PageLine]:
        """The lines of page `index`, from 0. Raises PdfiumError."""
        if self._read >= self._pages_an_opening:
            self._document.close()
            self._document, self._read = pdfium.PdfDocument(self._path), 0
        self._read += 1
        with closing(self._document[index]) as page, closing(page.get_textpage()) as text:
            grids = find_grids(_rules(page))
            borders = tuple(sorted({rule.at for grid in grids for rule in grid.down}))
            return in_cells(_merge_pieces(_pieces(_PageText(text), borders), borders), grids)

    def is_covered(self, index: int) -> bool:
        """Whether a single picture covers most of the page. Raises PdfiumError."""
        with closing(self._document[index]) as page:
            half = page.get_width() * page.get_height() / 2
            pictures = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
            places = (picture.get_bounds() for picture in pictures)
            return any(max(0, right - left) * max(0, top - bottom) >= half for left, bottom, right, top in places)


def _rules(page: pdfium.PdfPage) -> list[Rule]:
    """Thin lines, and the sides of stroked boxes, within the page; none of a page that is full of them."""
    handle, rules = page.raw, list[Rule]()
    farthest, highest = page.get_width() + THIN, page.get_height() + THIN
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for index in range(raw.FPDFPage_CountObjects(handle)):
        drawn = raw.FPDFPage_GetObject(handle, index)
        if raw.FPDFPageObj_GetType(drawn) != raw.FPDF_PAGEOBJ_PATH:
            continue
        raw.FPDFPageObj_GetBounds(drawn, left, bottom, right, top)
        if left.value >= -THIN <= bottom.value and right.value <= farthest and top.value <= highest:
            rules += _sides(drawn, left.value, bottom.value, right.value, top.value)
        if len(rules) > MOST_RULES:
            return []
    return rules


def _sides(drawn: Any, left: float, bottom: float, right: float, top: float) -> Iterator[Rule]:
    is_low, is_narrow = top - bottom <= THIN, right - left <= THIN
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    if is_low and not is_narrow:
        yield Rule(is_level=True, at=(top + bottom) / 2, begin=left, end=right)
    elif is_narrow and not is_low:
        yield Rule(is_level=False, at=(left + right) / 2, begin=bottom, end=top)
    elif not is_narrow and raw.FPDFPath_GetDrawMode(drawn, fill, stroke) and stroke.value:
        yield from (Rule(is_level=True, at=at, begin=left, end=right) for at in (bottom, top))
        yield from (Rule(is_level=False, at=at, begin=bottom, end=top) for at in (left, right))


class _PageText:
    """The text of a page and what PDFium knows of each character, which it writes to places that are made once."""

    def __init__(self, page: pdfium.PdfTextPage) -> None:
        count = page.count_chars()
        self.content = page.get_text_range() if count else ""
        self.is_aligned = len(self.content) == count
        """Else characters are beyond the BMP or missing, and indexes do not match."""
        self._handle = page.raw  # pypdfium2 looks it up at each call
        self._left, self._right, self._bottom, self._top = (ctypes.c_double() for _ in range(4))
        self._matrix, self._flags = raw.FS_MATRIX(), ctypes.c_int()
        self._font = ctypes.create_string_buffer(LONGEST_FONT_NAME)

    def origin(self, index: int) -> tuple[float, float]:
        """Where a character begins on its baseline."""
        raw.FPDFText_GetCharOrigin(self._handle, index, self._left, self._bottom)
        return self._left.value, self._bottom.value

    def ink(self, index: int) -> tuple[float, float]:
        """From where to where a character is drawn."""
        raw.FPDFText_GetCharBox(self._handle, index, self._left, self._right, self._bottom, self._top)
        return self._left.value, self._right.value

    def size(self, index: int) -> float:
        """Of its font; programs write 1-point fonts and enlarge them by a matrix."""
        size, matrix = float(raw.FPDFText_GetFontSize(self._handle, index)), self._matrix
        if raw.FPDFText_GetMatrix(self._handle, index, matrix):
            size *= float((matrix.c**2 + matrix.d**2) ** 0.5)
        return size

    def is_bold(self, index: int) -> bool:
        """By its font's flags, weight or name."""
        self._font.value, self._flags.value = b"", 0  # PDFium leaves them as they are for a character without a font
        raw.FPDFText_GetFontInfo(self._handle, index, self._font, LONGEST_FONT_NAME, self._flags)
        is_heavy = self._flags.value & FORCED_BOLD or raw.FPDFText_GetFontWeight(self._handle, index) >= 600
        return bool(is_heavy) or BOLD_NAME.search(self._font.value) is not None


def _pieces(text: _PageText, borders: Sequence[float]) -> Iterator[PageLine]:
    """Pieces of lines: PDFium begins a new line at each superscript or subscript. `borders`: of ruled columns."""
    lines = text.content.split("\r\n")
    divides = text.is_aligned and (bool(borders) or may_have_tables(lines))
    start = 0
    for line in lines:
        begin = start + len(line) - len(line.lstrip())
        start += len(line) + 2
        if not (stripped := line.strip()):
            continue
        *divided, words = DIVIDED.split(stripped)
        piece = _piece(text, begin, begin + len(stripped) - 1, words) if text.is_aligned else PageLine(text=words)
        if divides and not divided:
            yield from _table_pieces(text, begin, piece, borders)
            continue
        yield from (piece._replace(text=f"{part}-", right=piece.left) for part in divided)
        yield piece


def _piece(text: _PageText, begin: int, end: int, words: str) -> PageLine:
    """`words` with the look of characters `begin` to `end`; no position if the line does not run right."""
    left, baseline = text.origin(begin)
    right, last_baseline = text.origin(end)
    middle = (begin + end) // 2
    while middle < end and text.content[middle].isspace():
        middle += 1  # a space inserted by PDFium has no font
    size = text.size(middle)
    bold = text.is_bold(begin) and text.is_bold(middle) and text.is_bold(end)
    if abs(last_baseline - baseline) > size * LEVEL or right < left:
        return PageLine(text=words, size=size, bold=bold)
    return PageLine(text=words, size=size, bold=bold, baseline=baseline, left=left, right=right + size / 2)


def _table_pieces(text: _PageText, begin: int, piece: PageLine, borders: Sequence[float]) -> Iterator[PageLine]:
    """The piece with its segments; in parts where its words stand at different heights, as PDFium joins the raised mark
    of a footnote with what follows, and cells whose lines overlap."""
    mark, _, rest = piece.text.partition(" ")
    following = begin + len(piece.text) - len(rest.lstrip())
    is_mark = rest and len(mark) <= LONGEST_MARK
    if piece.is_placed and not (is_mark and piece.baseline - text.origin(following)[1] > piece.size * RAISED):
        yield _with_segments(text, begin, piece, borders)
        return
    heights = [
        (word, text.origin(begin + word.start())[1], text.origin(begin + word.end() - 1)[1])
        for word in WORD.finditer(piece.text)
    ]
    if any(abs(first - last) > piece.size * LEVEL for _, first, last in heights):
        yield piece  # it runs upwards
        return
    for _, group in groupby(heights, key=lambda each: round(each[1])):
        parts = [word for word, *_ in group]
        start, end = parts[0].start(), parts[-1].end()
        part = _piece(text, begin + start, begin + end - 1, piece.text[start:end])
        yield _with_segments(text, begin + start, part, borders) if end - start > LONGEST_MARK else part


def _with_segments(text: _PageText, begin: int, piece: PageLine, borders: Sequence[float]) -> PageLine:
    """The parts of a line between wide gaps or with a border between them; `begin` is its first character."""
    words = piece.text
    if len(words) > LONGEST_ROW_CHARS and words[-1].isalpha() and not borders:
        return piece
    segments: list[Segment] = []
    widest = piece.size * SEGMENT_GAP
    start, since, until = 0, 0.0, float("inf")  # of the open segment: its index, and where its ink begins and ends
    for word in WORD.finditer(words):
        first, after = word.span()
        left, right = text.ink(begin + first)
        is_apart = left - until > widest or _divides(borders, until, left)
        if is_apart or (first and word[0] in CURRENCIES):
            segments.append(Segment(words[start:first].rstrip(), since, until))
            start = first
        if start == first:
            since = left
        until = text.ink(begin + after - 1)[1] if after - first > 1 else right
    return piece._replace(segments=(*segments, Segment(words[start:], since, until)))


def _divides(borders: Sequence[float], left: float, right: float) -> bool:
    """Whether one of them, which are in order, is between two places."""
    return bool(borders) and left <= right and bisect_left(borders, left) < bisect_right(borders, right)


def _merge_pieces(pieces: Iterable[PageLine], borders: Sequence[float]) -> list[PageLine]:
    """Adjacent pieces as whole lines."""
    lines: list[PageLine] = []
    for piece in pieces:
        line = lines[-1] if lines else None
        if line and line.is_placed and piece.is_placed:
            size, gap = max(line.size, piece.size), piece.left - line.right
            is_level = abs(line.baseline - piece.baseline) <= size * SAME_BASELINE
            if is_level and -size * OVERLAP <= gap <= size * LINE_GAP:
                lines[-1] = _joined(line, piece, borders)
                continue
        lines.append(piece)
    return lines


def _joined(line: PageLine, piece: PageLine, borders: Sequence[float]) -> PageLine:
    space = " " if piece.left - line.right > line.size * WORD_GAP and piece.text[0].isalnum() else ""
    *before, last = line.segments or (Segment(line.text, line.left, line.right),)
    first, *after = piece.segments or (Segment(piece.text, piece.left, piece.right),)
    middle: tuple[Segment, ...] = (Segment(f"{last.text}{space}{first.text}", last.left, first.right),)
    if first.left - last.right > line.size * SEGMENT_GAP or _divides(borders, last.right, first.left):
        middle = (last, first)
    return line._replace(text=f"{line.text}{space}{piece.text}", right=piece.right, segments=(*before, *middle, *after))
