"""Names that people can use."""

import pytest

from ingestion.parsers.outline import LONGEST_TITLE_CHARS, OPENING_CHARS, choose_author, choose_title
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


def test_a_heading_is_judged_like_a_title_and_one_after_much_text_names_a_part() -> None:
    contents = Block(kind=BlockKind.HEADING, text="Содержание", level=1)
    text = Block(kind=BlockKind.PARAGRAPH, text="слово " * OPENING_CHARS)
    assert choose_title(None, [contents, HEADING], name="x.pdf") == "Отпуск"
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
