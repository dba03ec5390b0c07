"""What Telegram detects in a text, and how it trims it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localchat.markup import parse_html
from localchat.records import Entity, FormattedText
from localchat.text import cut, find_entities, tidy, utf16_length


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
    assert set(edges) <= {utf16_length(text[:place]) for place in range(len(text) + 1)}
    assert all(entity.end <= utf16_length(text) for entity in entities)


def spans(text: FormattedText) -> list[tuple[str, int, int]]:
    return [(entity.kind, entity.offset, entity.length) for entity in text.entities]


def test_spaces_around_a_text_are_removed_and_entities_move() -> None:
    tidied = tidy(parse_html("\n  я <b>жирный  </b> \n"))
    assert tidied.text == "я жирный"
    assert spans(tidied) == [("bold", 2, 6)]


def test_spaces_inside_the_first_entity_stay() -> None:
    assert tidy(parse_html("<code>  x</code>")).text == "  x"


def test_outer_entities_come_before_inner_ones() -> None:
    assert spans(tidy(parse_html("<b><i>a</i> b</b>"))) == [("bold", 0, 3), ("italic", 0, 1)]


def test_nothing_lives_or_is_found_inside_code() -> None:
    assert spans(tidy(parse_html("<code><b>a</b> https://e.org</code>"))) == [("code", 0, 15)]


def test_addresses_are_found_beside_given_entities() -> None:
    assert spans(tidy(parse_html("<b>b</b> e.org"))) == [("bold", 0, 1), ("url", 2, 5)]


def test_the_hundred_and_first_entity_is_dropped() -> None:
    many = tuple(Entity(kind="bold", offset=2 * place, length=1) for place in range(120))
    assert len(tidy(FormattedText(text="x " * 120, entities=many)).entities) == 100
