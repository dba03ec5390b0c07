"""Reads CSV and TSV: rows with their column names, whatever the delimiter and encoding.

In: a text file that its name or sender calls a table. Out: a `Document` of tables, with row numbers as places. A file
that no delimiter splits into columns is read as plain text.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from ingestion.parsers import text as plain_text
from ingestion.parsers.encodings import text_lines
from ingestion.parsers.kinds import FileInfo
from ingestion.parsers.outline import Outline
from ingestion.parsers.sheets import SheetRow, add_sheet
from ingestion.records import Document

DELIMITERS = (";", "\t", ",", "|")  # on a tie the first wins: commas also occur in decimals and sentences
SAMPLE_CHARACTERS = 64 * 1024
SAMPLE_ROWS = 200
LARGEST_FIELD_CHARACTERS = 10_000_000

_STATED_DELIMITER = re.compile(r'\A"?sep=(.)"?\r?\n', re.IGNORECASE)
_VALUE = re.compile(r"[-+(]?[\s\u00a0\d.,:/-]*\d[\s\u00a0\d.,:/-]*\)?\s?(?:%|\u20bd|\$|€|руб\.?|р\.)?")


def parse(path: Path, info: FileInfo) -> Document:
    """Row numbers count the file's own records, including empty ones."""
    lines = text_lines(path)
    first = list(_beginning(lines))
    stated = _STATED_DELIMITER.match(first[0]) if first else None
    delimiter = stated.group(1) if stated else _guess_delimiter("".join(first)[:SAMPLE_CHARACTERS])
    content = chain(first[1:] if stated else first, lines)
    if delimiter is None:
        return plain_text.read_lines(content, name=info.name)
    outline = Outline()
    add_sheet(outline, _rows(content, delimiter))
    return outline.document(info.name)


def _beginning(lines: Iterator[str]) -> Iterator[str]:
    """Enough lines to guess the delimiter; the rest stays in `lines`."""
    chars = 0
    while chars < SAMPLE_CHARACTERS and (line := next(lines, None)) is not None:
        chars += len(line)
        yield line


def _guess_delimiter(sample: str) -> str | None:
    """The delimiter with which most rows have the same number of columns, at least two; None when there is none."""
    scores = {delimiter: _score(sample, delimiter) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: scores[delimiter])
    return best if scores[best] > 0 else None


def _score(sample: str, delimiter: str) -> float:
    rows = [
        len(record) for record in islice(_records(sample.splitlines(keepends=True), delimiter), SAMPLE_ROWS) if record
    ]
    widths = Counter(width for width in rows if width > 1)
    if not widths:
        return 0.0
    width, frequency = widths.most_common(1)[0]
    return frequency / len(rows) + min(width, 20) / 100


def _records(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(LARGEST_FIELD_CHARACTERS)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[SheetRow]:
    for number, record in enumerate(_records(lines, delimiter), start=1):
        cells = {column: field for column, field in enumerate(record) if field.strip()}
        if cells:
            has_values = any(_VALUE.fullmatch(field.strip()) for field in cells.values())
            yield SheetRow(number=number, cells=cells, has_values=has_values)
