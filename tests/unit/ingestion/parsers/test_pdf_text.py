"""Paragraphs of documents that are longer than what is held of them."""

from collections.abc import Iterator
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from ingestion.parsers import pdf_text
from ingestion.parsers.pdf_layout import Paragraph
from ingestion.parsers.pdf_lines import PageLine, plain_lines
from ingestion.parsers.pdf_text import STRETCH_PAGES, build_paragraphs, paragraph_spool
from ingestion.spool import HELD_UNPRESSED_BYTES, Spooled

PAGES = 5 * STRETCH_PAGES + 1
FULL = "Длинная строка посреди страницы, которая тянется до края северо-"


def _pages(count: int) -> Iterator[list[PageLine]]:
    for page in range(count):
        yield plain_lines(["Общий заголовок", f"Это содержание страницы {page}.", f"{page + 1}"])


def _texts(pages: Iterator[list[PageLine]]) -> list[str]:
    return [paragraph.text for paragraph in build_paragraphs(pages)]


def test_a_header_of_a_long_document_stays_on_its_first_page_only() -> None:
    assert sum("Общий заголовок" in text for text in _texts(_pages(PAGES))) == 1


def test_every_page_of_a_long_document_is_there_without_its_number() -> None:
    texts = [text.removeprefix("Общий заголовок ") for text in _texts(_pages(PAGES))]
    assert texts == [f"Это содержание страницы {page}." for page in range(PAGES)]


def test_paragraphs_know_their_pages_in_a_long_document() -> None:
    pages = [paragraph.page for paragraph in build_paragraphs(_pages(PAGES)) if "содержание" in paragraph.text]
    assert pages == list(range(1, PAGES + 1))


def test_paragraphs_come_before_the_last_page_was_read() -> None:
    read = 0

    def counted() -> Iterator[list[PageLine]]:
        nonlocal read
        for page in _pages(PAGES):
            read += 1
            yield page

    next(build_paragraphs(counted()))
    assert read <= 2 * STRETCH_PAGES


def test_a_hyphen_is_kept_as_the_pages_around_write_the_word() -> None:
    pages = [plain_lines(["северо-запад"]), *([plain_lines(["Что-то."])] * STRETCH_PAGES), plain_lines([FULL, "запад"])]
    assert _texts(iter(pages))[-1].endswith("северо-запад")


WORDS = ["северо-", "запад", "северо-запад", "дом-", "ик", "домик", "конец.", "Глава 7", "12", "", "Шапка"]
LINES = st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), max_size=5)


@given(st.lists(LINES, max_size=8))
def test_the_border_within_a_document_of_two_stretches_leaves_no_trace(texts: list[list[str]]) -> None:
    pages = [plain_lines([*lines, str(number)]) for number, lines in enumerate(texts, start=1)]
    whole = list(build_paragraphs(pages))
    with patch.object(pdf_text, "STRETCH_PAGES", 4):
        assert list(build_paragraphs(pages)) == whole


def test_many_paragraphs_come_back_from_their_compression() -> None:
    paragraphs = [
        Paragraph(
            text=f"{page} \ud800 " + "слово " * 1000, page=page, last_page=page + 1, size=11.04, bold=True, lines=3
        )
        for page in range(HELD_UNPRESSED_BYTES // 5000)
    ]
    spool = paragraph_spool()
    for paragraph in paragraphs:
        spool.append(paragraph, size=len(paragraph.text))
    gathered = spool.finish()
    assert isinstance(gathered, Spooled)
    assert list(gathered) == paragraphs
