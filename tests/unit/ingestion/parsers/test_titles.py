"""Names that people can use."""

import pytest

from ingestion.parsers.titles import LONGEST_TITLE_CHARS, choose_title
from ingestion.records import Block, BlockKind

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


@pytest.mark.parametrize("stated", MEANINGLESS)
def test_a_title_that_no_person_wrote_is_passed_over(stated: str) -> None:
    assert choose_title(stated, [HEADING], name="x.pdf") == "Отпуск"


@pytest.mark.parametrize("stated", ["Отчёт за 2024 год", "Microsoft и её история", "Document management in practice"])
def test_a_title_that_means_something_is_kept(stated: str) -> None:
    assert choose_title(stated, [HEADING], name="x.pdf") == stated


def test_without_title_and_heading_the_name_serves() -> None:
    assert choose_title(None, [], name="Договор № 5.v2.pdf") == "Договор № 5.v2"


def test_a_title_is_one_line() -> None:
    assert choose_title("Раз\n два\u200b", [], name="x") == "Раз два"


def test_an_endless_title_is_cut_between_words() -> None:
    title = choose_title("слово " * 100, [], name="x")
    assert len(title) <= LONGEST_TITLE_CHARS
    assert title.endswith("слово…")
