"""Finds tables of numbers among the lines of a page, by the alignment of their values.

In: the lines of a page with their segments. Out: for each table its place among the lines and its Markdown, headed by
its unit and the names of its columns; one that goes on after a page break has those of the table before, and a row the
label that the break took from it. Printed tables mostly have no vertical rules, so a column is where values of several
rows stand above each other. Pure.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, repeat
from statistics import median

from ingestion.parsers.outline import render_table
from ingestion.parsers.pdf_lines import PageLine, Segment
from ingestion.parsers.pdf_rows import FEWEST_ROWS, ROW_NUMBER, VALUE, Row, read_rows

# How far a table reaches; distances and widths in font sizes
FARTHEST_ROW = 3.4  # from one baseline to the next
FARTHEST_HEAD = 2.4  # from one line of a head to the next
INDENT = 4  # a heading in the middle of the page stands farther right than a label
MOST_LABEL_LINES = 6  # between two rows with values
LONGEST_LABEL_LINE_CHARS = 160
MOST_COLUMNS = 50
SLIVER_GAP = 1.2

# Heads
MOST_HEAD_LINES = 12
MOST_NAMED_HEADS = 2  # lines of a head that name the labels as well as other columns
LONGEST_HEAD_CHARS = 120  # of a line
LONGEST_NAME_CHARS = 70  # of a column, in one line
LONGEST_HEAD_TEXT = 160  # of the names of all columns, if those that span columns are repeated for each
BRIEF_NAME_CHARS = 40
BRIEF_SLACK, LONG_SLACK = 0.8, 0.15  # of its width: how far a name may stand out beside its columns
BESIDE_SHARE, SAME_EDGE_SHARE = 0.75, 0.1  # of the distance between two columns
CENTRED_SHARE = 0.35
TIGHT_STEP = 0.88  # of the usual distance of rows: the lines of one label are closer

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


@dataclass(frozen=True, kw_only=True)
class Band:
    """The horizontal place of a column of values."""

    left: float
    right: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


@dataclass(frozen=True, kw_only=True)
class PdfTable:
    """A table of one page; `head` is empty for one that goes on from the page before."""

    first: int  # index of its first line
    lines: frozenset[int]  # indexes of all its lines
    unit: tuple[str, ...]  # lines that stand above the head
    head: tuple[str, ...]  # a cell for each column, or empty
    rows: tuple[tuple[str, ...], ...]
    bands: tuple[Band, ...]
    size: float  # of the font, points
    is_ruled: bool = False  # rules show its cells

    @property
    def text(self) -> str:
        """Markdown; the unit is above it."""
        return table_text(self.unit, self.head, self.rows)


def table_text(unit: Sequence[str], head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines above the table, then its Markdown. A table without column names has no rule."""
    body = render_table([head, *rows] if any(head) else rows, has_head=any(head))
    return "\n".join((*unit, body))


def find_tables(lines: Sequence[PageLine]) -> list[PdfTable]:
    """The tables of a page, in order."""
    rows = read_rows(lines)
    tables: list[PdfTable] = []
    begin = 0
    for start, end in _runs(rows):
        table = _table(rows, begin, start, end)
        if table is not None:
            tables.append(table)
            begin = end
    return tables


