"""Finds tables of numbers among the lines of a page, by the alignment of their values.

In: the lines of a page with their segments, read as rows of a label and values. Out: for each table its place among the
lines, its unit, the names of its columns and its rows. Printed tables mostly have no vertical rules, so a column is
where values of several rows stand above each other. One that goes on after a page break has the head of the table
before. Pure.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, repeat

from ingestion.parsers.outline import render_table
from ingestion.parsers.pdf_lines import PageLine, Segment

# Rows
FEWEST_ROWS = 2
MOST_ROWS = 2_000  # of a page; a printed one has some 100
MOST_WORDS_BEFORE = 3  # columns before the values: the number of the row, its label, one more
LONGEST_MEASURE = 6  # characters: «шт.», «кг», «pcs»
SAME_HEIGHT = 0.35  # of the font size: a smaller difference of baselines is none
MARK_HEIGHT, LONGEST_MARK = 0.6, 4  # of a footnote's mark beside its label: of the font size, and characters
JOINED_GAP = 0.5  # of the font size: a mark stands closer to its label than one cell to the next
NEAR_POINTS = 8  # of height: enough for the largest font of a table
NEAR_ROWS = 50  # rows of one height that are looked at
LAST_WORDS = 6  # of a line, for the quick look

_SIGN = r"[-+−–—~<>≈±(\[$€£¥₽\s]*+"
_AFTER = r"(?:\s?(?:%|[$€£¥₽]|руб\.?|bps|pts?|x|[)\]*†‡]))*+(?:\s?\((?:\d|[a-z])\))*+"
VALUE = re.compile(
    rf"{_SIGN}\d(?:[.,'’\s]{{0,2}}\d)*+(?:/\d+)?{_AFTER}"
    rf"|[$€£¥₽(\s]*+[-–—]++{_AFTER}"  # nothing
    r"|\(?(?:n/?[am]|n\.m\.)\)?|\*+",
    re.IGNORECASE,
)
NUMBER = re.compile(r"\d")
FORMATTED = re.compile(r"\d[.,]\d|\d\s\d{3}\b|[$€£¥₽%]|руб")  # no number of a page or a year
ROW_NUMBER = re.compile(r"\d{1,4}(?:\.\d{1,3})*[.)]?")
YEAR = re.compile(r"(?:\d{1,2}\.\d{1,2}\.)?(?:19|20)\d\d(?:\s?\([a-z\d]\))*")  # or the last day of one
BEFORE_VALUE = re.compile(r"[-+−–—($€£¥₽\s]*[($€£¥₽]")
AFTER_VALUE = re.compile(r"(?:[)%\]*†‡\s]|pts?|bps)+")

# How far a table reaches; distances and widths in font sizes
FARTHEST_ROW = 3.4  # from one baseline to the next
FARTHEST_HEAD = 2.4  # from one line of a head to the next
INDENT = 4  # a heading in the middle of the page stands farther right than a label
LONGEST_LABEL_LINE_CHARS = 160
SLIVER_GAP = 1.2
SAME_COLUMN_POINTS = 20  # farthest right edges of a column on two pages

# Heads
MOST_HEAD_LINES = 12
MOST_NAMED_HEADS = 2  # lines of a head that name the labels as well as other columns
LONGEST_HEAD_CHARS = 120  # of a line
LONGEST_NAME_CHARS = 70  # of a column, in one line
LONGEST_HEAD_TEXT = 160  # of the names of all columns, if those that span columns are repeated for each
BRIEF_NAME_CHARS = 40
BRIEF_SLACK, LONG_SLACK = 0.8, 0.15  # of its width: how far a name may stand out beside its columns
BESIDE_SHARE, SAME_EDGE_SHARE, CENTRED_SHARE = 0.75, 0.1, 0.35  # of the distance between two columns

UNIT = re.compile(
    r"\b(?:million|thousand|billion)s?\b|\bunaudited\b|\bper[- ]share\b"
    r"|\b(?:тыс|млн|млрд)\b|\bруб(?:л|\.)|\bв процентах\b|^\W*(?:in|в) (?:dollars|percent|€|\$|%)",
    re.IGNORECASE,
)
OPEN_ENDS = frozenset(
    {"of", "and", "or", "the", "for", "to", "in", "net", "from", "by", "и", "в", "на", "от", "по", "за", "с"}
)
OPEN_SIGNS = (",", "-", "–", "—", "/", "&", "(")
ENDS = (".", ":", ";")
SENTENCE = re.compile(r"[^\W\d_]{2,}[.;]$")

Cells = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Row:
    """A line, or lines of one height."""

    places: tuple[int, ...]  # indexes of its lines
    segments: tuple[Segment, ...]
    baseline: float
    size: float
    text: str

    @cached_property
    def values(self) -> tuple[Segment, ...]:
        """Numbers and the signs that stand for none; the number of the row is part of its label."""
        is_numbered = len(self.segments) > 1 and ROW_NUMBER.fullmatch(self.segments[0].text) is not None
        first = 1 if is_numbered and not VALUE.fullmatch(self.segments[1].text) else 0
        return tuple(each for each in self.segments[first:] if VALUE.fullmatch(each.text))

    @property
    def left(self) -> float:
        return self.segments[0].left

    @property
    def right(self) -> float:
        return self.segments[-1].right

    @property
    def has_label(self) -> bool:
        """Whether it begins with words, or with a number before them."""
        return self.values[:1] != self.segments[:1]

    @cached_property
    def is_strong(self) -> bool:
        """It has several values side by side, or behind a label one that is no mere number. Words may stand before the
        values in three columns, behind them in one, and a measure («шт.») between them."""
        if not self.values:
            return False
        before, last = self.segments.index(self.values[0]), self.segments.index(self.values[-1])
        behind = len(self.segments) - 1 - last
        if len(self.values) == 1:
            return before == 1 and not behind and FORMATTED.search(self.values[0].text) is not None
        between = [each.text for each in self.segments[before:last] if each not in self.values]
        is_close = len(between) <= 1 and all(len(text) <= LONGEST_MEASURE for text in between)
        has_digits = any(NUMBER.search(value.text) for value in self.values)
        return is_close and before <= MOST_WORDS_BEFORE and behind <= 1 and has_digits

    @cached_property
    def is_years(self) -> bool:
        """All its values are years: the head of a table."""
        return bool(self.values) and all(YEAR.fullmatch(value.text) for value in self.values)


@dataclass(frozen=True, kw_only=True)
class PdfTable:
    """A table of one page; `head` is empty for one that goes on from the page before."""

    lines: frozenset[int]  # indexes of its lines
    unit: tuple[str, ...]  # lines that stand above the head
    head: Cells  # one for each column, or empty
    rows: tuple[Cells, ...]
    bands: tuple[Segment, ...]  # of the columns but that of the labels
    is_ruled: bool = False  # rules show its cells

    @property
    def first(self) -> int:
        """Index of its first line."""
        return min(self.lines)

    @property
    def text(self) -> str:
        """Markdown; the unit is above it. A table without column names has no rule."""
        is_named = any(self.head)
        body = render_table([self.head, *self.rows] if is_named else self.rows, has_head=is_named)
        return "\n".join((*self.unit, body))


def may_have_tables(lines: Sequence[str]) -> bool:
    """A quick look at the texts of a page's lines, before anybody asks where their words stand."""
    found = 0
    for line in lines:
        if line[-1:].isalpha():
            continue
        words = line.rsplit(None, LAST_WORDS)[: -LAST_WORDS - 1 : -1]
        values = (each for each in words if not (BEFORE_VALUE.fullmatch(each) or AFTER_VALUE.fullmatch(each)))
        last = next(values, "")
        if VALUE.fullmatch(last) and (FORMATTED.search(last) or VALUE.fullmatch(next(values, last))):
            found += 1
            if found == FEWEST_ROWS:
                return True
    return False


