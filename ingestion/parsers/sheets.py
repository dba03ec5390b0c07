"""Turns the rows of a sheet into tables, and numbers into what their formats show; reads CSV and TSV.

In: rows with their numbers, one sheet at a time; number formats; a text file that is called a table, whatever its
delimiter and encoding. Out: blocks on an outline, each with its first and last row and the column names; shown numbers.
It finds the header row by itself: single-cell lines above it are titles, the last of them part of the table, and an
empty row ends a table. A text that no delimiter splits into columns is read as plain text.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache, partial
from itertools import chain, groupby, islice
from pathlib import Path

from domain.locator import Locator
from ingestion.parsers import text as plain_text
from ingestion.parsers.encodings import text_lines
from ingestion.parsers.outline import MOST_NAMES, Outline, render_table
from ingestion.records import BlockKind, Document
from ingestion.spool import in_portions

DELIMITERS = (";", "\t", ",", "|")  # on a tie the first wins: commas also occur in decimals and sentences
SAMPLE_CHARACTERS = 64 * 1024

_STATED_DELIMITER = re.compile(r'\A"?sep=(.)"?\r?\n', re.IGNORECASE)
_VALUE = re.compile(r"[-+(]?[\s\u00a0\d.,:/-]*\d[\s\u00a0\d.,:/-]*\)?\s?(?:%|\u20bd|\$|€|руб\.?|р\.)?")
GENERAL = "General"
BUILT_IN: Mapping[int, str] = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm",
    17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0", 38: "#,##0",
    39: "#,##0.00", 40: "#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss",
}  # fmt: skip
"""Formats given by number alone; 5 to 8 and 41 to 44 are currencies of the reader's country and stay general."""
EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 - cells have no time zone; day 60, 1900-02-29, does not exist
EPOCH_1904_DAYS = 1462
LAST_DAY = 2_958_465  # 9999-12-31
SIGNIFICANT_DIGITS = 12  # a double's 15, minus the rounding errors of decimal sums
_SECTION = re.compile(r'(?:"[^"]*"|\\.|[^;"\\])*')
_CURRENCY = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")
_BRACKETS = re.compile(r"\[(?!h+\]|m+\]|s+\])[^\]]*\]", re.IGNORECASE)
_LITERAL = re.compile(r'"([^"]*)"|\\(.)')
_INVISIBLE = re.compile(r"_.|\*.")
_DIGITS = re.compile(r"[#0?][#0?,.\s\u00a0]*")
_ELAPSED = re.compile(r"\[[hms]+\]", re.IGNORECASE)
BLOCK_CHARACTERS = 16_000  # of rows under one header; passages are cut from a block and repeat its header
MOST_COLUMNS = 1_000  # a sheet has 16,384; nobody reads rows that long
LETTERS = 26

Format = Callable[[float], str]
"""Shows a number as its cell does."""


@lru_cache(maxsize=1024)
def number_format(code: str, *, epoch_1904: bool = False) -> Format:
    """Of a format code; one that says nothing leaves the number as it is."""
    section = _INVISIBLE.sub("", _SECTION.findall(code)[0])
    section = _BRACKETS.sub("", _CURRENCY.sub(lambda found: f'"{found.group(1)}"', section))
    bare = _LITERAL.sub("", section)
    letters = set(bare.lower().replace("general", ""))
    if _ELAPSED.search(bare):
        return _show_duration
    if letters & set("dyhs") or "mm" in bare.lower():
        return partial(_show_moment, has_clock=bool(letters & set("hs")), first_day=EPOCH_1904_DAYS * epoch_1904)
    if (digits := _DIGITS.search(section)) is None:
        return plain_number
    decimals = sum(mark in "0#?" for mark in digits.group().partition(".")[2])
    before, after = _unit(section[: digits.start()]), _unit(section[digits.end() :])
    factor, sign = (100, "%") if "%" in bare else (1, "")
    return lambda value: " ".join(filter(None, (before, plain_number(value * factor, decimals=decimals) + sign, after)))


def plain_number(value: float, *, decimals: int = SIGNIFICANT_DIGITS) -> str:
    """Without an exponent where that is readable, and without rounding errors of binary fractions."""
    if not abs(value) < 1e15:  # also infinities and NaN
        return f"{value:g}"
    if decimals < SIGNIFICANT_DIGITS:
        text = f"{value:.{decimals}f}"
    elif value == int(value):
        text = str(int(value))
    else:
        text = f"{value:.{SIGNIFICANT_DIGITS}g}"
    return "0" if text == "-0" else text


def _unit(part: str) -> str:
    """A currency or a unit beside the digits."""
    words = "".join(one or other for one, other in _LITERAL.findall(part))
    return " ".join(words.split()) or "".join(mark for mark in part if mark in "$€£₽¥₴₸")


