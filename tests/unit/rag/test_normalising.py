"""Questions as they are typed on phones, and names as programs give them."""

import pytest

from rag.normalising import NAME_CHARS, normalise, person_name


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  а\u00a0 б\u200b\n\n\n\nв ", "а б\n\nв"),
        ("код:\n    x = 1", "код:\n    x = 1"),
        ("и\u0306", "й"),
        ("не\ud83d спит\udcff", "не спит"),  # half a sign; a byte of another encoding on the command line
    ],
)
def test_a_question_is_normalised(text: str, normal: str) -> None:
    assert normalise(text) == normal


def test_whoever_is_called_root_in_telegram_keeps_the_name() -> None:
    assert (person_name("Root"), person_name(None), person_name("\u200b \u2066")) == ("Root", "", "")


@pytest.mark.parametrize(
    ("name", "told"),
    [("Анна\nСедова ", "Анна Седова"), ("Ю" * 300, "Ю" * NAME_CHARS), ("\u202eАн\x1bна\u202c", "Анна")],
)
def test_a_name_is_one_short_line(name: str, told: str) -> None:
    assert person_name(name) == told