def _read_rows(lines: Sequence[PageLine]) -> list[_Row]:
    """The placed lines from the top down; those of one height are one, since programs also draw cell by cell. None of a
    page without segments, or with too many lines."""
    if len(lines) > MOST_ROWS or not any(line.segments for line in lines):
        return []
    rows: list[_Row] = []
    heights: dict[int, list[int]] = {}  # indexes of rows by their baselines
    for place, line in enumerate(lines):
        if not line.text or not line.is_placed or line.cell:
            continue
        segments = _joined(line.segments or (Segment(line.text, line.left, line.right),))
        row = _Row(places=(place,), segments=segments, baseline=line.baseline, size=line.size, text=line.text)
        height = round(line.baseline)
        around = range(height - NEAR_POINTS, height + NEAR_POINTS + 1)
        near = [index for each in around if each in heights for index in heights[each][-NEAR_ROWS:]]
        level = next((index for index in reversed(near) if _fits_beside(rows[index], row)), None)
        if level is None:
            heights.setdefault(height, []).append(len(rows))
            rows.append(row)
            continue
        other = rows[level]
        row = max(other, row, key=lambda each: each.size)
        both = sorted((*other.segments, *segments), key=lambda each: each.left)
        whole = _joined(both, gap=row.size * JOINED_GAP)
        text = " ".join(each.text for each in both)
        rows[level] = replace(row, places=(*other.places, place), segments=whole, text=text)
    return sorted(rows, key=lambda row: -row.baseline)


