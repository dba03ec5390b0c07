"""Questions as they are typed on phones."""

import pytest

from rag.normalising import normalise


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
