"""Text and what only looks like text."""

import pytest

from ingestion.parsers.pdf_text import is_readable, mend_encoding


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Арендатор вносит плату не позднее пятого числа каждого месяца.",
        "ПРОТОКОЛ № 12 ОТ 03.06.2026",
        "Артикул 4607-XK/19, DN-50, ГОСТ Р 1.5-2012, цена 1 200,00 ₽",
        "使用説明書をお読みください。保証書付き",
        "اقرأ التعليمات قبل استخدام الجهاز لأول مرة",
        "for (int i = 0; i < maxSize; i++) { userList.add(newUser); }",
        "XkQ7",  # too little to judge
    ],
)
def test_what_people_write_is_readable(text: str) -> None:
    assert is_readable(text)


@pytest.mark.parametrize(
    "text",
    [
        "\uf041\uf042\uf043 \uf044\uf045\uf046",  # private use: a font without a map
        "\x01\x02\x03\x04 \x05\x06",
        "\ufffd" * 40,
        "3HQaQt SURVWrHGN QDczWeHFK RGrUAbQ",  # codes of glyphs, 29 off
    ],
)
def test_what_fonts_without_a_map_yield_is_not(text: str) -> None:
    assert not is_readable(text)


def test_cyrillic_that_calls_itself_latin_is_mended() -> None:
    assert mend_encoding("Äîãîâîð àðåíäû ¸ìêîñòè, 12 øò.") == "Договор аренды ёмкости, 12 шт."


@pytest.mark.parametrize("text", ["Élève à l'école où l'été", "Þórður á Íslandi", "12 345", "Привет", ""])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert mend_encoding(text) == text
