"""Reads the lines of a page as rows: what stands beside each other, and which of it are values.

In: the lines of a page with their segments. Out: rows in the order of the page. It does not know where a table begins
or ends: see `pdf_tables`. Pure.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ingestion.parsers.pdf_lines import PageLine, Segment

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


@dataclass(frozen=True, kw_only=True)
class Row:
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
        """Where its first segment begins."""
        return self.segments[0].left

    @property
    def right(self) -> float:
        """Where its last segment ends."""
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


def may_have_tables(lines: Sequence[str]) -> bool:
    """A quick look at the texts of a page's lines, before anybody asks where their words stand."""
    return sum(map(_ends_in_values, lines)) >= FEWEST_ROWS


def _ends_in_values(line: str) -> bool:
    if not line[-1:].isdigit() and line[-1:].isalpha():
        return False
    words = [each for each in line.split()[-LAST_WORDS:] if not BEFORE_VALUE.fullmatch(each)]
    words = [each for each in words if not AFTER_VALUE.fullmatch(each)]
    values = [VALUE.fullmatch(word) is not None for word in words[-2:]]
    return bool(values) and values[-1] and (all(values) or FORMATTED.search(words[-1]) is not None)


def read_rows(lines: Sequence[PageLine]) -> list[Row]:
    """The placed lines from the top down; those of one height are one, since programs also draw cell by cell. None of a
    page without segments, or with too many lines."""
    if len(lines) > MOST_ROWS or not any(line.segments for line in lines):
        return []
    rows: list[Row] = []
    heights: defaultdict[int, list[int]] = defaultdict(list)  # indexes of rows by their baselines
    for place, line in enumerate(lines):
        if not line.text or not line.is_placed or line.cell:
            continue
        segments = line.segments or (Segment(line.text, line.left, line.right),)
        row = Row(places=(place,), segments=_joined(segments), baseline=line.baseline, size=line.size, text=line.text)
        height = round(line.baseline)
        around = range(height - NEAR_POINTS, height + NEAR_POINTS + 1)
        near = [index for each in around for index in heights[each][-NEAR_ROWS:]]
        level = next((index for index in reversed(near) if _fits_beside(rows[index], row)), None)
        if level is None:
            heights[height].append(len(rows))
            rows.append(row)
        else:
            rows[level] = _beside(rows[level], row)
    return sorted(rows, key=lambda row: -row.baseline)


def _fits_beside(one: Row, other: Row) -> bool:
    is_mark = min(len(one.text), len(other.text)) <= LONGEST_MARK
    if abs(one.baseline - other.baseline) > (MARK_HEIGHT if is_mark else SAME_HEIGHT) * max(one.size, other.size):
        return False
    return all(a.right <= b.left or b.right <= a.left for a in one.segments for b in other.segments)


def _beside(one: Row, other: Row) -> Row:
    segments = sorted((*one.segments, *other.segments), key=lambda each: each.left)
    text = " ".join(each.text for each in segments)
    row = max(one, other, key=lambda each: each.size)
    whole = _joined(segments, gap=row.size * JOINED_GAP)
    return replace(row, places=(*one.places, *other.places), segments=whole, text=text)


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
