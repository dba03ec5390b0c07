"""Ruled tables of words: cells are told by the rules between them, over several lines and pages."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ingestion.parsers.pdf_grid import Grid, Rule, find_grids
from ingestion.parsers.registry import parse_file
from ingestion.records import BlockKind, Document
from tests.unit.ingestion.parsers.files import write_drawn_pdf

LEFTS = (50, 200, 300, 480)
HEAD = (("Stage",), ("Until",), ("Who answers",))
DRAFT = (("Draft of the", "whole design"), ("March 15",), ("Orlova, with the", "team of Titov"))
PAYMENT = (("Advance payment",), ("in ten days",), ("Accounts",))
TRIAL = (("Trial run",), ("May 5",), ("Gromov",))

Cells = tuple[Sequence[str], ...]


def drawn(rows: Sequence[Cells], *, top: int = 700, boxes: bool = False) -> str:
    """A page's content: rules (or stroked boxes) around cells, each drawn line by line, cell after cell."""
    return "\n".join(_drawn(rows, top, boxes=boxes))


def _drawn(rows: Sequence[Cells], top: int, *, boxes: bool) -> Iterator[str]:
    for row in rows:
        height = 14 * max(map(len, row)) + 4
        for left, right, lines in zip(LEFTS, LEFTS[1:], row, strict=False):
            if boxes:
                yield f"{left} {top - height} {right - left} {height} re S"
            else:
                yield f"{left} {top} {right - left} .5 re f {left} {top - height} {right - left} .5 re f"
                yield f"{left} {top - height} .5 {height} re f {right} {top - height} .5 {height} re f"
            for number, line in enumerate(lines):
                yield f"BT /F1 11 Tf 1 0 0 1 {left + 3} {top - 13 - 14 * number} Tm ({line}) Tj ET"
        top -= height


def parsed(path: Path, *pages: str) -> Document:
    return parse_file(write_drawn_pdf(path / "f", pages), name="plan.pdf", media_type="application/pdf")


@pytest.mark.parametrize("boxes", [False, True])
def test_words_stand_in_their_cells_with_all_lines(tmp_path: Path, *, boxes: bool) -> None:
    (table,) = parsed(tmp_path, drawn((HEAD, DRAFT, PAYMENT), boxes=boxes)).blocks
    assert table.kind is BlockKind.TABLE
    assert table.text.split("\n") == [
        "| Stage | Until | Who answers |",
        "| --- | --- | --- |",
        "| Draft of the whole design | March 15 | Orlova, with the team of Titov |",
        "| Advance payment | in ten days | Accounts |",
    ]


@pytest.mark.parametrize("head", [(), (HEAD,)])
def test_a_table_that_goes_on_has_the_names_of_its_columns_there_too(tmp_path: Path, head: tuple[Cells, ...]) -> None:
    document = parsed(tmp_path, drawn((HEAD, DRAFT)), drawn((*head, PAYMENT, TRIAL)))
    assert [block.text.split("\n")[0] for block in document.blocks] == ["| Stage | Until | Who answers |"] * 2
    assert document.blocks[1].text.split("\n")[2:] == [
        "| Advance payment | in ten days | Accounts |",
        "| Trial run | May 5 | Gromov |",
    ]


def test_words_that_fill_their_cells_are_divided_at_the_rule(tmp_path: Path) -> None:
    row = (("Words that fill this whole cel",), ("up to its rules x",), ("and beyond",))
    (table,) = parsed(tmp_path, drawn((HEAD, row))).blocks
    assert table.text.split("\n")[2] == "| Words that fill this whole cel | up to its rules x | and beyond |"


def test_a_frame_around_prose_is_no_table(tmp_path: Path) -> None:
    prose = [f"Line {number} of the text goes on." for number in range(30)]
    document = parsed(tmp_path, drawn(((prose, ("Sheet",), ("1",)), (("a",), ("b",), ("c",)))))
    assert all(block.kind is not BlockKind.TABLE for block in document.blocks)


def test_a_row_above_the_names_of_columns_is_a_title(tmp_path: Path) -> None:
    (table,) = parsed(tmp_path, drawn(((("Stages",), (), ()), HEAD, PAYMENT))).blocks
    assert table.text.split("\n")[:2] == ["Stages", "| Stage | Until | Who answers |"]


def test_boxes_around_columns_of_numbers_have_no_cells(tmp_path: Path) -> None:
    column = tuple((number, number) for number in ("1,200", "1,250", "118"))
    document = parsed(tmp_path, drawn((column, column)))
    assert not any("1,200 1,200" in block.text for block in document.blocks)


def test_lines_under_words_make_no_grid() -> None:
    assert find_grids([Rule(is_level=True, at=100 * n, begin=0, end=500) for n in range(1, 7)]) == []


def test_a_merged_cell_is_one() -> None:
    across = [Rule(is_level=True, at=at, begin=0, end=300) for at in (0, 20, 40)]
    down = [Rule(is_level=False, at=at, begin=0, end=40) for at in (0, 100, 300)]
    short = Rule(is_level=False, at=200, begin=0, end=20)
    (grid,) = find_grids([*across, *down, short])
    assert isinstance(grid, Grid)
    places = [(10, 30), (150, 30), (250, 30), (250, 10), (400, 30)]
    cells = [grid.cell(*place) for place in places]
    assert [cell and (cell.row, cell.column) for cell in cells] == [(0, 0), (0, 1), (0, 1), (1, 2), None]
