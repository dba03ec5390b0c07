"""The HTML parse mode, by Telegram's rules."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localchat.checks import Refused
from localchat.markup import parse_html


def spans(source: str) -> list[tuple[str, int, int]]:
    return [(entity.kind, entity.offset, entity.length) for entity in parse_html(source).entities]


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
    assert spans(source) == expected


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
    assert spans(f"<a href='{address}'>сюда</a>") == []


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
