"""What a new version changed."""

import pytest

from bot.replies.changes import changes_line
from ingestion.changes import compare
from ingestion.records import Block, BlockKind
from tests.fakes.bot import texts

RU = texts().for_language("ru")


def blocks(*texts: str) -> list[Block]:
    """Texts that begin with # are headings."""
    signs = {"#": BlockKind.HEADING, "|": BlockKind.TABLE}
    kinds = [signs.get(text[0], BlockKind.PARAGRAPH) for text in texts]
    return [Block(kind=kind, text=text.strip("# ")) for kind, text in zip(kinds, texts, strict=True)]


def test_sections_that_came_and_went_are_named() -> None:
    line = changes_line(compare(blocks("# Цена", "а"), blocks("# Сроки", "а")), RU)
    assert line == "Что изменилось: добавлен раздел «Сроки», убран раздел «Цена»."


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (
            "3.2. Плата равна 100 000 рублей в месяц.",
            "3.2. Плата равна 120 000 рублей в месяц.",
            "в п. 3.2 теперь «120 000 рублей» вместо «100 000 рублей»",
        ),
        (
            "Оплата не позднее пятого числа.",
            "Оплата не позднее десятого числа.",
            "в разделе «Цена» теперь «десятого» вместо «пятого»",
        ),
        (
            "| Эфиопия | 1 890 ₽ | 17 |",
            "| Эфиопия | 1 990 ₽ | 17 |",
            "в строке «Эфиопия» теперь «1 990 ₽» вместо «1 890 ₽»",
        ),
        ("Старый текст совсем про другое.", "Новые слова о чём угодно ещё.", "изменён 1 абзац"),  # nothing in common
        ("Срок 14 дней.", "Срок 14 дней с даты счёта.", "изменён 1 абзац"),  # nothing was replaced
    ],
)
def test_replaced_words_are_told_with_their_place_and_other_changes_are_counted(
    before: str, after: str, told: str
) -> None:
    line = changes_line(compare(blocks("# Цена", before, "б"), blocks("# Цена", after, "б")), RU)
    assert line == f"Что изменилось: {told}."


def test_of_many_sections_three_are_named() -> None:
    changes = compare([], blocks("# А", "# Б", "# В", "# Г", "# Д"))
    assert "«А», «Б», «В» и ещё 2" in changes_line(changes, RU)


def test_layout_alone_is_no_change() -> None:
    assert changes_line(compare(blocks("Срок  14 дней"), blocks("срок 14 дней")), RU) == ""
