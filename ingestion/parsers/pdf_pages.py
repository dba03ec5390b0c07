"""Reads the pages of a PDF with PDFium: lines with their fonts and positions.

In: a path. Out: an open document; for each page its `PageLine`s and whether a picture covers it. PDFium is native code
on untrusted files: only the limited process of `registry` may call this.
"""

import ctypes
import re
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
_TextPage = Any  # PDFium's handle of a page's text, a ctypes type that mypy does not know
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
            return in_cells(_merge_pieces(_pieces(text, borders), borders), grids)

    def is_covered(self, index: int) -> bool:
        """Whether a single picture covers most of the page. Raises PdfiumError."""
        with closing(self._document[index]) as page:
            half = page.get_width() * page.get_height() / 2
            pictures = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
            places = (picture.get_bounds() for picture in pictures)
            return any(max(0, right - left) * max(0, top - bottom) >= half for left, bottom, right, top in places)


def _rules(page: pdfium.PdfPage) -> list[Rule]:
    """Thin lines, and the sides of stroked boxes, within the page; none of a page that is full of them."""
    handle, rules, width, height = page.raw, list[Rule](), page.get_width(), page.get_height()
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for index in range(raw.FPDFPage_CountObjects(handle)):
        drawn = raw.FPDFPage_GetObject(handle, index)
        if raw.FPDFPageObj_GetType(drawn) != raw.FPDF_PAGEOBJ_PATH:
            continue
        raw.FPDFPageObj_GetBounds(drawn, left, bottom, right, top)
        if min(left.value, bottom.value) >= -THIN and right.value <= width + THIN and top.value <= height + THIN:
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


def _pieces(text: pdfium.PdfTextPage, borders: Sequence[float]) -> Iterator[PageLine]:
    """Pieces of lines: PDFium begins a new line at each superscript or subscript. `borders`: of ruled columns."""
    count = text.count_chars()
    content = text.get_text_range() if count else ""
    aligned = len(content) == count  # else characters are beyond the BMP or missing, and indexes do not match
    handle: _TextPage = text.raw  # pypdfium2 looks it up at each call
    lines = content.split("\r\n")
    divides = aligned and (bool(borders) or may_have_tables(lines))
    start = 0
    for line in lines:
        begin, end = start + len(line) - len(line.lstrip()), start + len(line.rstrip()) - 1
        start += len(line) + 2
        if begin > end:
            continue
        *divided, words = DIVIDED.split(line.strip())
        piece = _piece(handle, begin, end, words) if aligned else PageLine(text=words)
        if divides and not divided:
            yield from _table_pieces(handle, begin, piece, borders)
            continue
        yield from (piece._replace(text=f"{part}-", right=piece.left) for part in divided)
        yield piece


def _piece(text: _TextPage, begin: int, end: int, words: str) -> PageLine:
    """`words` with the look of characters `begin` to `end`; no position if the line does not run right."""
    left, baseline = _origin(text, begin)
    right, last_baseline = _origin(text, end)
    middle = (begin + end) // 2
    while middle < end and chr(raw.FPDFText_GetUnicode(text, middle)).isspace():
        middle += 1  # a space inserted by PDFium has no font
    size, matrix = float(raw.FPDFText_GetFontSize(text, middle)), raw.FS_MATRIX()
    if raw.FPDFText_GetMatrix(text, middle, matrix):  # programs write 1-point fonts and enlarge them by it
        size *= float((matrix.c**2 + matrix.d**2) ** 0.5)
    bold = all(_is_bold(text, index) for index in {begin, middle, end})
    if abs(last_baseline - baseline) > size * LEVEL or right < left:
        return PageLine(text=words, size=size, bold=bold)
    return PageLine(text=words, size=size, bold=bold, baseline=baseline, left=left, right=right + size / 2)


def _table_pieces(text: _TextPage, begin: int, piece: PageLine, borders: Sequence[float]) -> Iterator[PageLine]:
    """The piece with its segments; in parts where its words stand at different heights, as PDFium joins the raised mark
    of a footnote with what follows, and cells whose lines overlap."""
    mark, _, rest = piece.text.partition(" ")
    following = begin + len(piece.text) - len(rest.lstrip())
    is_mark = rest and len(mark) <= LONGEST_MARK
    if piece.is_placed and not (is_mark and piece.baseline - _origin(text, following)[1] > piece.size * RAISED):
        yield _with_segments(text, begin, piece, borders)
        return
    heights = [
        (word, _origin(text, begin + word.start())[1], _origin(text, begin + word.end() - 1)[1])
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


def _with_segments(text: _TextPage, begin: int, piece: PageLine, borders: Sequence[float]) -> PageLine:
    """The parts of a line between wide gaps or with a border between them; `begin` is its first character."""
    words = piece.text
    if len(words) > LONGEST_ROW_CHARS and words[-1].isalpha() and not borders:
        return piece
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))  # once: a page has some thousand ends of words
    segments: list[Segment] = []
    start, since, until = 0, 0.0, float("inf")  # of the open segment: its index, and where its ink begins and ends
    for word in WORD.finditer(words):
        raw.FPDFText_GetCharBox(text, begin + word.start(), left, right, bottom, top)
        is_apart = left.value - until > piece.size * SEGMENT_GAP or any(until <= at <= left.value for at in borders)
        if is_apart or (word[0] in CURRENCIES and word.start()):
            segments.append(Segment(words[start : word.start()].rstrip(), since, until))
            start = word.start()
        if start == word.start():
            since = left.value
        if word.end() - word.start() > 1:
            raw.FPDFText_GetCharBox(text, begin + word.end() - 1, left, right, bottom, top)
        until = right.value
    return piece._replace(segments=(*segments, Segment(words[start:], since, until)))


def _origin(text: _TextPage, index: int) -> tuple[float, float]:
    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(text, index, x, y)
    return x.value, y.value


def _is_bold(text: _TextPage, index: int) -> bool:
    flags, name = ctypes.c_int(), ctypes.create_string_buffer(LONGEST_FONT_NAME)
    raw.FPDFText_GetFontInfo(text, index, name, LONGEST_FONT_NAME, flags)
    is_heavy = flags.value & FORCED_BOLD or raw.FPDFText_GetFontWeight(text, index) >= 600
    return bool(is_heavy) or BOLD_NAME.search(name.value) is not None


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
    if first.left - last.right > line.size * SEGMENT_GAP or any(last.right <= at <= first.left for at in borders):
        middle = (last, first)
    return line._replace(text=f"{line.text}{space}{piece.text}", right=piece.right, segments=(*before, *middle, *after))
