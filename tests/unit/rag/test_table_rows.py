"""Tables read out in words."""

import pytest

from rag.table_rows import in_words, rows_of

TABLE = "Цены на май\n\n| Сорт | Вес, г | Цена, ₽ | НДС |\n| --- | :-: | --- | --- |\n{}\n\nКонец | списка"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("| Эфиопия | 1000 | 1 890 | нет |", "Эфиопия: вес 1000 г; цена 1 890 ₽; НДС нет"),
        ("| Кения | 1 кг | по запросу | |", "Кения: вес 1 кг; цена по запросу"),  # a unit only after a bare number
        ("| 7 | 250 | 430 | да |", "сорт 7; вес 250 г; цена 430 ₽; НДС да"),  # a number names no row
        ("| 1001 | Эфиопия, 1 кг | 1 890 | 17 |", "Эфиопия, 1 кг: сорт 1001; цена 1 890 ₽; НДС 17"),  # nor an article
        ("| ЭФ-01 | Эфиопия, 1 кг | 1 890 | 17 |", "Эфиопия, 1 кг: сорт ЭФ-01; цена 1 890 ₽; НДС 17"),
        ("| HDMI | 2 | 430 | да |", "HDMI: вес 2 г; цена 430 ₽; НДС да"),  # but a code where there is no name
        ("| Итого | | | |", "сорт Итого"),
        ("| а \\| б | 1 |", "а | б: 1"),  # fewer cells than names: which is which is not known
    ],
)
def test_a_row_is_told_with_the_names_of_its_columns(row: str, words: str) -> None:
    said, originals = in_words(TABLE.format(row))
    assert said == f"Цены на май\n\n{words}\n\nКонец | списка"
    assert originals == {words: row}


def test_rows_without_a_ruler_have_no_names() -> None:
    assert [row.words for row in rows_of("| Кения | 8 |\n| Гана | 9 |")] == ["Кения: 8", "Гана: 9"]