def _fits_beside(one: _Row, other: _Row) -> bool:
    is_mark = min(len(one.text), len(other.text)) <= LONGEST_MARK
    if abs(one.baseline - other.baseline) > (MARK_HEIGHT if is_mark else SAME_HEIGHT) * max(one.size, other.size):
        return False
    return all(a.right <= b.left or b.right <= a.left for a in one.segments for b in other.segments)


def _joined(segments: Sequence[Segment], *, gap: float = float("-inf")) -> tuple[Segment, ...]:
    """A currency sign, a bracket or a per cent sign in a column of its own belongs to the number beside it, and what
    stands no farther than `gap` to what is before it."""
    whole: list[Segment] = []
    for segment in segments:
        before = whole[-1] if whole else None
        if before is None:
            whole.append(segment)
        elif segment.left - before.right <= gap or (
            BEFORE_VALUE.fullmatch(before.text) and VALUE.fullmatch(segment.text)
        ):
            whole[-1] = Segment(f"{before.text} {segment.text}", before.left, segment.right)
        elif AFTER_VALUE.fullmatch(segment.text) and VALUE.fullmatch(before.text):
            whole[-1] = Segment(f"{before.text}{segment.text}", before.left, segment.right)
        else:
            whole.append(segment)
    return tuple(whole)


def find_tables(lines: Sequence[PageLine]) -> list[PdfTable]:
    """The tables of a page, in order."""
    rows = _read_rows(lines)
    tables: list[PdfTable] = []
    begin = 0
    for start, end in _runs(rows):
        if table := _table(rows, begin, start, end):
            tables.append(table)
            begin = end
    return tables


def _runs(rows: Sequence[_Row]) -> Iterator[tuple[int, int]]:
    """Stretches [start, end) from one row with values to the last that belongs to it."""
    start: int | None = None
    last = 0
    edge = 0.0  # where the values begin
    for index, row in enumerate(rows):
        if start is not None and _leaves(rows, last, index, edge):
            yield start, last + 1
            start = None
        if row.is_strong:
            if start is None:
                start, edge = index, row.values[0 if row.has_label else -1].left
            last = index
        elif start is not None and row.has_label and row.values:  # a page number has no label
            last = index
    if start is not None:
        yield start, last + 1


def _leaves(rows: Sequence[_Row], last: int, index: int, edge: float) -> bool:
    """Whether row `index` is no part of the table whose last row with values is `last`."""
    row, above = rows[index], rows[index - 1]
    if not 0 < above.baseline - row.baseline <= FARTHEST_ROW * max(row.size, above.size):
        return True
    if row.is_strong:
        return row.is_years and not rows[last].is_years
    if len(row.text) > LONGEST_LABEL_LINE_CHARS:
        return True
    if row.right <= edge or row.left > rows[last].values[-1].right or (row.values and len(row.segments) > 1):
        return False
    return len(row.segments) > 1 or row.text.endswith(ENDS) or row.left > rows[last].left + row.size * INDENT