def _show_duration(days: float) -> str:
    if not abs(days) <= LAST_DAY:
        return plain_number(days)
    minutes, seconds = divmod(round(abs(days) * 86_400), 60)
    return f"{'-' if days < 0 else ''}{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def _show_moment(value: float, *, has_clock: bool, first_day: int) -> str:
    days = value + first_day
    if not 0 <= days <= LAST_DAY:
        return plain_number(value)
    moment = EPOCH + timedelta(seconds=round(days * 86_400))
    day, clock = moment.date().isoformat(), moment.strftime("%H:%M:%S" if moment.second else "%H:%M")
    if not has_clock or (days >= 1 and clock == "00:00"):
        return day
    return clock if days < 1 else f"{day} {clock}"


@dataclass(frozen=True, kw_only=True, slots=True)
class SheetRow:
    """A row: texts by column, counted from 0, without empty cells."""

    number: int  # counted from 1, as the program shows it
    cells: Mapping[int, str]
    has_values: bool  # it has a number or a date, so it is no header


def add_sheet(outline: Outline, rows: Iterable[SheetRow]) -> None:
    """Add all rows of one sheet, in order. Empty rows may be omitted."""
    header: SheetRow | None = None
    runs = groupby(enumerate(rows), key=lambda numbered: numbered[1].number - numbered[0])
    for _, run in runs:  # of rows without an empty one between
        header = _add_table(outline, (row for _, row in run), header)
    outline.place = Locator()


def column_name(column: int) -> str:
    """A, B … Z, AA: the column's name in the program."""
    name = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, LETTERS)
        name = chr(ord("A") + letter) + name
    return name


def _add_table(outline: Outline, rows: Iterator[SheetRow], header_above: SheetRow | None) -> SheetRow | None:
    """Add one run of rows; returns its header, for runs below that have none."""
    titles: list[SheetRow] = []
    for row in rows:
        if len(row.cells) > 1:
            break
        titles.append(row)
    else:
        _add_titles(outline, titles)
        return header_above
    _add_titles(outline, titles[:-MOST_NAMES])
    if not row.has_values:
        header = row
    elif header_above is not None and row.cells.keys() <= header_above.cells.keys():
        header = header_above  # an empty row inside a table
    else:
        names = {column: column_name(column) for column in row.cells}
        header = SheetRow(number=row.number, cells=names, has_values=False)
    known = [row] if row.has_values else [*islice(rows, 1)] or [header]
    for block in in_portions(
        chain(known, rows), lambda row: sum(len(text) + 3 for text in row.cells.values()), limit=BLOCK_CHARACTERS
    ):
        for title in titles[-MOST_NAMES:]:
            outline.place = Locator(row=title.number)
            outline.add(BlockKind.PARAGRAPH, " ".join(title.cells.values()), is_name=True)
        columns = sorted({column for row in (header, *block) for column in row.cells})[:MOST_COLUMNS]
        shown = block if block == [header] else [header, *block]
        outline.place = _place(block)
        outline.add(BlockKind.TABLE, render_table([[row.cells.get(column, "") for column in columns] for row in shown]))
    return header


def _add_titles(outline: Outline, rows: Sequence[SheetRow]) -> None:
    """Single-cell lines: a title, a remark, or a list."""
    for begin in range(0, len(rows), 20):
        lines = rows[begin : begin + 20]
        outline.place = _place(lines)
        outline.add(BlockKind.PARAGRAPH, "\n".join(text for row in lines for text in row.cells.values()))


def _place(rows: Sequence[SheetRow]) -> Locator:
    return Locator(row=rows[0].number, row_end=rows[-1].number if len(rows) > 1 else None)


def parse_csv(path: Path, name: str) -> Document:
    """Row numbers count the file's own records, including empty ones."""
    portions = in_portions(text_lines(path), len, limit=SAMPLE_CHARACTERS)
    first = next(portions, [])
    stated = _STATED_DELIMITER.match(first[0]) if first else None
    delimiter = stated.group(1) if stated else _guess_delimiter("".join(first)[:SAMPLE_CHARACTERS])
    content = chain(first[1:] if stated else first, chain.from_iterable(portions))
    if delimiter is None:
        return plain_text.read_lines(content, name=name)
    outline = Outline()
    add_sheet(outline, _rows(content, delimiter))
    return outline.document(name)


def _guess_delimiter(sample: str) -> str | None:
    """The delimiter with which most rows have the same number of columns, at least two; None when there is none."""
    scores: dict[str, float] = {}
    for delimiter in DELIMITERS:
        rows = [len(record) for record in islice(_records(sample.splitlines(keepends=True), delimiter), 200) if record]
        for width, frequency in Counter(width for width in rows if width > 1).most_common(1):
            scores[delimiter] = frequency / len(rows) + min(width, 20) / 100
    return max(scores, key=scores.__getitem__, default=None)


def _records(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(10_000_000)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[SheetRow]:
    for number, record in enumerate(_records(lines, delimiter), start=1):
        cells = {column: field for column, field in enumerate(record) if field.strip()}
        if cells:
            has_values = any(_VALUE.fullmatch(field.strip()) for field in cells.values())
            yield SheetRow(number=number, cells=cells, has_values=has_values)
