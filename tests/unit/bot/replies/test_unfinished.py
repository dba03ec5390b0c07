"""Growing Markdown: no mark flashes up as characters, finished text is left alone."""

from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.replies.markdown import render_markdown
from bot.replies.unfinished import close_unfinished


@pytest.mark.parametrize(
    ("growing", "shown"),
    [
        ("Штраф **0,1", "Штраф **0,1**"),
        ("Штраф **", "Штраф "),
        ("Штраф **0,1*", "Штраф **0,1**"),
        ("Смотрите `код", "Смотрите `код`"),
        ("См. [Догов", "См. Догов"),
        ("См. [Договор](https://a", "См. Договор"),
        ("Раз.\n- ", "Раз.\n"),
        ("Раз.\n\n## ", "Раз.\n\n"),
        ("Итог:\n\n| A | B", "Итог:\n\n"),
        ("| A | B |\n|---|---|\n| 1 | 2 |\n| 3", "| A | B |\n|---|---|\n| 1 | 2 |"),
        ("```py\na ** b", "```py\na ** b"),
        ("**а** и `б` и [в](https://г.д).", "**а** и `б` и [в](https://г.д)."),
    ],
)
def test_an_open_end_is_closed_or_held_back(growing: str, shown: str) -> None:
    assert close_unfinished(growing) == shown


ANSWER = "Штраф **0,1 %** в день, см. `п. 3.2` и [правила](https://a.b/c).\n\n- раз **два**\n- три\n\n> цитата"


@given(st.integers(1, len(ANSWER)))
def test_every_beginning_shows_no_mark(length: int) -> None:
    shown = render_markdown(close_unfinished(ANSWER[:length])).text
    assert not any(mark in shown for mark in ("**", "`", "](", "> "))


def test_a_long_row_of_backticks_takes_no_time() -> None:
    started = thread_time()
    close_unfinished("`" * 1000 + "x")
    assert thread_time() - started < 1  # it used to take half a minute
