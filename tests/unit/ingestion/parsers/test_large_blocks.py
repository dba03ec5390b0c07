"""What is too long for one block is cut into several, and nothing is lost but blanks."""

from hypothesis import given
from hypothesis import strategies as st

from ingestion.parsers.large_blocks import in_blocks
from ingestion.parsers.tables import render_table
from ingestion.records import LARGEST_BLOCK_CHARS, BlockKind

piece = st.sampled_from(["слово ", "да.\n", "x" * 30_000, "| a | b |\n", " "])


@given(st.lists(piece, max_size=40).map("".join), st.sampled_from(BlockKind), st.integers(1, 40))
def test_every_part_fits_and_all_words_are_there(text: str, kind: BlockKind, times: int) -> None:
    parts = list(in_blocks(text * times, kind))
    assert all(len(part) <= LARGEST_BLOCK_CHARS for part in parts)
    assert "".join("".join(parts).split()) == "".join((text * times).split())


def test_each_part_of_a_table_has_its_header() -> None:
    table = render_table([["Товар", "Цена"], *([["Стол", str(number)] for number in range(8_000)])])
    first, *others = in_blocks(table, BlockKind.TABLE)
    header = "| Товар | Цена |\n| --- | --- |\n"
    assert others
    assert all(part.startswith(header) for part in (first, *others))
    rows = [line for part in (first, *others) for line in part.removeprefix(header).split("\n")]
    assert rows == table.removeprefix(header).split("\n")
