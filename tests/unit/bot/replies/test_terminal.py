"""Rich text on a terminal."""

from bot.cli.content import to_terminal
from bot.replies.rich import render_markdown


def test_a_quote_is_marked_line_by_line() -> None:
    assert to_terminal(render_markdown("**Договор**\n> Штраф *0,1 %*\n> в день\n\nКонец")) == (
        "Договор\n│ Штраф 0,1 %\n│ в день\n\nКонец"
    )


def test_a_link_keeps_its_address() -> None:
    assert to_terminal(render_markdown("[**сайт**](https://a.example/x) и <https://b.example>")) == (
        "сайт (https://a.example/x) и https://b.example"
    )
