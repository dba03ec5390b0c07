"""Paragraphs out of lines."""

from hypothesis import given
from hypothesis import strategies as st

from ingestion.parsers.pdf_layout import build_paragraphs, drop_running_lines

FULL = "Эта строка доходит до самого правого края страницы,"


def _texts(*pages: list[str]) -> list[str]:
    return [paragraph.text for paragraph in build_paragraphs(pages)]


def test_full_lines_go_on_and_a_short_one_ends_the_paragraph() -> None:
    assert _texts([FULL, "и продолжается.", "Новый абзац начинается здесь, вот так, прямо тут,", "и всё."]) == [
        f"{FULL} и продолжается.",
        "Новый абзац начинается здесь, вот так, прямо тут, и всё.",
    ]


def test_an_empty_line_ends_a_paragraph() -> None:
    assert _texts([FULL, "", FULL]) == [FULL, FULL]


def test_a_bullet_begins_a_paragraph() -> None:
    assert _texts([FULL, "• первый пункт списка, довольно длинный, как строка", "2) второй"]) == [
        FULL,
        "• первый пункт списка, довольно длинный, как строка",
        "2) второй",
    ]


def test_words_divided_at_the_line_end_are_joined() -> None:
    assert _texts(["Строка заканчивается переносом слова докумен-", "тация и идёт дальше, до края страницы вот"]) == [
        "Строка заканчивается переносом слова документация и идёт дальше, до края страницы вот"
    ]


def test_a_hyphen_that_belongs_to_the_word_stays() -> None:
    lines = ["Это делает кто-то или же, может быть, какой-", "то другой человек, и well-known он или не well-", "known"]
    assert _texts(lines) == [
        "Это делает кто-то или же, может быть, какой-то другой человек, и well-known он или не well-known"
    ]


def test_ligatures_and_invisible_characters_are_undone() -> None:
    assert _texts(["e\ufb03cient ﬁles\x00 co\u00adop"]) == ["efficient files coop"]


def test_page_numbers_and_headers_go_but_a_header_is_kept_once() -> None:
    pages = [
        ["Годовой отчёт", f"Содержание страницы {word}.", str(number)] for number, word in enumerate("абвгд", start=7)
    ]
    assert drop_running_lines(pages) == [
        ["Годовой отчёт", "Содержание страницы а."],
        *([f"Содержание страницы {word}."] for word in "бвгд"),
    ]


def test_numbered_headings_at_the_top_of_pages_stay() -> None:
    pages = [[f"Билет {number}", "Первый вопрос такой.", "И второй вопрос."] for number in range(1, 9)]
    assert [lines[0] for lines in drop_running_lines(pages)] == [f"Билет {number}" for number in range(1, 9)]


def test_numbers_that_do_not_count_pages_stay() -> None:
    pages = [["Итого", f"{total}"] for total in (512, 77, 1024, 3)]
    assert [lines[-1] for lines in drop_running_lines(pages)] == ["512", "77", "1024", "3"]


def test_the_sentence_over_a_page_break_stands_alone_with_both_pages() -> None:
    paragraphs = build_paragraphs([["Первое предложение. Второе начинается"], ["и кончается. Третье."]])
    assert [(paragraph.text, paragraph.page, paragraph.last_page) for paragraph in paragraphs] == [
        ("Первое предложение.", 1, 1),
        ("Второе начинается и кончается.", 1, 2),
        ("Третье.", 2, 2),
    ]


@given(st.lists(st.lists(st.text(max_size=30), max_size=8), max_size=6))
def test_paragraphs_of_any_lines_are_in_page_order_and_not_empty(pages: list[list[str]]) -> None:
    paragraphs = build_paragraphs(pages)
    assert all(paragraph.text and 1 <= paragraph.page <= paragraph.last_page <= len(pages) for paragraph in paragraphs)
    assert [paragraph.page for paragraph in paragraphs] == sorted(paragraph.page for paragraph in paragraphs)
