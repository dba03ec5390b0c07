"""PDF files."""

from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers import pdf_pages
from ingestion.parsers.codec import tell_pages
from ingestion.parsers.pdf import heading_levels, level_of
from ingestion.parsers.pdf_layout import Paragraph
from ingestion.parsers.registry import parse_file
from ingestion.records import BlockKind, Document
from tests.unit.ingestion.parsers.files import write_pdf


def _parse(path: Path) -> Document:
    return parse_file(path, name="report.pdf", media_type="application/pdf")


def _code(path: Path) -> FailureCode:
    with pytest.raises(SourceError) as caught:
        _parse(path)
    return caught.value.code


def test_blocks_know_their_pages_and_empty_pages_are_listed(tmp_path: Path) -> None:
    document = _parse(write_pdf(tmp_path / "f", [["First page."], [], ["Third page."]], title="Annual report"))
    assert [(block.text, block.locator.page) for block in document.blocks] == [("First page.", 1), ("Third page.", 3)]
    assert (document.title, document.pages, document.pages_without_text) == ("Annual report", 3, (2,))


def test_an_empty_password_opens(tmp_path: Path) -> None:
    assert _parse(write_pdf(tmp_path / "f", [["Hello there."]], password="")).blocks[0].text == "Hello there."


def test_a_password_is_not_guessed(tmp_path: Path) -> None:
    assert _code(write_pdf(tmp_path / "f", [["Hello."]], password="secret")) is FailureCode.FILE_ENCRYPTED


def test_pages_without_text_are_left_to_who_can_see(tmp_path: Path) -> None:
    document = _parse(write_pdf(tmp_path / "f", [[], []]))
    assert (document.blocks, document.pages, document.pages_without_text) == ((), 2, (1, 2))


def test_a_larger_font_is_a_heading_above_what_follows(tmp_path: Path) -> None:
    page = ["# Chapter One", *(f"This is line {number} of the text, as long as any." for number in range(9))]
    heading, text = _parse(write_pdf(tmp_path / "f", [page])).blocks
    assert (heading.kind, heading.text, heading.level) == (BlockKind.HEADING, "Chapter One", 1)
    assert text.locator.headings == ("Chapter One",)


def test_pages_are_reported_as_they_are_read(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "f", [["One."], ["Two."]])
    told: list[tuple[int, int]] = []
    token = tell_pages.set(lambda done, total: told.append((done, total)))
    _parse(path)
    tell_pages.reset(token)
    assert told == [(1, 2), (2, 2)]


def test_a_long_file_is_opened_anew_now_and_then_and_reads_alike(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "f", [[f"Page number {number} says this."] for number in range(7)])
    at_once = _parse(path)
    with (
        patch.object(pdf_pages, "PAGES_AN_OPENING", 2),
        patch.object(pypdfium2, "PdfDocument", wraps=pypdfium2.PdfDocument) as opened,
    ):
        assert _parse(path) == at_once
    assert opened.call_count == 4


def test_a_page_that_yields_glyph_codes_is_a_page_without_text(tmp_path: Path) -> None:
    codes = ["3HQazQtSURVWrHGN QD UcWHcK sURVWrHGn"] * 3
    document = _parse(write_pdf(tmp_path / "f", [["A page that can be read."], codes]))
    assert document.pages_without_text == (2,)


def test_a_file_without_its_table_of_objects_is_read(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "f", [["Hello there."]])
    path.write_bytes(path.read_bytes().split(b"startxref")[0])
    assert _parse(path).blocks[0].text == "Hello there."


def test_what_is_no_pdf_inside_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"%PDF-1.7\nnothing of the kind")
    assert _code(path) is FailureCode.FILE_DAMAGED


@pytest.mark.parametrize("kept", [200, 400, 700, 1000])
def test_a_file_cut_short_is_damaged_or_read_in_part(tmp_path: Path, kept: int) -> None:
    path = write_pdf(tmp_path / "f", [["Hello there."]] * 3)
    path.write_bytes(path.read_bytes()[:kept])
    assert _outcome(path) in ({"Hello there."}, set(), FailureCode.FILE_DAMAGED)


def _outcome(path: Path) -> set[str] | FailureCode:
    try:
        return {block.text for block in _parse(path).blocks}
    except SourceError as error:
        return error.code


def test_rows_of_numbers_are_a_table_under_the_line_that_announces_it(tmp_path: Path) -> None:
    wide = " " * 20
    rows = [f"Room X{wide}2021{wide}2022", f"Room A{wide}1,200{wide[1:]}1,350", f"Room B{wide}2,200{wide[1:]}2,350"]
    document = _parse(write_pdf(tmp_path / "f", [["It was paid as follows:", *rows, "", "That is all."]]))
    assert [block.text for block in document.blocks] == [
        "It was paid as follows:\n| Room X | 2021 | 2022 |\n| --- | --- | --- |\n"
        "| Room A | 1,200 | 1,350 |\n| Room B | 2,200 | 2,350 |",
        "That is all.",
    ]


def _paragraph(text: str, size: float = 10, *, bold: bool = False, lines: int = 1) -> Paragraph:
    return Paragraph(text=text, page=1, last_page=1, size=size, bold=bold, lines=lines)


TEXT = _paragraph("Обычный текст, которого на странице больше всего остального вместе взятого. " * 3, lines=4)


def _levels(paragraphs: Sequence[Paragraph]) -> list[int | None]:
    """For each paragraph of a document its level, or None."""
    levels = heading_levels(paragraphs)
    return [level_of(paragraph, levels) for paragraph in paragraphs]


def _level(candidate: Paragraph) -> int | None:
    return _levels([candidate, TEXT])[0]


def test_sizes_make_levels() -> None:
    chapter, section = _paragraph("Глава", 20), _paragraph("Раздел", 14)
    assert _levels([chapter, TEXT, section, TEXT, section, TEXT]) == [1, None, 2, None, 2, None]


def test_a_bold_line_of_the_texts_size_is_the_lowest_heading() -> None:
    bold = _paragraph("Как подключиться?", bold=True)
    assert _levels([_paragraph("Вопросы", 16), bold, TEXT]) == [1, 2, None]


def test_where_all_is_bold_nothing_stands_out() -> None:
    bold = _paragraph(TEXT.text, bold=True)
    assert _levels([_paragraph("Первое", bold=True), bold, bold]) == [None, None, None]


def test_a_sentence_a_bullet_and_a_number_are_no_headings() -> None:
    assert [_level(_paragraph(text, 14)) for text in ("Так.", "• пункт", "1 234", "Введение … 4")] == [None] * 4


def test_a_numbered_title_is_a_heading() -> None:
    assert _level(_paragraph("2.1 Сроки оплаты", 14)) == 1


def test_without_sizes_there_are_no_headings() -> None:
    assert _levels([_paragraph("Глава", 0), _paragraph("Текст", 0)]) == [None, None]


def test_where_most_would_be_headings_there_are_none() -> None:
    large = _paragraph("Слайд крупными буквами, как и все остальные", 20)
    assert _levels([large] * 5 + [_paragraph("сноска " * 20, 10)]) == [None] * 6


@given(st.lists(st.tuples(st.text(min_size=1, max_size=20), st.floats(0, 40), st.booleans()), max_size=12))
def test_there_is_an_answer_for_every_paragraph(looks: list[tuple[str, float, bool]]) -> None:
    levels = _levels([_paragraph(text, size, bold=bold) for text, size, bold in looks])
    assert len(levels) == len(looks)
    assert all(level is None or 1 <= level <= 6 for level in levels)
