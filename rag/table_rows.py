"""Tables inside a passage, read out in words: «Эфиопия: вес 1 кг; цена 1 890 ₽; остаток 17».

In: a passage, in which every table is Markdown. Out: the same text with a line of words for each row and without names
and ruler, or the tables themselves. A table without a ruler has no names. Pure.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_ROW = re.compile(r"\|.*\|")
_RULER = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
_CELL_END = re.compile(r"(?<!\\)\|")
_UNIT = re.compile(r"(?P<name>.*[^\s,]),\s*(?P<unit>[^\s\d]{1,6})")  # «Цена, ₽», «Вес, кг»
_NUMBER = re.compile(r"[-−]?\d[\d\s\u00a0\u202f.,]*")
_NAME = re.compile(r"[^\W\d_A-ZА-ЯЁ]{3}")  # «Бразилия», and not «17» or «СТ-01»


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row with the names of its columns, which are empty where the table has none."""

    line: str  # as it stands in the passage
    names: tuple[str, ...]
    cells: tuple[str, ...]

    def cell(self, column: str) -> str:
        """Empty where the row has other cells than the table has names."""
        is_whole = column in self.names and len(self.names) == len(self.cells)
        return self.cells[self.names.index(column)] if is_whole else ""

    @property
    def words(self) -> str:
        """The first cell names the row, or behind a number or a code the second; others follow their column's name."""
        names = self.names if len(self.names) == len(self.cells) else ("",) * len(self.cells)
        first = [place for place, cell in enumerate(self.cells[:2]) if cell and not _NUMBER.fullmatch(cell)]
        label = next((place for place in first if _NAME.search(self.cells[place])), first[0] if first else None)
        if label is not None and not any(cell for place, cell in enumerate(self.cells) if place != label):
            label = None
        named = enumerate(zip(names, self.cells, strict=True))
        said = "; ".join(_named(name, cell) for place, (name, cell) in named if cell and place != label)
        return said if label is None else f"{self.cells[label]}: {said}"


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line as it is told, and where it stands in the passage."""

    start: int
    end: int
    said: str
    row: Row | None = None


def rows_of(text: str) -> list[Row]:
    """The rows of all tables of the text, in order."""
    return [line.row for line in lines_in_words(text) if line.row]


def in_words(text: str) -> tuple[str, Mapping[str, str]]:
    """The text with its tables in words, and for each such line the line that stands in the passage."""
    lines = list(lines_in_words(text))
    return "\n".join(line.said for line in lines), {line.said: line.row.line for line in lines if line.row}


def lines_in_words(text: str) -> Iterator[Line]:
    """The lines of the text, rows in words; the names of columns and the ruler below them are left out."""
    lines, names, start = text.split("\n"), tuple[str, ...](), 0
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        begin, start = start, start + len(line) + 1
        if not _ROW.fullmatch(line.strip()):
            names = ()
            yield Line(start=begin, end=start - 1, said=line)
        elif _RULER.fullmatch(following.strip()):
            names = _cells(line.strip())
        elif not _RULER.fullmatch(line.strip()):
            row = Row(line=line, names=names, cells=_cells(line.strip()))
            yield Line(start=begin, end=start - 1, said=row.words, row=row)


def _cells(row: str) -> tuple[str, ...]:
    return tuple(cell.strip().replace("\\|", "|") for cell in _CELL_END.split(row[1:-1]))


def _named(name: str, cell: str) -> str:
    """`цена 1 890 ₽` of «Цена, ₽» and «1 890»; the cell alone where its column has no name."""
    unit = _UNIT.fullmatch(name)
    said = unit["name"] if unit else name
    value = f"{cell} {unit['unit']}" if unit and _NUMBER.fullmatch(cell) else cell
    is_word = said[1:2].islower()  # no abbreviation
    return " ".join(filter(None, (said[:1].lower() + said[1:] if is_word else said, value)))
