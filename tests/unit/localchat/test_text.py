"""The HTML parse mode by Telegram's rules, what Telegram detects in a text, and how it trims it."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localchat.records import Entity, FormattedText
from localchat.text import Refused, cut, find_entities, parse_html, tidy, utf16_length


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


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("<b>a</b><strong>b</strong>", "ab", [("bold", 0, 1), ("bold", 1, 1)]),
        ("<i>a</i><em>b</em>", "ab", [("italic", 0, 1), ("italic", 1, 1)]),
        ("<u>a</u><ins>b</ins>", "ab", [("underline", 0, 1), ("underline", 1, 1)]),
        ("<s>a</s><del>b</del>", "ab", [("strikethrough", 0, 1), ("strikethrough", 1, 1)]),
        ('<span class="tg-spoiler">a</span>', "a", [("spoiler", 0, 1)]),
        ("<blockquote>a</blockquote>", "a", [("blockquote", 0, 1)]),
        ("<blockquote expandable>a</blockquote>", "a", [("expandable_blockquote", 0, 1)]),
        ("<b>a <i>b</i></b>", "a b", [("italic", 2, 1), ("bold", 0, 3)]),
        ("<B>a</b>", "a", [("bold", 0, 1)]),
        ("<b></b>a", "a", []),  # nothing is formatted
        ("&lt;b&gt; &amp;nbsp; &#1103;", "<b> &nbsp; я", []),
        ("&nbsp;", "&nbsp;", []),  # only four names are known
        ("😀<b>я</b>", "😀я", [("bold", 2, 1)]),
    ],
)
def test_tags_become_entities(source: str, text: str, expected: list[tuple[str, int, int]]) -> None:
    assert parse_html(source).text == text
    assert spans(parse_html(source)) == expected


def test_code_inside_pre_gives_the_language() -> None:
    (entity,) = parse_html('<pre><code class="language-python">x</code></pre>').entities
    assert (entity.kind, entity.language) == ("pre", "python")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://e.org/?a=1&amp;b=2", "https://e.org/?a=1&b=2"),
        ("e.org", "http://e.org"),
        ("http://127.0.0.1:8000/x", "http://127.0.0.1:8000/x"),
    ],
)
def test_a_link_keeps_its_address(address: str, expected: str) -> None:
    (entity,) = parse_html(f'<a href="{address}">сюда</a>').entities
    assert (entity.kind, entity.url) == ("text_link", expected)


@pytest.mark.parametrize("address", ["javascript:alert(1).x", "data:text/html.x", "nothing"])
def test_what_is_no_address_is_dropped_silently(address: str) -> None:
    assert spans(parse_html(f"<a href='{address}'>сюда</a>")) == []


def test_a_link_to_a_user_is_a_mention() -> None:
    (entity,) = parse_html('<a href="tg://user?id=1001">Вы</a>').entities
    assert (entity.kind, entity.user_id) == ("text_mention", 1001)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("я <h1>x</h1>", 'Unsupported start tag "h1" at byte offset 3'),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("<b>x</i>", 'Unmatched end tag, expected "</b>", found "</i>", at byte offset 4'),
        ("<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
        ("x<b", "Unsupported start tag at byte offset 1"),
        ("<b>x</b", "Unsupported start tag at byte offset 4"),
        ("<span>x</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
        ("5 < 6", "Unsupported start tag at byte offset 2"),
    ],
)
def test_wrong_markup_is_named_with_its_byte_offset(source: str, sentence: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_html(source)
    assert refused.value.description == f"Bad Request: can't parse entities: {sentence}"


@given(st.text())
def test_escaped_text_comes_back_as_it_was(text: str) -> None:
    assert parse_html(html.escape(text, quote=False)).text == text


@given(st.text(alphabet="<>/b iа&;=\"'preod", max_size=40))
def test_any_markup_is_read_or_refused(source: str) -> None:
    try:
        parsed = parse_html(source)
    except Refused:
        return
    assert all(entity.end <= 2 * len(parsed.text) for entity in parsed.entities)
