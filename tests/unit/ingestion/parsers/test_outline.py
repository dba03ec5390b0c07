"""What all parsers build a document with: heading paths, tables, and blocks that are not too long."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.locator import Locator
from ingestion.parsers.outline import (
    LONGEST_TITLE_CHARS,
    MOST_NAMES,
    OPENING_CHARS,
    Outline,
    choose_author,
    choose_title,
    in_blocks,
    render_table,
)
from ingestion.records import LARGEST_BLOCK_CHARS, Block, BlockKind

ROWS = "| a |\n| --- |\n| 1 |"
piece = st.sampled_from(["слово ", "да.\n", "x" * 30_000, "| a | b |\n", " "])

HEADING = Block(kind=BlockKind.HEADING, text="Отпуск", level=1)
MEANINGLESS = [
    "Microsoft Word - договор.doc",
    "untitled",
    "Untitled document",
    "Без имени 1",
    "Документ1",
    "report_final.docx",
    "PowerPoint Presentation",
    "---",
    "\ufffd\ufffdtitle",
    "  ",
]


def blocks(*paragraphs: str, place: Locator | None = None) -> list[Block]:
    """Paragraphs and a table below them, which may stand at another place."""
    outline = Outline()
    for paragraph in paragraphs:
        outline.add(BlockKind.PARAGRAPH, paragraph)
    outline.place = place or outline.place
    outline.add(BlockKind.TABLE, ROWS)
    return list(outline.finish())


@pytest.mark.parametrize(
    "name", ["Таблица 2. Тарифы", "Table 5 – Results", "Цены на мебель:", "(тыс. руб.)", "In millions"]
)
def test_a_line_that_names_a_table_or_its_unit_is_its_first(name: str) -> None:
    assert [block.text for block in blocks("Договор.", name)] == ["Договор.", f"{name}\n{ROWS}"]


@pytest.mark.parametrize(
    "text",
    ["Дата 12.05.2025", "Стороны согласны.", "Цены " * 50 + ":", "Выручка выросла на 5 млн руб. за год."],
)
def test_other_paragraphs_are_none_of_a_tables(text: str) -> None:
    assert [block.kind for block in blocks(text)] == [BlockKind.PARAGRAPH, BlockKind.TABLE]


def test_only_the_lines_next_to_the_table_are_taken_and_in_their_order() -> None:
    names = [f"Таблица {number}" for number in range(MOST_NAMES + 1)]
    first, table = blocks(*names)
    assert (first.text, table.text) == (names[0], "\n".join((*names[1:], ROWS)))


def test_a_name_on_another_page_stays_a_paragraph() -> None:
    page = replace(Locator(), page=2)
    assert [block.kind for block in blocks("Таблица 1", place=page)] == [BlockKind.PARAGRAPH, BlockKind.TABLE]


def test_a_name_without_a_table_stays_a_paragraph() -> None:
    outline = Outline()
    outline.add(BlockKind.PARAGRAPH, "Прайс", is_name=True)
    outline.add_heading("Раздел", 1)
    assert [block.text for block in outline.finish()] == ["Прайс", "Раздел"]


def test_short_rows_are_filled_up() -> None:
    assert render_table([["a", "b"], ["1"]]) == "| a | b |\n| --- | --- |\n| 1 |  |"


def test_empty_rows_and_columns_are_left_out() -> None:
    assert render_table([["", "a", ""], ["", "", ""], ["", "1", ""]]) == "| a |\n| --- |\n| 1 |"


def test_a_cell_is_one_line_and_its_bars_are_no_borders() -> None:
    assert render_table([["a\nb | c"]]) == "| a b \\| c |\n| --- |"


def test_a_table_without_text_is_nothing() -> None:
    assert render_table([["", " "], []]) == ""


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


@pytest.mark.parametrize("stated", MEANINGLESS)
def test_a_title_that_no_person_wrote_is_passed_over(stated: str) -> None:
    assert choose_title(stated, [HEADING], name="x.pdf") == "Отпуск"


@pytest.mark.parametrize("stated", ["Отчёт за 2024 год", "Microsoft и её история", "Document management in practice"])
def test_a_title_that_means_something_is_kept(stated: str) -> None:
    assert choose_title(stated, [HEADING], name="x.pdf") == stated


def test_a_heading_is_judged_like_a_title_and_one_after_much_text_names_a_part() -> None:
    contents = Block(kind=BlockKind.HEADING, text="Содержание", level=1)
    text = Block(kind=BlockKind.PARAGRAPH, text="слово " * OPENING_CHARS)
    section = Block(kind=BlockKind.HEADING, text="1. Предмет договора", level=1)
    assert choose_title(None, [contents, HEADING], name="x.pdf") == "Отпуск"
    assert choose_title(None, [section], name="Подряд.docx") == "Подряд"
    assert choose_title(None, [text, HEADING], name="Приказ.pdf") == "Приказ"


@pytest.mark.parametrize(
    "nobody",
    [
        None,
        " \n",
        "Microsoft Office User",
        "Пользователь Windows",
        "автор",
        "python-docx",
        "Un-named",
        "EDGAR Online, a division of Donnelley Financial Solutions",
        "Kaleidoscope - kscope.io",
        "Adobe InDesign 2015",
    ],
)
def test_programs_and_services_are_no_authors(nobody: str | None) -> None:
    assert choose_author(nobody, [HEADING]) is None


@pytest.mark.parametrize(
    "author",
    [
        "Анна Седова",
        "Holmes, Jon",
        "Rafael Teixeira de Lima",
        "Иванов И.И.; Петров П. П.",
        "吳麗招",
        "jsmith",
        "Отдел 5",
    ],
)
def test_people_are_authors_and_organisations_that_the_document_names(author: str) -> None:
    text = Block(kind=BlockKind.PARAGRAPH, text="Подготовил: Отдел 5")
    assert choose_author(author, [text]) == author


def test_without_title_and_heading_the_name_serves() -> None:
    assert choose_title(None, [], name="Договор № 5.v2.pdf") == "Договор № 5.v2"


def test_a_title_is_one_line() -> None:
    assert choose_title("Раз\n два\u200b", [], name="x") == "Раз два"


def test_an_endless_title_is_cut_between_words() -> None:
    title = choose_title("слово " * 100, [], name="x")
    assert len(title) <= LONGEST_TITLE_CHARS
    assert title.endswith("слово…")
