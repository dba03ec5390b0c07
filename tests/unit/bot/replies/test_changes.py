"""What a new version changed."""

from bot.replies.changes import changes_line
from ingestion.changes import compare
from ingestion.records import Block, BlockKind
from tests.fakes.bot import texts

RU = texts().for_language("ru")


def blocks(*texts: str) -> list[Block]:
    """Texts that begin with # are headings."""
    kinds = [BlockKind.HEADING if text.startswith("#") else BlockKind.PARAGRAPH for text in texts]
    return [Block(kind=kind, text=text.strip("# ")) for kind, text in zip(kinds, texts, strict=True)]


def test_sections_that_came_and_went_are_named() -> None:
    line = changes_line(compare(blocks("# Цена", "а"), blocks("# Сроки", "а")), RU)
    assert line == "Что изменилось: добавлен раздел «Сроки», убран раздел «Цена»."


def test_other_words_are_counted() -> None:
    line = changes_line(compare(blocks("# Цена", "100 ₽", "б"), blocks("# Цена", "120 ₽", "в")), RU)
    assert line == "Что изменилось: изменены 2 абзаца."


def test_of_many_sections_three_are_named() -> None:
    changes = compare([], blocks("# А", "# Б", "# В", "# Г", "# Д"))
    assert "«А», «Б», «В» и ещё 2" in changes_line(changes, RU)


def test_layout_alone_is_no_change() -> None:
    assert changes_line(compare(blocks("Срок  14 дней"), blocks("срок 14 дней")), RU) == ""
