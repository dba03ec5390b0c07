"""What of a message is no question: whole messages alone are small talk, and a question keeps its subject."""

from dataclasses import astuple
from itertools import chain

import pytest

from prompts.wordings import load_small_talk
from rag.records import SmallTalk
from rag.small_talk import LONGEST_PHRASE
from tests.fakes.planning import SMALL_TALK

WORDS = load_small_talk()


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        *(
            (said, SmallTalk.GREETING)
            for said in ("привет", "Приветттт!!!", "Привет, База 👋", "Здравствуйте!", "hi", "Heyyy")
        ),
        *((said, SmallTalk.GREETING) for said in ("добрый день, коллеги", "Привет! Как дела?", "Hello there :)")),
        *(
            (said, SmallTalk.THANKS)
            for said in ("спасибо", "Спасибооо большое!", "ок, спасибо", "thank you so much", "спс")
        ),
        *(
            (said, SmallTalk.ASSENT)
            for said in ("ок", "Ок.", "👍", "👍🏽👍🏽", "понятно", ":)", ")))", "+", "Да", "Всё понятно", "ok")
        ),
        *((said, SmallTalk.ABOUT) for said in ("кто ты?", "Что ты умеешь?", "привет, что ты умеешь", "help", "Помощь")),
        *((said, SmallTalk.LEANING) for said in ("а когда?", "почему???", "?", "...", "спасибо, а кто?")),
        *((said, SmallTalk.MORE) for said in ("Подробнее", "ещё!", "спасибо, а ещё?", "tell me more")),
        *((said, SmallTalk.FAREWELL) for said in ("пока", "До свидания!", "Спокойной ночи", "bye")),
    ],
)
def test_a_message_that_is_nothing_else_is_small_talk(message: str, kind: SmallTalk) -> None:
    assert SMALL_TALK.kind(message) is kind


@pytest.mark.parametrize(
    "message",
    [
        *("привет, где договор?", "Спасибо, а кто подписал?", "что ты умеешь по договору", "ок гугл", "hello world"),
        *("пока не оплачен счёт", "Кто ты по знаку зодиака", "👍 за договор", "база", "бот и база"),
        *("&&", "C++", "++", "(", "", "   ", "42", "тест", "меню", "справка", "а", "else", "continue"),
    ],
)
def test_a_message_that_asks_for_something_is_none(message: str) -> None:
    assert SMALL_TALK.kind(message) is None


@pytest.mark.parametrize("kind", SmallTalk)
def test_every_word_of_the_lists_is_met(kind: SmallTalk) -> None:
    assert all(SMALL_TALK.kind(entry) for entry in getattr(WORDS, kind.value))


def test_no_entry_is_longer_than_is_looked_for() -> None:
    assert max(len(entry.split()) for entry in chain(*astuple(WORDS))) <= LONGEST_PHRASE


def test_every_request_for_the_documents_is_met_and_no_small_talk() -> None:
    assert all(SMALL_TALK.asks_for_documents(entry) for entry in WORDS.documents)
    assert not any(SMALL_TALK.kind(entry) for entry in WORDS.documents)


@pytest.mark.parametrize("asked", ["Привет, какие документы у меня есть?", "Что в базе?", "Show my documents, please!"])
def test_documents_are_asked_for_politely_too(asked: str) -> None:
    assert SMALL_TALK.asks_for_documents(asked)


@pytest.mark.parametrize(
    "asked", ["какие документы нужны для визы", "Документы на машину", "список документов для сделки"]
)
def test_documents_for_something_are_searched(asked: str) -> None:
    assert not SMALL_TALK.asks_for_documents(asked)


@pytest.mark.parametrize(
    ("question", "sought"),
    [
        ("привет, где договор?", "где договор?"),
        ("Спасибо, а кто подписал?", "а кто подписал?"),
        ("Добрый день! Подскажите, пожалуйста, адрес офиса", "адрес офиса"),
        ("где лежит договор, спасибо заранее", "где лежит договор"),
        ("расскажи про Рейн", "Рейн"),
        ("Что такое мариавиты?", "мариавиты?"),
        ("Tell me about the lease, please", "the lease"),
        ("What is rustup?", "rustup?"),
        ("hello world", "hello world"),
        ("Где документ «Привет»?", "Где документ «Привет»?"),
        ("спасибо", "спасибо"),
        ("расскажи", "расскажи"),
        ("&&", "&&"),
    ],
)
def test_what_leads_up_to_a_subject_is_not_searched(question: str, sought: str) -> None:
    assert SMALL_TALK.sought(question) == sought


@pytest.mark.parametrize(
    ("question", "subject"), [("как удалить rust?", "удалить rust?"), ("А где он жил?", "он жил?"), ("Где?", "Где?")]
)
def test_words_that_only_ask_choose_no_sentence(question: str, subject: str) -> None:
    assert SMALL_TALK.subject(question) == subject
