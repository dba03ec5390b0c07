"""What Telegram finds in a text by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.localchat.text.detect import find_entities
from bot.localchat.text.units import boundaries, cut, utf16_length


def found(text: str) -> list[tuple[str, str]]:
    return [(entity.kind, cut(text, entity.offset, entity.end)) for entity in find_entities(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("см. https://e.org/a?b=1#c.", [("url", "https://e.org/a?b=1#c")]),
        ("(https://e.org/a)", [("url", "https://e.org/a")]),
        ("https://ru.wikipedia.org/wiki/X_(Y)", [("url", "https://ru.wikipedia.org/wiki/X_(Y)")]),
        ("http://127.0.0.1:8000/page и дальше", [("url", "http://127.0.0.1:8000/page")]),
        ("example.org и пример.рф", [("url", "example.org"), ("url", "пример.рф")]),
        ("отчёт.pdf и т.е. так", []),
        ("a@b.ru", [("email", "a@b.ru")]),
        ("@durov, @abc", [("mention", "@durov")]),  # three letters are too few
        ("/start /docs@baza_local_bot", [("bot_command", "/start"), ("bot_command", "/docs@baza_local_bot")]),
        ("и/или 1/2 a/b", []),
        ("#договор2026 #123 $USD", [("hashtag", "#договор2026"), ("cashtag", "$USD")]),
        ("https://", []),
        ("😀 https://e.org", [("url", "https://e.org")]),
    ],
)
def test_entities_are_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@given(st.text())
def test_entities_are_in_order_inside_the_text_and_apart(text: str) -> None:
    entities = find_entities(text)
    edges = [edge for entity in entities for edge in (entity.offset, entity.end)]
    assert edges == sorted(edges)
    assert set(edges) <= boundaries(text)
    assert all(entity.end <= utf16_length(text) for entity in entities)