def _table(rows: Sequence[_Row], begin: int, start: int, end: int) -> PdfTable | None:
    """The table whose rows with values are [start, end), and whose head is searched upwards to `begin`. None for a form
    (one row of values below many names)."""
    bands = _bands(rows[start:end])
    first = start
    while first < end and rows[first].is_years:
        first += 1
    units, names, labels = _above(rows, begin, start, bands)
    heads = [*names, *rows[start:first]]
    body = [*(labels if heads else ()), *rows[first:end]]
    named = sum(len(row.segments) > 1 and row.segments[0] not in _names(row, bands) for row in heads)
    strong = sum(row.is_strong for row in rows[first:end])
    is_enough = strong >= FEWEST_ROWS - bool(heads) if len(bands) > 1 else strong > FEWEST_ROWS
    if named > MOST_NAMED_HEADS or not is_enough:
        return None
    return PdfTable(
        lines=frozenset(place for row in (*units, *heads, *body) for place in row.places),
        unit=tuple(row.text for row in units),
        head=_head_cells(heads, bands),
        rows=_body_cells(body, bands),
        bands=bands,
    )


def _bands(rows: Sequence[_Row]) -> tuple[Segment, ...]:
    """The columns: values that stand above each other, if only in part, are of one; words behind them of one more."""
    bands: list[Segment] = []
    strong = [row for row in rows if row.is_strong]
    labelled = [row for row in strong if row.has_label] or strong
    for value in sorted((value for row in labelled for value in row.values), key=lambda each: each.left):
        if bands and value.left < bands[-1].right:
            bands[-1] = Segment("", bands[-1].left, max(bands[-1].right, value.right))
        else:
            bands.append(Segment("", value.left, value.right))
    words = [each for row in labelled for each in row.segments if each.left > bands[-1].right]
    whole = _without_slivers(bands, labelled)
    if len(words) >= FEWEST_ROWS:
        whole.append(Segment("", min(each.left for each in words), max(each.right for each in words)))
    return tuple(whole)


def _without_slivers(bands: list[Segment], rows: Sequence[_Row]) -> list[Segment]:
    """Joins neighbours that never have values in one row: a dash or a bracket hangs beside its column."""
    used = [{_column(value, bands) for value in row.values} for row in rows]
    whole: list[Segment] = []
    last: set[int] = set()
    for index, band in enumerate(bands):
        is_near = whole and band.left - whole[-1].right <= rows[0].size * SLIVER_GAP
        if is_near and not any(index in each and last & each for each in used):
            whole[-1] = Segment("", whole[-1].left, band.right)
            last.add(index)
        else:
            whole.append(band)
            last = {index}
    return whole


def _column(segment: Segment, bands: Sequence[Segment]) -> int:
    """The column that it overlaps most, or the nearest."""
    overlaps = [min(segment.right, band.right) - max(segment.left, band.left) for band in bands]
    return overlaps.index(max(overlaps))


def _above(rows: Sequence[_Row], begin: int, start: int, bands: Sequence[Segment]) -> tuple[list[_Row], ...]:
    """Upwards from the values, line by line, as far as lines name columns or a unit: the rows of the unit, of the head,
    and those between the head and the values («Assets»), each from the top."""
    units: list[_Row] = []
    heads: list[_Row] = []
    labels: list[_Row] = []  # below the head
    beside: list[_Row] = []  # beside it: they count if another line of the head is above
    nearest = max(begin, start - 3 * MOST_HEAD_LINES)
    near = rows[nearest : start + 1]
    middle = (min(row.left for row in near) + max(row.right for row in near)) / 2
    has_unit = False
    below = rows[start]
    for row in near[-2 : -2 - MOST_HEAD_LINES : -1]:
        is_unit = UNIT.search(row.text) is not None
        farthest = FARTHEST_ROW if is_unit or not heads else FARTHEST_HEAD
        if row.baseline - below.baseline > farthest * max(row.size, below.size) or _is_no_head(row):
            break
        if has_unit and len(row.segments) == 1 and abs((row.left + row.right) / 2 - middle) < row.size:
            break  # the title: it is in the middle of the page, above its unit
        has_unit = has_unit or is_unit
        if is_unit and len(row.segments) <= 2:
            units.append(row)
        elif _names(row, bands):
            heads += [*beside, row]
            beside = []
        elif beside or row.right > bands[0].left or (units and not heads):
            break
        elif heads or rows[start].is_years:
            beside.append(row)
        else:
            labels.append(row)
        below = row
    return units[::-1], heads[::-1], labels[::-1]


