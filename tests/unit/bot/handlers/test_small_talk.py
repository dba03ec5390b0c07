"""Mode Чат without a model: who is greeted says what can be done next."""

import pytest

from domain.errors import DatabaseAway
from domain.ids import BaseId
from domain.people import Mode
from rag.records import Answered, AnswerKind, SmallTalk
from tests.fakes.bot import Person, plain_answer

GREETED = Answered(answer=plain_answer("", kind=AnswerKind.CONVERSATION, small_talk=SmallTalk.GREETING))


async def greeting() -> Person:
    anna = Person()
    await anna.choose(Mode.CHAT)
    anna.conversation.events = [GREETED]
    return anna


async def test_a_greeting_says_what_to_send_first() -> None:
    anna = await greeting()
    await anna.say("Привет")
    assert anna.last.text.startswith("Здравствуйте! В базе пока пусто: пришлите документ")
    assert not anna.last.buttons


async def test_a_greeting_is_answered_when_the_base_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(_: BaseId) -> bool:
        raise DatabaseAway("gone")

    anna = await greeting()
    monkeypatch.setattr(anna.services.stores.search, "holds_documents", fail)
    await anna.say("Привет")
    assert anna.last.text.startswith("Здравствуйте! Спрашивайте")