def _runs(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
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
            edge = min(edge, row.values[0].left) if row.has_label else edge  # else a label's second line may begin so
        elif start is not None and _goes_along(row, edge):
            last = index
    if start is not None:
        yield start, last + 1


def _leaves(rows: Sequence[Row], last: int, index: int, edge: float) -> bool:
    """Whether row `index` is no part of the table whose last row with values is `last`."""
    row, above = rows[index], rows[index - 1]
    if not 0 < above.baseline - row.baseline <= FARTHEST_ROW * max(row.size, above.size):
        return True
    if row.is_strong:
        return row.is_years and not rows[last].is_years and len(row.segments) > 1
    if _goes_along(row, edge):
        return False
    if index - last > MOST_LABEL_LINES or len(row.text) > LONGEST_LABEL_LINE_CHARS:
        return True
    if row.right <= edge or row.left > rows[last].values[-1].right or (row.values and len(row.segments) > 1):
        return False
    return len(row.segments) > 1 or row.text.endswith(ENDS) or row.left > rows[last].left + row.size * INDENT


def _goes_along(row: Row, edge: float) -> bool:
    """Whether a row without strong values has some in the columns of the table; a page number has no label."""
    return row.has_label and bool(row.values) and row.values[0].left >= edge


def _table(rows: Sequence[Row], begin: int, start: int, end: int) -> PdfTable | None:
    """The table whose rows with values are [start, end), and whose head is searched upwards to `begin`."""
    bands = _bands(rows[start:end])
    first = start
    while first < end and rows[first].is_strong and rows[first].is_years:
        first += 1
    strong = [row for row in rows[first:end] if row.is_strong]
    above = _head(rows, begin, start, bands)
    heads = [*above.heads, *range(start, first)]
    if not _is_table(strong, [rows[index] for index in heads], rows[first:end], bands):
        return None
    labels = above.labels if heads else ()
    taken = [*above.units, *heads, *labels, *range(first, end)]
    places = frozenset(place for index in taken for place in rows[index].places)
    return PdfTable(
        first=min(places),
        lines=places,
        unit=tuple(rows[index].text for index in above.units),
        head=_head_cells([rows[index] for index in heads], bands),
        rows=tuple(_body_cells([rows[index] for index in (*labels, *range(first, end))], bands)),
        bands=bands,
        size=median(row.size for row in rows[first:end]),
    )


def _is_table(strong: Sequence[Row], heads: Sequence[Row], body: Sequence[Row], bands: Sequence[Band]) -> bool:
    """Whether there are enough rows. A form has one row of values below lines that look like a head of many names; a
    column of telephone numbers stands beside sentences."""
    if sum(len(row.segments) > 1 and row.segments[0] not in _names(row, bands) for row in heads) > MOST_NAMED_HEADS:
        return False
    if len(bands) > 1:
        return len(strong) >= FEWEST_ROWS - bool(heads)
    return len(strong) > FEWEST_ROWS and all(len(row.text) <= LONGEST_HEAD_CHARS for row in body)


def _bands(rows: Sequence[Row]) -> tuple[Band, ...]:
    """The columns: values that stand above each other, if only in part, are of one."""
    bands: list[Band] = []
    strong = [row for row in rows if row.is_strong]
    labelled = [row for row in strong if row.has_label] or strong
    for value in sorted((value for row in labelled for value in row.values), key=lambda each: each.left):
        if bands and value.left < bands[-1].right:
            bands[-1] = replace(bands[-1], right=max(bands[-1].right, value.right))
        else:
            bands.append(Band(left=value.left, right=value.right))
    return (*_without_slivers(bands, labelled), *_remarks(labelled, bands[-1].right))


def _remarks(rows: Sequence[Row], right: float) -> Iterator[Band]:
    """A column of words behind the values."""
    words = [segment for row in rows for segment in row.segments if segment.left > right]
    if len(words) >= FEWEST_ROWS:
        yield Band(left=min(each.left for each in words), right=max(each.right for each in words))


def _without_slivers(bands: list[Band], rows: Sequence[Row]) -> tuple[Band, ...]:
    """Joins neighbours that never have values in one row: a dash or a bracket hangs beside its column."""
    used = [{_column(value, bands) for value in row.values} for row in rows]
    whole: list[Band] = []
    last: set[int] = set()
    for index, band in enumerate(bands):
        is_near = whole and band.left - whole[-1].right <= rows[0].size * SLIVER_GAP
        if is_near and not any(index in each and last & each for each in used):
            whole[-1] = replace(whole[-1], right=band.right)
            last.add(index)
        else:
            whole.append(band)
            last = {index}
    return tuple(whole)


def _column(segment: Segment, bands: Sequence[Band]) -> int:
    """The column that it overlaps most, or the nearest."""
    return max(
        range(len(bands)),
        key=lambda index: min(segment.right, bands[index].right) - max(segment.left, bands[index].left),
    )


@dataclass(frozen=True, kw_only=True)
class _Above:
    """Indexes of the rows above the values, from the top."""

    units: tuple[int, ...]
    heads: tuple[int, ...]
    labels: tuple[int, ...]  # between the head and the values: «Assets»


def _head(rows: Sequence[Row], begin: int, start: int, bands: Sequence[Band]) -> _Above:
    """Upwards from the values, line by line, as far as lines name columns or a unit."""
    units: list[int] = []
    heads: list[int] = []
    labels: list[int] = []  # below the head
    beside: list[int] = []  # beside it: they count if another line of the head is above
    near = rows[max(begin, start - 3 * MOST_HEAD_LINES) : start + 1]
    middle = (min(row.left for row in near) + max(row.right for row in near)) / 2
    has_unit = False
    below = rows[start]
    for index in _upwards(rows, begin, start):
        row = rows[index]
        is_unit = UNIT.search(row.text) is not None
        farthest = FARTHEST_ROW if is_unit or not heads else FARTHEST_HEAD
        if row.baseline - below.baseline > farthest * max(row.size, below.size) or _is_no_head(row):
            break
        if has_unit and len(row.segments) == 1 and abs((row.left + row.right) / 2 - middle) < row.size:
            break  # the title: it is in the middle of the page, above its unit
        has_unit = has_unit or is_unit
        if is_unit and len(row.segments) <= 2:
            units.append(index)
        elif not _is_label(row, rows[start]) and _names(row, bands):
            heads += [*beside, index]
            beside = []
        elif beside or row.right > bands[0].left or (units and not heads):
            break
        elif heads or rows[start].is_years:
            beside.append(index)
        else:
            labels.append(index)
        below = row
    is_whole = heads or rows[start].is_years
    return _Above(units=tuple(units[::-1]), heads=tuple(heads[::-1]), labels=tuple(labels[::-1]) if is_whole else ())


def _is_label(row: Row, values: Row) -> bool:
    """Whether it begins where the labels do, and so names no column, however far it reaches."""
    return len(row.segments) == 1 and values.has_label and row.left <= values.left + row.size


def _upwards(rows: Sequence[Row], begin: int, start: int) -> list[int]:
    """The nearest rows above `start`, from the lowest; what is drawn cell by cell is not drawn in this order."""
    near = range(max(begin, start - 3 * MOST_HEAD_LINES), start)
    above = [index for index in near if rows[index].baseline > rows[start].baseline]
    return sorted(above, key=lambda index: rows[index].baseline)[:MOST_HEAD_LINES]


def _is_no_head(row: Row) -> bool:
    """Prose, or the last row of another table."""
    if len(row.segments) > 1:
        is_row = row.is_strong and not row.is_years
        return is_row or any(len(segment.text) > LONGEST_NAME_CHARS for segment in row.segments[1:])
    return len(row.text) > LONGEST_HEAD_CHARS or (SENTENCE.search(row.text) is not None and len(row.text.split()) > 4)


def _names(row: Row, bands: Sequence[Band]) -> tuple[Segment, ...]:
    """The segments of a line that stand over columns: all that are as many as the columns, though heads and values may
    be aligned differently, else those right above."""
    over = tuple(segment for segment in row.segments if _stands_over(segment, bands))
    last = row.segments[-len(bands) :]
    if len(over) <= len(last) == len(bands) > 1 and all(map(_is_beside, last, bands, repeat(_pitch(bands)))):
        return last
    return over


def _is_beside(segment: Segment, band: Band, pitch: float) -> bool:
    return abs((segment.left + segment.right) / 2 - band.middle) < pitch * BESIDE_SHARE


def _pitch(bands: Sequence[Band]) -> float:
    """The mean distance of columns."""
    return (bands[-1].middle - bands[0].middle) / (len(bands) - 1)


def _stands_over(segment: Segment, bands: Sequence[Band]) -> bool:
    slack = (segment.right - segment.left) * (BRIEF_SLACK if len(segment.text) <= BRIEF_NAME_CHARS else LONG_SLACK)
    return (
        bands[0].left - slack <= segment.left
        and segment.right <= bands[-1].right + slack
        and segment.right > bands[0].left
    )


def _head_cells(rows: Sequence[Row], bands: Sequence[Band]) -> tuple[str, ...]:
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


def _spanned(row: Row, bands: Sequence[Band]) -> Iterator[tuple[str, Sequence[int]]]:
    """Each name in a line of the head, with the columns below it."""
    segments = _names(row, bands)
    if len(segments) == len(bands):
        yield from ((segment.text, (column,)) for column, segment in enumerate(segments))
        return
    borders = [(one.right + other.left) / 2 for one, other in pairwise(segments)]
    edges = [float("-inf"), *borders, float("inf")]
    for segment, (left, right) in zip(segments, pairwise(edges), strict=False):
        below = [index for index, band in enumerate(bands) if left < band.middle < right]
        over = [index for index in below if segment.left < bands[index].right and bands[index].left < segment.right]
        is_whole = len(below) > 1 and not _is_over_one(segment, bands, over) and _is_centred(segment, bands, below)
        yield segment.text, below if is_whole else over or [_column(segment, bands)]


def _is_over_one(segment: Segment, bands: Sequence[Band], over: Sequence[int]) -> bool:
    """Whether it ends where the values of a single column end."""
    return len(over) == 1 and abs(segment.right - bands[over[0]].right) < _pitch(bands) * SAME_EDGE_SHARE


def _is_centred(segment: Segment, bands: Sequence[Band], columns: Sequence[int]) -> bool:
    """Whether it stands in the middle of these columns rather than over one of them."""
    middle = (segment.left + segment.right) / 2
    left, right = bands[columns[0]], bands[columns[-1]]
    pitch = (right.middle - left.middle) / (len(columns) - 1)
    return abs((left.left + right.right) / 2 - middle) < pitch * CENTRED_SHARE


def _body_cells(rows: Sequence[Row], bands: Sequence[Band]) -> Iterator[tuple[str, ...]]:
    """A tuple for each row: its label, then a cell for each column. The lines of a label are joined."""
    steps = [one.baseline - other.baseline for one, other in pairwise(rows)]
    tight = median(steps) * TIGHT_STEP if steps else 0
    whole: list[list[str]] = []
    above: Row | None = None
    for row in rows:
        cells = _cells(row, bands)
        if above is not None and _is_one_label(whole[-1], cells, is_tight=above.baseline - row.baseline < tight):
            whole[-1] = [_one_text(*pair) for pair in zip(whole[-1], cells, strict=True)]
        else:
            whole.append(cells)
        above = row
    return map(tuple, whole)


def _one_text(above: str, below: str) -> str:
    """Two lines of a cell; the number of a row stands in the middle of its height, and before its label."""
    lines = (below, above) if ROW_NUMBER.fullmatch(below) else (above, below)
    return " ".join(filter(None, lines))


def _is_one_label(above: Sequence[str], cells: Sequence[str], *, is_tight: bool) -> bool:
    """Whether a line continues the label of the line above; only one of the two can have the values."""
    if any(above[1:]) and any(cells[1:]):
        return False
    label, goes_on = above[0], cells[0]
    if not label or not goes_on:
        return bool(label) and is_tight
    return is_tight or goes_on[0].islower() or (not any(above[1:]) and _goes_on(label))


def _goes_on(label: str) -> bool:
    """Whether a label is continued in the next line, whatever that begins with."""
    return label.endswith(OPEN_SIGNS) or label.rsplit(" ", 1)[-1] in OPEN_ENDS


def _cells(row: Row, bands: Sequence[Band]) -> list[str]:
    texts: list[list[str]] = [[] for _ in range(len(bands) + 1)]
    for segment in row.segments:
        is_first = segment is row.segments[0] and segment.left < bands[0].left
        is_label = segment.right <= bands[0].left or (is_first and not VALUE.fullmatch(segment.text))
        texts[0 if is_label else _column(segment, bands) + 1].append(segment.text)
    return [" ".join(text) for text in texts]


def inherit_heads(tables: Sequence[PdfTable], lines: Sequence[PageLine], before: PdfTable | None) -> list[PdfTable]:
    """The tables of a page; one that goes on from the table before it, or from the page before, has that one's head.
    One without any head of its own is the rest of the table above it, with what stands between them as labels.

    `before` is the last table of the page before.
    """
    whole: list[PdfTable] = []
    above, end = before, 0
    for table in tables:
        between = range(end, table.first)
        if above is before and before is not None and not any(lines[at].text for at in between):
            table = _without_head(table, before)
        if above is not None and _goes_on_from(above, table) and not any(_divides(lines[at].text) for at in between):
            is_rest = bool(whole) and not (table.head or table.unit) and len(table.bands) == len(above.bands)
            head = table.head or above.head[: len(table.bands) + 1]
            table = replace(table, head=head, unit=table.unit or above.unit)
            if is_rest:
                table = _joined(whole.pop(), table, {at: lines[at].text for at in between if lines[at].text.strip()})
        whole.append(table)
        above, end = table, max(table.lines) + 1
    return whole


def _without_head(table: PdfTable, before: PdfTable) -> PdfTable:
    """Of a ruled table with the columns of the one before the first row is no head, unless that one's is repeated."""
    if not (table.is_ruled and before.is_ruled) or table.head == before.head or len(table.bands) != len(before.bands):
        return table
    return replace(table, head=(), rows=(table.head, *table.rows))


def begin_with_label(
    tables: Sequence[PdfTable], lines: Sequence[PageLine], before: PdfTable, text: str
) -> list[PdfTable]:
    """The tables of a page of which the first, if it goes on from the one before, has the `text` below that one as its
    first labels: a row was divided from its label by the page break. Empty where the text is none."""
    labels = [line for line in text.split("\n") if line.strip()]
    is_label = len(labels) <= MOST_LABEL_LINES and not any(map(_divides, labels))
    if not (is_label and tables and _goes_on_from(before, tables[0])):
        return []
    first, *others = tables
    if any(line.text for line in lines[: first.first]):
        return []
    *above, label = ((each, *repeat("", len(first.bands))) for each in labels)
    row, *rest = first.rows
    if _is_one_label(label, row, is_tight=not row[0]):
        row = tuple(_one_text(*pair) for pair in zip(label, row, strict=True))
    else:
        above.append(label)
    return [replace(first, rows=(*above, row, *rest)), *others]


def _joined(above: PdfTable, rest: PdfTable, between: Mapping[int, str]) -> PdfTable:
    """One table; the text `between` them, by line, makes rows without values."""
    labels = [(text, *repeat("", len(above.bands))) for text in between.values()]
    return replace(above, lines=above.lines | rest.lines | between.keys(), rows=(*above.rows, *labels, *rest.rows))


def _goes_on_from(above: PdfTable, table: PdfTable) -> bool:
    """Whether it has the same names, or none and its columns below those of the other, which may have one more."""
    if table.head:
        return table.head == above.head
    return len(table.bands) in (len(above.bands), len(above.bands) - 1) and all(
        abs(one.right - other.right) <= table.size * SLIVER_GAP * 2
        for one, other in zip(above.bands, table.bands, strict=False)
    )


def _divides(line: str) -> bool:
    """Text between two tables that is no label of theirs."""
    return len(line) > LONGEST_HEAD_CHARS or (len(line.split()) > 6 and line.endswith(ENDS))
