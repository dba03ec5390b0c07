"""Tables as XLSX files, read back by another library."""

from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from adapters.spreadsheet import MAX_CELL_CHARS, table_to_xlsx
from rag.records import FactTable, Passage, RankedPassage, TableRow
from tests.fakes.rag import make_passage


def place(passage: Passage) -> str:
    return f"{passage.title}, стр. {passage.locator.page}"


def row(*cells: str, also: tuple[int, ...] = ()) -> TableRow:
    def ranked(page: int) -> RankedPassage:
        return RankedPassage(passage=make_passage("текст", number=page), score=1.0)

    return TableRow(cells=cells, passage=ranked(1), also=tuple(map(ranked, also)))


def read_back(table: FactTable) -> list[list[object]]:
    book = CalamineWorkbook.from_filelike(BytesIO(table_to_xlsx(table, source="Источник", place_of=place)))
    return [[*cells] for cells in book.get_sheet_by_index(0).to_python(skip_empty_area=False)]


def test_every_row_has_its_cells_and_its_sources() -> None:
    table = FactTable(title="договор", columns=("номер", "цена"), rows=(row("7/2025", "120 000 ₽", also=(1, 4)),))
    assert read_back(table) == [
        ["номер", "цена", "Источник"],
        ["7/2025", "120 000 ₽", "Договор.pdf, стр. 1\nДоговор.pdf, стр. 4"],
    ]


@pytest.mark.parametrize(
    "cell", ["=1+1", '=HYPERLINK("x")', "+7 900", "-5", "@SUM(A1)", "007", "https://x.test", "{=A1}"]
)
def test_a_cell_stays_the_text_that_it_is(cell: str) -> None:
    assert read_back(FactTable(title="x", columns=("a",), rows=(row(cell),)))[1][0] == cell


@pytest.mark.parametrize("title", ["договоры [2025]: все/любые?", "'имя'", "", "д" * 90, "History"])
def test_any_title_makes_a_sheet(title: str) -> None:
    assert len(read_back(FactTable(title=title, columns=("a",), rows=()))) == 1


def test_a_cell_over_the_limit_of_the_format_is_cut() -> None:
    cells = read_back(FactTable(title="x", columns=("a",), rows=(row("я" * (MAX_CELL_CHARS + 10)),)))
    assert cells[1][0] == "я" * MAX_CELL_CHARS


WORDS = (
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")), min_size=1, max_size=30).map(str.strip).filter(bool)
)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(WORDS, WORDS), max_size=6))
def test_no_row_is_lost(cells: list[tuple[str, str]]) -> None:
    table = FactTable(title="x", columns=("a", "b"), rows=tuple(row(*each) for each in cells))
    assert [tuple(each[:2]) for each in read_back(table)[1:]] == cells
