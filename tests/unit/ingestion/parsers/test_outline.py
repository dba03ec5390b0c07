"""Which lines above a table belong to it."""

from dataclasses import replace

import pytest

from domain.locator import Locator
from ingestion.parsers.outline import MOST_NAMES, Outline
from ingestion.records import Block, BlockKind

ROWS = "| a |\n| --- |\n| 1 |"


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
    outline.name_table("Прайс")
    outline.add_heading("Раздел", 1)
    assert [block.text for block in outline.finish()] == ["Прайс", "Раздел"]
