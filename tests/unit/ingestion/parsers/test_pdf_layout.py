"""Paragraphs out of lines."""

from hypothesis import given
from hypothesis import strategies as st

from ingestion.parsers.pdf_layout import build_paragraphs
from ingestion.parsers.pdf_lines import PageLine, plain_lines

FULL = "Эта строка доходит до самого правого края страницы,"


def _texts(*pages: list[str]) -> list[str]:
    return [paragraph.text for paragraph in build_paragraphs([plain_lines(lines) for lines in pages])]


def _without_running(pages: list[list[str]]) -> list[list[str]]:
    """The lines of each page that stay, each a paragraph."""
    apart = [plain_lines([part for line in page for part in (line, "")]) for page in pages]
    paragraphs = list(build_paragraphs(apart))
    return [[each.text for each in paragraphs if each.page == number] for number in range(1, len(pages) + 1)]


def _placed(*lines: tuple[str, float], size: float = 10, bold: bool = False) -> list[PageLine]:
    """(text, baseline) of each line, all as wide as they are long."""
    return [
        PageLine(text=text, size=size, bold=bold, baseline=baseline, left=50, right=50 + 5 * len(text))
        for text, baseline in lines
    ]


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


def test_a_numbered_clause_begins_a_paragraph() -> None:
    clauses = [
        ("3.1. Плата вносится до пятого числа безналичным расчётом.",),
        (
            "3.2. Плата растёт раз в год, а как, то сказано в п.",
            "3.3 Договора и в приложении, где она растёт как раз на те",
            "3.5 процента по индексу цен, который публикуют вот.",
        ),
        ("3.6 Скидок нет.",),
    ]
    assert _texts([line for clause in clauses for line in clause]) == [" ".join(clause) for clause in clauses]


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
    assert _without_running(pages) == [
        ["Годовой отчёт", "Содержание страницы а."],
        *([f"Содержание страницы {word}."] for word in "бвгд"),
    ]


def test_numbered_headings_at_the_top_of_pages_stay() -> None:
    pages = [[f"Билет {number}", "Первый вопрос такой.", "И второй вопрос."] for number in range(1, 9)]
    assert [lines[0] for lines in _without_running(pages)] == [f"Билет {number}" for number in range(1, 9)]


def test_numbers_that_do_not_count_pages_stay() -> None:
    pages = [["Итого", f"{total}"] for total in (512, 77, 1024, 3)]
    assert [lines[-1] for lines in _without_running(pages)] == ["512", "77", "1024", "3"]


def test_the_sentence_over_a_page_break_stands_alone_with_both_pages() -> None:
    pages = [["Первое предложение. Второе начинается"], ["и кончается. Третье."]]
    paragraphs = list(build_paragraphs([plain_lines(lines) for lines in pages]))
    assert [(paragraph.text, paragraph.page, paragraph.last_page) for paragraph in paragraphs] == [
        ("Первое предложение.", 1, 1),
        ("Второе начинается и кончается.", 1, 2),
        ("Третье.", 2, 2),
    ]


def test_a_word_is_not_divided_before_a_capital_or_a_digit() -> None:
    assert _texts(["Система сильнее, чем обычная Lucene-", "BM25 на всех наборах"]) == [
        "Система сильнее, чем обычная Lucene-BM25 на всех наборах"
    ]


def test_dots_that_lead_to_a_page_number_are_one_sign() -> None:
    assert _texts(["Введение .......................... 4", "", "Глава 1 . . . . . . . . 9"]) == [
        "Введение … 4",
        "Глава 1 … 9",
    ]


def test_a_wider_gap_ends_a_paragraph_whose_last_line_is_full() -> None:
    first, second = "Строка доходит до края листа", "продолжение под ней до края"
    lines = _placed(
        (first, 700), (second, 688), ("Новый абзац ниже обычного вот", 668), ("и ещё строка до края листа", 656)
    )
    assert [paragraph.text for paragraph in build_paragraphs([lines])] == [
        f"{first} {second}",
        "Новый абзац ниже обычного вот и ещё строка до края листа",
    ]


def test_another_font_begins_a_paragraph() -> None:
    heading = _placed(("Заголовок такой же длины, как", 700), size=10, bold=True)
    text = _placed(("Текст под ним, тоже до края.", 688), ("И ещё строка, совсем до края", 676))
    paragraphs = list(build_paragraphs([[*heading, *text]]))
    assert [(paragraph.bold, paragraph.lines) for paragraph in paragraphs] == [(True, 1), (False, 2)]


def test_large_lines_one_under_the_other_are_one_heading() -> None:
    title = _placed(("Руководство", 700), ("Администратора", 670), size=24)
    text = _placed(*((f"Строка обычного текста номер {number}", 600 - 12 * number) for number in range(9)))
    assert next(build_paragraphs([[*title, *text]])).text == "Руководство\nАдминистратора"


@given(st.lists(st.lists(st.text(max_size=30), max_size=8), max_size=6))
def test_paragraphs_of_any_lines_are_in_page_order_and_not_empty(pages: list[list[str]]) -> None:
    paragraphs = list(build_paragraphs([plain_lines(lines) for lines in pages]))
    assert all(paragraph.text and 1 <= paragraph.page <= paragraph.last_page <= len(pages) for paragraph in paragraphs)
    assert [paragraph.page for paragraph in paragraphs] == sorted(paragraph.page for paragraph in paragraphs)
