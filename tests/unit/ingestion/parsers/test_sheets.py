"""Rows as tables: the row of names is found and repeated, titles stay text, gaps end tables."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.parsers.outline import Outline
from ingestion.parsers.sheets import (
    SheetRow,
    add_sheet,
    column_name,
    number_format,
    plain_number,
)
from ingestion.records import Block, BlockKind
from tests.unit.ingestion.parsers.reading import read_bytes, told

TABLE = "| Товар | Цена |\n| --- | --- |\n| Стол письменный | 1 200,50 |\n| Стул | 300,00 |"
ROWS = [("Товар", "Цена"), ("Стол письменный", "1 200,50"), ("Стул", "300,00")]
SHOWN = [
    ("General", 12.0, "12"),
    ("General", 0.1 + 0.2, "0.3"),
    ("General", 1234567.891, "1234567.891"),
    ("0%", 0.15, "15%"),
    ("0.0%", 0.155, "15.5%"),
    ("#,##0.00", 1200.5, "1200.50"),
    ('#,##0.00"₽"', 1200, "1200.00 ₽"),
    ("[$$-409]#,##0.00", 9.5, "$ 9.50"),
    ('#,##0\\ "руб.";[Red]-#,##0\\ "руб."', 1200, "1200 руб."),
    ("_-* #,##0.00_-;-* #,##0.00_-", 5, "5.00"),
    ("dd/mm/yyyy", 46143, "2026-05-01"),
    ("[$-419]d mmmm yyyy;@", 46143, "2026-05-01"),
    ("yyyy-mm-dd h:mm", 46143.4375, "2026-05-01 10:30"),
    ("h:mm", 0.4375, "10:30"),
    ("mm:ss", 0.5 / 24, "00:30"),
    ("[h]:mm", 1.25, "30:00:00"),
    ("0000", 7, "7"),
    ("@", 7, "7"),
    ('"нет"', 7, "7"),
]


def _blocks(rows: Sequence[tuple[int, Sequence[str | int | None]]]) -> Sequence[Block]:
    outline = Outline()
    add_sheet(outline, [_row(number, cells) for number, cells in rows])
    return outline.finish()


def _row(number: int, cells: Sequence[str | int | None]) -> SheetRow:
    texts = {column: str(cell) for column, cell in enumerate(cells) if cell is not None}
    return SheetRow(number=number, cells=texts, has_values=any(isinstance(cell, int) for cell in cells))


def _texts(blocks: Sequence[Block]) -> list[str]:
    return [block.text.replace("\n| --- | --- |", "") for block in blocks]


def test_names_stand_above_the_rows() -> None:
    (block,) = _blocks([(1, ["Товар", "Цена"]), (2, ["Стол", 1200]), (3, ["Стул", 300])])
    assert block.text == "| Товар | Цена |\n| --- | --- |\n| Стол | 1200 |\n| Стул | 300 |"
    assert (block.kind, block.locator.row, block.locator.row_end) == (BlockKind.TABLE, 2, 3)


def test_names_are_repeated_in_every_block() -> None:
    rows: list[tuple[int, list[str | int | None]]] = [(number, ["стол " * 400, number]) for number in range(2, 40)]
    blocks = _blocks([(1, ["Товар", "Цена"]), *rows])
    assert len(blocks) > 3
    assert all(block.text.startswith("| Товар | Цена |") for block in blocks)


def test_lines_above_the_names_are_titles_and_stand_in_every_block() -> None:
    rows: list[tuple[int, list[str | int | None]]] = [(number, ["стол " * 400, number]) for number in range(4, 40)]
    blocks = _blocks([(1, ["Прайс на май"]), (2, ["(тыс. руб.)"]), (3, ["Товар", "Цена"]), *rows])
    assert len(blocks) > 3
    assert all(block.text.startswith("Прайс на май\n(тыс. руб.)\n| Товар | Цена |\n") for block in blocks)


def test_a_long_remark_above_a_table_is_a_paragraph() -> None:
    remark, table = _blocks([(1, ["Цены " * 60]), (2, ["Товар", "Цена"]), (3, ["Стол", 1200])])
    assert (remark.kind, remark.locator.row) == (BlockKind.PARAGRAPH, 1)
    assert table.text.startswith("| Товар | Цена |")


def test_an_empty_row_ends_a_table_and_the_next_has_its_own_names() -> None:
    blocks = _blocks([(1, ["Товар", "Цена"]), (2, ["Стол", 1]), (4, ["Город", "Число"]), (5, ["Казань", 2])])
    assert _texts(blocks) == ["| Товар | Цена |\n| Стол | 1 |", "| Город | Число |\n| Казань | 2 |"]


def test_rows_below_a_gap_without_names_keep_those_above() -> None:
    blocks = _blocks([(1, ["Товар", "Цена"]), (2, ["Стол", 1]), (4, ["Стул", 2])])
    assert _texts(blocks)[1] == "| Товар | Цена |\n| Стул | 2 |"


def test_columns_without_names_have_their_letters() -> None:
    (block,) = _blocks([(7, ["Стол", 1]), (8, ["Стул", 2])])
    assert _texts([block]) == ["| A | B |\n| Стол | 1 |\n| Стул | 2 |"]
    assert (block.locator.row, block.locator.row_end) == (7, 8)


def test_a_row_of_names_alone_is_read() -> None:
    (block,) = _blocks([(1, ["Товар", "Цена"])])
    assert block.text.startswith("| Товар | Цена |")


def test_a_far_column_takes_no_room() -> None:
    outline = Outline()
    add_sheet(outline, [SheetRow(number=1, cells={0: "А", 16_383: "Б"}, has_values=False)])
    assert outline.finish()[0].text.startswith("| А | Б |")


def test_columns_are_called_as_the_program_does() -> None:
    assert [column_name(column) for column in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]


_CELLS = st.one_of(st.none(), st.integers(0, 99), st.sampled_from(["ёлка", "стол", "дом"]))


@given(st.lists(st.lists(_CELLS, min_size=1, max_size=4), max_size=40))
def test_every_cell_is_told_once_beside_repeated_names(rows: list[list[str | int | None]]) -> None:
    filled = [(number, cells) for number, cells in enumerate(rows, start=1) if any(cell is not None for cell in cells)]
    blocks = _blocks(filled)
    shown = "\n".join(block.text for block in blocks)
    for _, cells in filled:
        assert all(str(cell) in shown for cell in cells if cell is not None)
    places = [(block.locator.row, block.locator.row_end or block.locator.row) for block in blocks]
    assert places == sorted(places)


@pytest.mark.parametrize(("code", "value", "shown"), SHOWN)
def test_a_number_is_shown_by_its_format(code: str, value: float, shown: str) -> None:
    assert number_format(code)(value) == shown


def test_days_count_from_1904_where_the_book_says_so() -> None:
    assert number_format("yyyy-mm-dd", epoch_1904=True)(46143 - 1462) == "2026-05-01"


def test_a_day_that_never_was_stays_a_number() -> None:
    assert number_format("yyyy-mm-dd")(-5) == "-5"
    assert number_format("yyyy-mm-dd")(1e9) == "1000000000"


@pytest.mark.parametrize(
    ("value", "shown"), [(1e20, "1e+20"), (1e-7, "1e-07"), (0.0, "0"), (-0.0, "0"), (123456789012.0, "123456789012")]
)
def test_a_plain_number_is_readable(value: float, shown: str) -> None:
    assert plain_number(value) == shown


@given(st.text(max_size=60), st.floats(allow_nan=True, allow_infinity=True))
def test_no_format_and_no_number_breaks_it(code: str, value: float) -> None:
    assert number_format(code)(value)


@given(st.integers(-(10**11), 10**11))
def test_whole_numbers_are_exact(value: int) -> None:
    assert number_format("General")(value) == str(value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1251", "utf-16", "cp866"])
@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_delimiter_and_encoding_are_found_out(tmp_path: Path, encoding: str, delimiter: str) -> None:
    content = "\r\n".join(delimiter.join(row) for row in ROWS)
    document = read_bytes(tmp_path, content.encode(encoding), name="a.csv")
    assert told(document) == [(BlockKind.TABLE, TABLE)]
    assert (document.blocks[0].locator.row, document.blocks[0].locator.row_end) == (2, 3)


def test_quotes_hold_delimiters_and_line_ends(tmp_path: Path) -> None:
    content = 'имя,слова\nАнна,"первая, и\nвторая ""строка"""\n'
    document = read_bytes(tmp_path, content.encode(), name="a.csv")
    assert document.blocks[0].text.endswith('| Анна | первая, и вторая "строка" |')
    assert document.blocks[0].locator.row == 2


def test_the_files_own_word_on_its_delimiter_is_taken(tmp_path: Path) -> None:
    document = read_bytes(tmp_path, b"sep=,\na,b;c\n1,2;3\n", name="a.csv")
    assert document.blocks[0].text == "| a | b;c |\n| --- | --- |\n| 1 | 2;3 |"


def test_a_file_without_columns_is_plain_text(tmp_path: Path) -> None:
    document = read_bytes(tmp_path, "Просто строка\n\nИ ещё одна".encode(), name="a.csv")
    assert [kind for kind, _ in told(document)] == [BlockKind.PARAGRAPH, BlockKind.PARAGRAPH]


def test_text_that_is_called_a_workbook_is_a_table(tmp_path: Path) -> None:
    document = read_bytes(tmp_path, "Товар\tЦена\nСтол\t5\n".encode("cp1251"), name="выгрузка.xls")
    assert document.blocks[0].text == "| Товар | Цена |\n| --- | --- |\n| Стол | 5 |"
