"""Names of authors and senders as a model is told them."""

import pytest

from domain.documents import SourceType
from rag.persons import NAME_CHARS, author_name, person_name


@pytest.mark.parametrize(
    "nobody", [None, "", " \n", "\u200b \u2066", "Microsoft Office User", "Пользователь Windows", "автор"]
)
def test_what_programs_write_is_no_name(nobody: str | None) -> None:
    assert author_name(nobody, SourceType.FILE) == ""


@pytest.mark.parametrize("name", ["Root", "Автор", "Admin", "User"])
def test_whoever_is_called_so_in_telegram_keeps_the_name(name: str) -> None:
    assert person_name(name) == author_name(name, SourceType.NOTE) == name
    assert author_name(name, SourceType.LINK) == ""


@pytest.mark.parametrize(
    ("name", "told"),
    [("Анна\nСедова ", "Анна Седова"), ("Ю" * 300, "Ю" * NAME_CHARS), ("\u202eАн\x1bна\u202c", "Анна")],
)
def test_a_name_is_one_short_line(name: str, told: str) -> None:
    assert person_name(name) == told
