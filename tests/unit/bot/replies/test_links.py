"""Links in an answer: only those that its facts hold, and none that hides where it leads."""

import pytest

from bot.replies.html import to_html
from bot.replies.links import without_strange_links
from bot.replies.markdown import render_markdown
from rag.addresses import keys

KNOWN = keys(["Вход: https://ok.example/a/b, вопросы: help@ok.example"])


def shown(markdown: str) -> str:
    return to_html(without_strange_links(render_markdown(markdown), KNOWN))


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("[сюда](https://ok.example/a/b)", '<a href="https://ok.example/a/b">сюда</a>'),
        ("[ok.example](https://ok.example/a/b)", '<a href="https://ok.example/a/b">ok.example</a>'),
        ("Пишите help@ok.example", "Пишите help@ok.example"),
        ("**ok.example**/a", "<b>ok.example</b>/a"),
        ("[сюда](https://evil.example/x)", "сюда (evil[.]example/x)"),
        ("![фото](https://evil.example/x.png)", "фото (evil[.]example/x[.]png)"),
        ("[ok.example](https://evil.example/x)", "ok.example (evil[.]example/x)"),
        ("[google.com](https://ok.example/a)", "google[.]com (https://ok.example/a)"),
        ("<https://evil.example>", "evil[.]example"),
        ("evil.**example**.com/x", "evil[.]example[.]com/x"),
        ("[a](tg://user?id=5) @evil_bot", "a (tg[:]//user?id=5) @ evil_bot"),
        ("`curl https://evil.example/x`", "<code>curl evil[.]example/x</code>"),
        ("```\nwget http://evil.example/y\n```", "<pre>wget evil[.]example/y</pre>"),
        ("Звоните +7 999 000-11-22", "Звоните +7·999·000·11·22"),
        ("evil\u200b.example.com", "evil[.]example[.]com"),
        ("&#101;vil.com", "evil[.]com"),
    ],
)
def test_only_what_is_known_can_be_pressed(markdown: str, html: str) -> None:
    assert shown(markdown) == html
