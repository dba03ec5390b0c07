"""Under which name a person knows a document, and how it begins."""

import pytest

from domain.documents import SourceType, known_as, opening_line, title_beside


@pytest.mark.parametrize(
    ("source_type", "title", "identifier", "name"),
    [
        pytest.param(SourceType.FILE, "Microsoft Word - x", "План.docx", "План.docx", id="a file by its name"),
        pytest.param(SourceType.PATH, "План", "/home/anna/План.docx", "План.docx", id="a path by its last part"),
        pytest.param(SourceType.FILE, "Смета 1/2.docx", "Смета 1/2.docx", "Смета 1/2.docx", id="a new name, whole"),
        pytest.param(SourceType.FILE, "Смета", "Смета", "Смета", id="a new name without an ending"),
        pytest.param(SourceType.LINK, "Правила", "https://a.b/c.html", "Правила", id="a page by its title"),
        pytest.param(SourceType.LINK, "", "https://a.b/c.html", "https://a.b/c.html", id="or its address"),
        pytest.param(SourceType.SITE, "", "https://xn--e1afmkfd.xn--p1ai/", "https://пример.рф/", id="which is read"),
    ],
)
def test_a_document_has_the_name_that_its_person_knows(
    source_type: SourceType, title: str, identifier: str, name: str
) -> None:
    assert known_as(source_type, title, identifier) == name


@pytest.mark.parametrize(("title", "shown"), [("План", ""), ("план.docx", ""), ("План закупок", "План закупок")])
def test_a_title_stands_beside_the_name_if_it_says_more(title: str, shown: str) -> None:
    assert title_beside("План.docx", title) == shown


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Договор № 7\n\nот 3 мая\t2026 г.", "Договор № 7 от 3 мая 2026 г."),
        ("слово " * 100, ("слово " * 33).strip()),
        ("а" * 200 + " дальше", "а" * 200),
        ("а" * 300, ""),
    ],
)
def test_a_document_begins_with_a_line_of_whole_words(text: str, line: str) -> None:
    assert opening_line(text) == line
