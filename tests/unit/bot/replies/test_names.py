"""What a document is called in a line of limited length."""

import pytest

from bot.replies.names import shortened


@pytest.mark.parametrize(
    ("text", "characters", "shown"),
    [
        ("Договор", 7, "Договор"),
        ("Ключ от чердака у Марии", 20, "Ключ от чердака у…"),
        ("Ключ, от чердака", 8, "Ключ…"),
        ("очень_длинное_имя_файла.pdf", 10, "очень_дли…"),
    ],
)
def test_a_name_is_cut_at_a_word_where_one_ends_near(text: str, characters: int, shown: str) -> None:
    assert shortened(text, characters) == shown