def _is_no_head(row: _Row) -> bool:
    """Prose, whole or in a cell."""
    if len(row.segments) > 1:
        return any(len(segment.text) > LONGEST_NAME_CHARS for segment in row.segments[1:])
    return len(row.text) > LONGEST_HEAD_CHARS or (SENTENCE.search(row.text) is not None)


def _names(row: _Row, bands: Sequence[Segment]) -> Sequence[Segment]:
    """The segments of a line that stand over columns: all that are as many as the columns, though heads and values may
    be aligned differently, else those right above."""
    over: list[Segment] = []
    for name in row.segments:
        slack = (name.right - name.left) * (BRIEF_SLACK if len(name.text) <= BRIEF_NAME_CHARS else LONG_SLACK)
        if bands[0].left - slack <= name.left and name.right <= bands[-1].right + slack:
            over.append(name)
    last = row.segments[-len(bands) :]
    if len(over) <= len(last) == len(bands) > 1:
        farthest = _pitch(bands) * BESIDE_SHARE
        if all(abs(name.middle - band.middle) < farthest for name, band in zip(last, bands, strict=True)):
            return last
    return over


def _pitch(bands: Sequence[Segment]) -> float:
    """The mean distance of columns."""
    return (bands[-1].middle - bands[0].middle) / (len(bands) - 1)


def _head_cells(rows: Sequence[_Row], bands: Sequence[Segment]) -> Cells:
    """The names of all columns, that of the labels first. A name that spans columns is given to each of them, or to the
    first where the head would become too long to be repeated above every passage."""
    if not rows:
        return ()
    labels = " ".join(each.text for row in rows for each in row.segments if each not in _names(row, bands))
    spans = [span for row in rows for span in _spanned(row, bands)]
    names = [" ".join(text for text, columns in spans if column in columns) for column in range(len(bands))]
    if sum(map(len, names)) > LONGEST_HEAD_TEXT:
        names = [" ".join(text for text, columns in spans if column == columns[0]) for column in range(len(bands))]
    return (labels, *names)


def _spanned(row: _Row, bands: Sequence[Segment]) -> Iterator[tuple[str, Sequence[int]]]:
    """Each name in a line of the head with its columns: several where it stands in their middle, and ends with no
    other."""
    segments = _names(row, bands)
    borders = [(one.right + other.left) / 2 for one, other in pairwise(segments)]
    for segment, (left, right) in zip(segments, pairwise((float("-inf"), *borders, float("inf"))), strict=False):
        below = [index for index, band in enumerate(bands) if left < band.middle < right]
        over = [index for index in below if segment.left < bands[index].right and bands[index].left < segment.right]
        columns = over or [_column(segment, bands)]
        if len(below) > 1:  # it may stand in the middle of these columns rather than over one of them
            own = bands[below[0] : below[-1] + 1]
            is_centred = abs((own[0].left + own[-1].right) / 2 - segment.middle) < _pitch(own) * CENTRED_SHARE
            ends_alone = len(over) != 1 or abs(segment.right - bands[over[0]].right) >= _pitch(bands) * SAME_EDGE_SHARE
            columns = below if is_centred and ends_alone else columns
        yield segment.text, columns


