"""A model's Markdown becomes Telegram's HTML, whatever it contains."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.replies.answers import close_unfinished
from bot.replies.rich import render_markdown, split_rich, to_html, utf16_length
from tests.fakes.telegram_html import read_html

FRAGMENTS = (
    "**", "*", "_", "__", "~~", "`", "```", "```py\n", "\n", "\n\n", "- ", "  - ", "1. ", "> ", "# ", "| ", "|", "---",
    "|---|---|\n", "[", "](", ")", "![", "https://a.b/c?d=1&e=2", "javascript:alert(1)", "<b>", "</b>", "<script>",
    "&amp;", "&", "<", ">", '"', "\\", "слово", "word ", "Ещё предложение. ", "\u200d", "😀", "й", "\u0000", "\ud800",
    "    ",
)  # fmt: skip
markdown = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join))


def html_of(text: str) -> str:
    return to_html(render_markdown(text))


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("**ж** *к* ~~з~~ `a<b`", "<b>ж</b> <i>к</i> <s>з</s> <code>a&lt;b</code>"),
        ("***оба***", "<i><b>оба</b></i>"),
        ("# Тема\nтекст", "<b>Тема</b>\n\nтекст"),
        ("[имя](https://a.b/?x=1&y=2)", '<a href="https://a.b/?x=1&amp;y=2">имя</a>'),
        ("[имя](javascript:alert)", "[имя](javascript:alert)"),
        ("[имя](file.md)", "имя"),
        ("![схема](https://a.b/c.png)", '<a href="https://a.b/c.png">схема</a>'),
        ("- раз\n- два\n  - три", "• раз\n• два\n   ◦ три"),
        ("3. раз\n4. два", "3. раз\n4. два"),
        ("> мысль\n> дальше", "<blockquote>мысль\nдальше</blockquote>"),
        ("```py\na < b\n```", '<pre><code class="language-py">a &lt; b</code></pre>'),
        ("<b>не тег</b>", "&lt;b&gt;не тег&lt;/b&gt;"),
        ("Список:\n-", "Список:\n-"),
        ("раз\n\n---\n\nдва", "раз\n\n———\n\nдва"),
        ("**`код`**", "<code>код</code>"),
        ("**не закрыт", "**не закрыт"),
    ],
)
def test_markdown_becomes_html(source: str, html: str) -> None:
    assert html_of(source) == html


def test_a_narrow_table_is_aligned() -> None:
    source = "| Тариф | Цена |\n|---|--:|\n| A | 5 |\n| Б | 120 |"
    assert html_of(source) == "<pre>Тариф  Цена\n─────  ────\nA         5\nБ       120</pre>"


def test_a_wide_table_is_grouped_by_rows() -> None:
    source = "| Название тарифа | Описание для покупателя |\n|---|---|\n| **Старт** | для тех, кто начинает дело |"
    expected = "<b>Название тарифа: Старт</b>\n• Описание для покупателя: для тех, кто начинает дело"
    assert html_of(source) == expected


@given(markdown)
def test_any_text_gives_valid_html_with_the_same_text(source: str) -> None:
    rich = render_markdown(source)
    text, _ = read_html(to_html(rich))
    assert text == rich.text


@given(markdown)
def test_an_unfinished_text_gives_valid_html(source: str) -> None:
    read_html(to_html(render_markdown(close_unfinished(source))))


@given(markdown, st.integers(2, 60))
def test_pieces_are_valid_short_and_lose_only_white_space(source: str, limit: int) -> None:
    rich = render_markdown(source)
    pieces = split_rich(rich, limit)
    texts = [read_html(to_html(piece))[0] for piece in pieces]
    assert all(text.strip() and utf16_length(text) <= limit for text in texts)
    assert "".join("".join(texts).split()) == "".join(rich.text.split())


words = st.lists(st.from_regex(r"[а-яa-z]{1,8}", fullmatch=True), min_size=1, max_size=5).map(" ".join)
blocks = st.one_of(
    words,
    words.map("**{}**".format),
    words.map("## {}".format),
    words.map("- {}".format),
    words.map("> {}".format),
    words.map("```\n{}\n```".format),
    words.map("[{}](https://a.b)".format),
    st.lists(words, min_size=2, max_size=2).map(lambda row: f"| {row[0]} | {row[1]} |\n|---|---|\n| x | y |"),
)


@given(st.lists(blocks, min_size=1, max_size=6))
def test_every_word_of_the_model_reaches_the_person(written: list[str]) -> None:
    source = "\n\n".join(written)
    expected = re.findall(r"[а-яa-z]+", source.replace("https://a.b", ""))
    shown = re.findall(r"[а-яa-z]+", render_markdown(source).text)
    assert sorted(shown) == sorted(expected) or set(expected) <= set(shown)
