"""By what a page is known to be unchanged."""

import time

import pytest

from ingestion.page_hash import hash_page
from ingestion.records import Block, BlockKind, Document

WORDS = "Арендатор вносит плату не позднее пятого числа."


def _hash(*paragraphs: str) -> str:
    blocks = tuple(Block(kind=BlockKind.PARAGRAPH, text=text) for text in paragraphs)
    return hash_page(Document(title="x", blocks=blocks))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("5 минут назад", "3 часа назад"),
        ("Опубликовано 2 дня назад", "Опубликовано 1 год назад"),
        ("12,3 тыс. просмотров", "15 просмотров"),
        ("Комментарии (7)", "Комментарии (120)"),
        ("3 comments · 10 min ago", "14 comments · 2 hours ago"),
        ("Сегодня в 12:30", "вчера в 9:05"),
    ],
)
def test_what_changes_at_every_visit_makes_no_new_version(first: str, second: str) -> None:
    assert _hash(WORDS, first) == _hash(WORDS, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Срок: 5 дней", "Срок: 10 дней"),
        ("Цена 100 рублей", "Цена 200 рублей"),
        ("12 мая 2026", "13 мая 2026"),
        (f"{WORDS * 3} 5 комментариев", f"{WORDS * 3} 6 комментариев"),  # prose
    ],
)
def test_what_says_something_new_makes_one(first: str, second: str) -> None:
    assert _hash(WORDS, first) != _hash(WORDS, second)


def test_white_space_says_nothing() -> None:
    assert _hash(WORDS, "а  б") == _hash(WORDS, "а б")


@pytest.mark.parametrize("line", ["1" + " " * 118, "1 " * 60, "1." * 60, "views" + " " * 100, "today" + " " * 100])
def test_lines_of_blanks_are_read_in_linear_time(line: str) -> None:
    """A program's listing has thousands of them, and the bot answers nobody meanwhile."""
    began = time.thread_time()
    _hash("\n".join([line] * 200))
    assert time.thread_time() - began < 3
