from dataclasses import replace
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.replies.answers import close_unfinished, finished_answer, in_words, without_strange_links
from bot.replies.rich import render_markdown, to_html
from bot.texts import load_texts
from rag.addresses import keys
from rag.records import AnswerKind, SmallTalk
from tests.fakes.bot import plain_answer

KNOWN = keys(["Вход: https://ok.example/a/b, вопросы: help@ok.example"])
TEXTS = load_texts()


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


def said(kind: SmallTalk, language: str = "ru", *, lack: str | None = None, passages: str = "") -> str:
    answer = plain_answer("", kind=AnswerKind.CONVERSATION, small_talk=kind, passages=passages)
    words = TEXTS.for_language(language)
    return finished_answer(in_words(answer, words, lack=lack), words).text


@pytest.mark.parametrize("language", ["ru", "en"])
@pytest.mark.parametrize("lack", [None, "empty", "reading"])
@pytest.mark.parametrize("kind", SmallTalk)
def test_every_kind_has_a_short_answer(kind: SmallTalk, lack: str | None, language: str) -> None:
    assert 10 < len(said(kind, language, lack=lack)) < 300


def test_a_greeting_says_what_can_be_done_next() -> None:
    assert said(SmallTalk.GREETING).startswith("Здравствуйте! Спрашивайте:")
    assert "пришлите документ в режиме «База»" in said(SmallTalk.GREETING, lack="empty")
    assert "Ещё читаю" in said(SmallTalk.GREETING, lack="reading")


def test_where_nothing_can_be_asked_yet_no_whole_question_is_asked_for() -> None:
    assert said(SmallTalk.LEANING, lack="empty").startswith("В базе пока пусто")


def test_a_note_of_the_same_words_stands_below() -> None:
    assert said(SmallTalk.GREETING, passages="> Привет").endswith("Вот что нашлось в базе:\nПривет")


def test_a_model_s_own_words_stay() -> None:
    answer = plain_answer("Добрый день!", kind=AnswerKind.CONVERSATION)
    assert in_words(answer, TEXTS.for_language("ru"), lack="empty") is answer


@pytest.mark.parametrize(("misses", "lines"), [(True, 2), (False, 1)])
def test_an_empty_answer_tells_what_a_search_by_words_cannot_find(misses: bool, lines: int) -> None:
    answer = replace(plain_answer("", kind=AnswerKind.NOTHING), misses_meaning=misses)
    said = finished_answer(answer, TEXTS.for_language("ru")).text.split("\n\n")
    assert len(said) == lines
    assert ("baza models add search" in said[-1]) is misses
