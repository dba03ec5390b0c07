"""Whether passages of PDF tables carry the unit and the years that stand above them on the page.

In: PDFs, or folders of them (`python -m benchmarks.pdf_tables ../shared/data/financebench/pdf`). Out: a line for each
file: table-like passages (several lines with two or more numbers); how many have a unit or years above them on their
page, up to the next paragraph, and which share of these carries it; tables and their rows. The page is read by PDFium
alone, line by line, so the head is found without our parser. `--misses` prints passages without their head.
"""

import argparse
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import pypdfium2 as pdfium

from ingestion.chunking.chunker import cut_chunks
from ingestion.parsers.pdf import parse
from ingestion.records import BLOCK_SEPARATOR, BlockKind, Chunk, Document

CHUNK_TOKENS, OVERLAP_TOKENS = 300, 50
FEWEST_LINES = 3  # of numbers, in a table-like passage
NUMBERS_A_LINE = 2
PROSE_WORDS = 14  # a line of so many words and hardly a number belongs to a paragraph, which ends a table
LONGEST_HEAD_WORDS = 24

NUMBER = re.compile(r"(?<![\w.,])[($€₽-]*\d[\d,.]*\d*%?\)?(?!\w)")
YEAR = re.compile(r"(?<![\d,.$])(?:19|20)\d\d(?![\d,.]*\d)")
UNIT = re.compile(r"\b(million|thousand|billion)s\b|\b(млн|тыс|млрд)\.?\s*(?:руб|долл|₽)", re.IGNORECASE)


@dataclass(kw_only=True)
class Tally:
    """Of one file."""

    passages: int = 0
    with_unit: int = 0
    carry_unit: int = 0
    with_years: int = 0
    carry_years: int = 0
    misses: list[str] = field(default_factory=list)


class Pages:
    """The lines of each page as PDFium gives them."""

    def __init__(self, path: Path) -> None:
        self._document = pdfium.PdfDocument(path)

    @lru_cache(maxsize=8)  # noqa: B019 - lives as long as a file is measured
    def lines(self, page: int) -> tuple[str, ...]:
        """Of a page, counted from 1."""
        text = self._document[page - 1].get_textpage().get_text_range()
        return tuple(" ".join(line.split()) for line in text.splitlines() if line.strip())


def numbers_of(line: str) -> tuple[str, ...]:
    """Digits of each number, without signs."""
    return tuple("".join(filter(str.isdigit, found)) for found in NUMBER.findall(line))


def measure(document: Document, pages: Pages) -> Tally:
    """All table-like passages of a document."""
    tally = Tally()
    text = BLOCK_SEPARATOR.join(block.text for block in document.blocks)
    for chunk in cut_chunks(document.blocks, chunk_tokens=CHUNK_TOKENS, overlap_tokens=OVERLAP_TOKENS):
        rows = [
            row for line in text[chunk.span.start : chunk.span.end].splitlines() if len(row := numbers_of(line)) >= 2
        ]
        if len(rows) >= FEWEST_LINES and chunk.locator.page is not None:
            tally.passages += 1
            _judge(tally, chunk, rows, pages)
    return tally


def _judge(tally: Tally, chunk: Chunk, rows: Sequence[tuple[str, ...]], pages: Pages) -> None:
    page = chunk.locator.page or 1
    place = next(((page, n) for row in rows if (n := _find(row, pages.lines(page))) is not None), None)
    if place is None:
        return
    above = list(_above(pages.lines(page), place[1]))
    unit = next((found for line in above if (found := UNIT.search(line))), None)
    years = next((held for line in above if (held := frozenset(YEAR.findall(line))) and _is_head(line)), None)
    if unit is not None:
        tally.with_unit += 1
        scale = (unit[1] or unit[2]).casefold()
        carries = any((found[1] or found[2]).casefold() == scale for found in UNIT.finditer(chunk.text))
        tally.carry_unit += carries
        if not carries:
            tally.misses.append(f"p. {page}: lacks {unit[0]!r}\n{chunk.text}")
    if years is not None:
        tally.with_years += 1
        carries = years <= frozenset(YEAR.findall(chunk.text))
        tally.carry_years += carries
        if not carries:
            tally.misses.append(f"p. {page}: lacks {sorted(years)}\n{chunk.text}")


def _find(row: tuple[str, ...], lines: Sequence[str]) -> int | None:
    return next((n for n, line in enumerate(lines) if numbers_of(line)[-len(row) :] == row), None)


def _above(lines: Sequence[str], row: int) -> Iterator[str]:
    """From the row upwards, up to a paragraph."""
    yield lines[row]
    for line in reversed(lines[:row]):
        words = len(line.split())
        if len(numbers_of(line)) < NUMBERS_A_LINE and (words >= PROSE_WORDS or (words >= 7 and line.endswith("."))):
            return
        yield line


def _is_head(line: str) -> bool:
    """Years as names of columns: no number but years and days."""
    others = [number for number in numbers_of(line) if not YEAR.fullmatch(number) and len(number) > 2]
    return not others and len(line.split()) <= LONGEST_HEAD_WORDS and len(YEAR.findall(line)) >= 1


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("places", type=Path, nargs="+")
    parser.add_argument("--misses", action="store_true")
    arguments = parser.parse_args()
    files = [
        file for place in arguments.places for file in (sorted(place.rglob("*.pdf")) if place.is_dir() else [place])
    ]
    print(
        f"{'file':40}{'passages':>9}{'unit':>6}{'carry':>7}{'years':>6}{'carry':>7}{'tables':>7}{'rows':>6}{'cpu s':>7}"
    )
    sums = Tally()
    for path in files:
        began = time.process_time()
        document = parse(path, path.name)
        seconds = time.process_time() - began
        tally = measure(document, Pages(path))
        tables = [block for block in document.blocks if block.kind is BlockKind.TABLE]
        rows = sum(block.text.count("\n") + 1 for block in tables)
        print_line(path.name, tally, f"{len(tables):7}{rows:6}{seconds:7.1f}")
        if arguments.misses:
            print(*tally.misses, sep="\n----\n")
        for name in ("passages", "with_unit", "carry_unit", "with_years", "carry_years"):
            setattr(sums, name, getattr(sums, name) + getattr(tally, name))
    print_line("all", sums, "")


def print_line(name: str, tally: Tally, rest: str) -> None:
    """One line of the table."""
    unit, years = tally.carry_unit / max(tally.with_unit, 1), tally.carry_years / max(tally.with_years, 1)
    print(f"{name[:39]:40}{tally.passages:9}{tally.with_unit:6}{unit:7.2f}{tally.with_years:6}{years:7.2f}{rest}")


if __name__ == "__main__":
    main()