def _body_cells(rows: Sequence[_Row], bands: Sequence[Segment]) -> tuple[Cells, ...]:
    """For each row its label, then a cell for each column. The lines of a label are joined."""
    whole: list[Cells] = []
    for row in rows:
        texts: list[list[str]] = [[] for _ in range(len(bands) + 1)]
        for segment in row.segments:
            is_first = segment is row.segments[0] and segment.left < bands[0].left
            is_label = segment.right <= bands[0].left or (is_first and not VALUE.fullmatch(segment.text))
            texts[0 if is_label else _column(segment, bands) + 1].append(segment.text)
        cells = tuple(" ".join(text) for text in texts)
        whole.append(_one_row(whole.pop(), cells) if whole and _is_one_label(whole[-1], cells) else cells)
    return tuple(whole)


def _one_row(above: Cells, below: Cells) -> Cells:
    return tuple(" ".join(filter(None, pair)) for pair in zip(above, below, strict=True))


def _is_one_label(above: Cells, cells: Cells) -> bool:
    """Whether a line continues the label of the line above; only one of the two can have the values."""
    if any(above[1:]) and any(cells[1:]):
        return False
    label, goes_on = above[0], cells[0]
    if not label or not goes_on:
        return bool(label)
    is_open = label.endswith(OPEN_SIGNS) or label.rsplit(" ", 1)[-1] in OPEN_ENDS
    return goes_on[0].islower() or (not any(above[1:]) and is_open)


def inherit_heads(tables: Sequence[PdfTable], lines: Sequence[PageLine], before: PdfTable | None) -> list[PdfTable]:
    """The tables of a page; one that goes on from the table before it, or from `before`, the last of the page before,
    has that one's head. One without any head is the rest of the table above it, what stands between them its labels."""
    whole: list[PdfTable] = []
    above, end = before, 0
    for table in tables:
        between = {at: lines[at].text for at in range(end, table.first) if lines[at].text.strip()}
        is_next = before is not None and above is before and not between and table.is_ruled and before.is_ruled
        if before is not None and is_next and table.head != before.head:
            # of a ruled table that goes on the first row is no head, unless that one is repeated
            table = replace(table, head=(), rows=(table.head, *table.rows))
        if above is not None and _goes_on_from(above, table) and not any(map(_divides, between.values())):
            is_rest = bool(whole) and not (table.head or table.unit) and len(table.bands) == len(above.bands)
            head = table.head or above.head[: len(table.bands) + 1]
            table = replace(table, head=head, unit=table.unit or above.unit)
            if is_rest:
                whole.pop()
                rows = (*above.rows, *_label_rows(between.values(), above), *table.rows)
                table = replace(above, lines=above.lines | table.lines | between.keys(), rows=rows)
        whole.append(table)
        above, end = table, max(table.lines) + 1
    return whole


def _label_rows(labels: Iterable[str], table: PdfTable) -> list[Cells]:
    return [(text, *repeat("", len(table.bands))) for text in labels]


def begin_with_label(
    tables: Sequence[PdfTable], lines: Sequence[PageLine], before: PdfTable, text: str
) -> list[PdfTable]:
    """The tables of a page, the first of which goes on from `before` and begins with the `text` below that one: the
    page break divided a row from its label. Empty where the text is no label."""
    labels = [line for line in text.split("\n") if line.strip()]
    if not tables or any(map(_divides, labels)) or not _goes_on_from(before, tables[0]):
        return []
    first, *others = tables
    if any(line.text for line in lines[: first.first]):
        return []
    *above, label = _label_rows(labels, first)
    row, *rest = first.rows
    begun = (_one_row(label, row),) if _is_one_label(label, row) else (label, row)
    return [replace(first, rows=(*above, *begun, *rest)), *others]


def _goes_on_from(above: PdfTable, table: PdfTable) -> bool:
    """Whether it has the same names, or none and its columns below those of the other, which may have one more."""
    if table.head:
        return table.head == above.head
    return len(table.bands) in (len(above.bands), len(above.bands) - 1) and all(
        abs(one.right - other.right) <= SAME_COLUMN_POINTS for one, other in zip(above.bands, table.bands, strict=False)
    )


def _divides(line: str) -> bool:
    """Text between two tables that is no label of theirs."""
    return len(line) > LONGEST_HEAD_CHARS or line.endswith(ENDS)
