"""What is said where no model has a word for a message that asks nothing."""

import pytest

from bot.replies.answers import finished_answer
from bot.replies.small_talk import in_words
from bot.texts import load_texts
from rag.records import AnswerKind, SmallTalk
from tests.fakes.bot import plain_answer

TEXTS = load_texts()


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
