"""Headings by their fonts."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ingestion.parsers.pdf import HeadingLooks, level_of
from ingestion.parsers.pdf_layout import Paragraph


def _paragraph(text: str, size: float = 10, *, bold: bool = False, lines: int = 1) -> Paragraph:
    return Paragraph(text=text, page=1, last_page=1, size=size, bold=bold, lines=lines)


TEXT = _paragraph("Обычный текст, которого на странице больше всего остального вместе взятого. " * 3, lines=4)


def _levels(paragraphs: Sequence[Paragraph]) -> list[int | None]:
    """For each paragraph of a document its level, or None."""
    looks = HeadingLooks()
    for paragraph in paragraphs:
        looks.note(paragraph)
    levels = looks.levels()
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
