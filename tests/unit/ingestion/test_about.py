"""Notes, and the hashes that recognise the same words again."""

import time

import pytest

from ingestion.about import hash_page, hash_words, read_note
from ingestion.errors import FailureCode, SourceError
from ingestion.records import Block, BlockKind, Document
from tests.fakes.ingestion import note

WORDS = "Арендатор вносит плату не позднее пятого числа."


def test_a_note_is_kept_word_for_word_and_is_no_markup() -> None:
    (block,) = read_note(note("#1\n*не разметка*")).blocks
    assert block.text == "#1\n*не разметка*"


def test_paragraphs_of_a_note_are_blocks_whatever_its_line_ends() -> None:
    assert [block.text for block in read_note(note("Раз\r\n\r\nдва\rтри\0")).blocks] == ["Раз", "два\nтри"]


def test_what_looks_like_a_file_is_text_in_a_note() -> None:
    (block,) = read_note(note("%PDF-1.7 <html>")).blocks
    assert block.text == "%PDF-1.7 <html>"


@pytest.mark.parametrize("text", ["", " \n", "\0"])
def test_a_note_without_words_is_empty(text: str) -> None:
    with pytest.raises(SourceError) as caught:
        read_note(note(text))
    assert caught.value.code is FailureCode.FILE_EMPTY


def test_the_language_of_a_note_is_known() -> None:
    assert read_note(note("Плату вносят не позднее пятого числа.")).language == "ru"


def test_the_hash_of_words_knows_no_spacing_and_no_composition() -> None:
    assert hash_words("Ёлка  и\nшар ") == hash_words("Е\u0308лка и шар")
    assert hash_words("а б") != hash_words("аб")


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
