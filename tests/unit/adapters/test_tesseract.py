"""Paragraphs from tesseract's list of words."""

from adapters.tesseract import SCATTERED, read_page

HEAD = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"


def _word(text: str, confidence: float, *, block: int = 1, paragraph: int = 1, line: int = 1) -> str:
    return f"5\t1\t{block}\t{paragraph}\t{line}\t1\t0\t0\t9\t9\t{confidence}\t{text}"


def _table(*rows: str) -> str:
    return "\n".join((HEAD, "1\t1\t0\t0\t0\t0\t0\t0\t99\t99\t-1\t", *rows)) + "\n"


def test_words_become_lines_and_lines_paragraphs() -> None:
    table = _table(
        _word("Договор", 96),
        _word("аренды", 95),
        _word("от", 96, line=2),
        _word("Стороны", 94, paragraph=2),
        _word("Подпись", 93, block=2),
    )
    assert read_page(table).paragraphs == ("Договор аренды\nот", "Стороны", "Подпись")


def test_how_sure_it_is_is_weighed_by_the_length_of_words() -> None:
    assert read_page(_table(_word("а", 60), _word("длинное", 92))).confidence == (60 + 7 * 92) / 8


def test_lines_of_rubbish_are_left_out() -> None:
    table = _table(_word("Итого", 95), _word("~;:|", 50, line=2), _word("мм", 30, line=3), _word("1)", 95, line=4))
    assert read_page(table).paragraphs == ("Итого\n1)",)


def test_a_doubtful_word_of_a_sure_line_stays() -> None:
    assert read_page(_table(_word("raw", 25), _word("docs", 96))).paragraphs == ("raw docs",)


def test_scattered_words_must_be_words() -> None:
    table = _table(_word("nk", 95), _word("Выход", 91, block=2), _word("стр", 60, block=3))
    assert read_page(table, SCATTERED).paragraphs == ("Выход",)


def test_quotes_are_text() -> None:
    assert read_page(_table(_word('"Слово', 95))).paragraphs == ('"Слово',)


def test_no_table_is_no_page() -> None:
    assert (read_page("").paragraphs, read_page(_table()).confidence) == ((), 0.0)
