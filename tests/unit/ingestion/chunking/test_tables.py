"""What is a table's header, and which row is which."""

import pytest

from ingestion.chunking.tables import find_header, row_locator
from ingestion.records import Block, BlockKind
from tests.unit.ingestion.chunking.documents import table


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("| a | b |\n| --- | :-: |\n| 1 | 2 |", "| a | b |\n| --- | :-: |"),
        ("| a |\n|---|", "| a |\n|---|"),
        ("Prices\n(in thousands)\n| a |\n|---|\n| 1 |", "Prices\n(in thousands)\n| a |\n|---|"),
        ("| a | b |\n| 1 | 2 |", None),
        ("| a | b |\n| --- | x |", None),
    ],
)
def test_a_header_has_a_rule_under_it(text: str, header: str | None) -> None:
    found = find_header(Block(kind=BlockKind.TABLE, text=text))
    assert (text[slice(*found)] if found else None) == header


@pytest.mark.parametrize(
    ("row", "row_end", "expected"),
    [
        (2, 4, [2, 2, 3, 4]),  # the rows under the header
        (1, 4, [1, 2, 3, 4]),  # the header too
        (1, 9, [1, 1, 1, 1]),  # rows were left out: only the range is known
        (None, None, [None] * 4),
    ],
)
def test_rows_are_counted_as_their_program_does(
    row: int | None, row_end: int | None, expected: list[int | None]
) -> None:
    block = table(3, row=row, row_end=row_end)
    assert [row_locator(block, number, rows=4, has_header=True).row for number in range(4)] == expected
