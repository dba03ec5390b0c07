"""What is remembered of the languages that chats have chosen."""

from bot.languages import ChosenLanguages
from domain.ids import ChatId

ONE, TWO, THREE = map(ChatId, (1, 2, 3))


def test_the_last_choice_counts() -> None:
    languages = ChosenLanguages()
    assert languages.of(ONE) is None
    languages.note(ONE, "ru")
    languages.note(ONE, "en")
    assert languages.of(ONE) == "en"


def test_the_chat_that_was_quiet_longest_is_forgotten() -> None:
    languages = ChosenLanguages(limit=2)
    for chat in (ONE, TWO, ONE, THREE):
        languages.note(chat, "en")
    assert [languages.of(chat) for chat in (ONE, TWO, THREE)] == ["en", None, "en"]
