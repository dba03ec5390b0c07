"""Names of authors and senders as a model is told them."""

import pytest

from rag.persons import NAME_CHARS, person_name


def test_whoever_is_called_root_in_telegram_keeps_the_name() -> None:
    assert (person_name("Root"), person_name(None), person_name("\u200b \u2066")) == ("Root", "", "")


@pytest.mark.parametrize(
    ("name", "told"),
    [("Анна\nСедова ", "Анна Седова"), ("Ю" * 300, "Ю" * NAME_CHARS), ("\u202eАн\x1bна\u202c", "Анна")],
)
def test_a_name_is_one_short_line(name: str, told: str) -> None:
    assert person_name(name) == told
