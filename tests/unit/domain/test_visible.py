"""Characters that nobody sees leave a text; those that writing needs stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("цена \u202e001\u202c руб", "цена 001 руб"),
        ("па\u200bро\u2060ль\ufeff", "пароль"),
        ("а\u00adб\u200dв\u200cг", "абвг"),
        ("ig\U000e0049\U000e0047nore", "ignore"),
        ("a\u2066b\u2069\u061c\u200f", "ab"),
        ("\u3164x\ud83d\x00\x1b", "x"),
        ("a\tb\nc", "a\tb\nc"),
    ],
)
def test_what_hides_or_turns_words_around_is_left_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "👨\u200d👩\u200d👧",
        "❤\ufe0f\u200d🔥",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "می\u200cخواهم",
        "क्\u200dष",
        "й е\u0301",
    ],
)
def test_emoji_and_scripts_keep_what_they_need(text: str) -> None:
    assert visible(text) == text


@given(st.text(alphabet=st.characters(), max_size=60))
def test_what_is_visible_stays_so(text: str) -> None:
    assert visible(visible(text)) == visible(text)
