"""Who is heard: access, throttling, groups."""

import asyncio
from typing import Any

import pytest
from aiogram.types import Message, MessageEntity, User

from bot import dispatcher
from bot.handlers.received import is_addressed, without_mention
from domain.errors import DatabaseAway
from domain.people import Mode
from tests.fakes.bot import GROUP, PERSON, Person
from tests.fakes.telegram import ME

ME_USER = User(**ME)


def group_message(text: str, *entities: tuple[str, int, int], **extra: Any) -> Message:
    marks = [{"type": kind, "offset": offset, "length": length} for kind, offset, length in entities]
    plain = {"message_id": 1, "date": 0, "chat": {"id": GROUP, "type": "supergroup"}, "text": text, "entities": marks}
    return Message.model_validate(plain | extra)


async def test_a_stranger_gets_one_sentence_with_the_number_and_then_silence() -> None:
    eve = Person(user=8, chat=8, variables={"ALLOWED_USERS": str(PERSON)})
    await eve.say("/start")
    await eve.say("Пожалуйста")
    assert len(eve.session.said) == 1
    assert eve.last.text.endswith("ваш номер: 8")


async def test_a_strangers_button_gets_a_popup() -> None:
    anna = Person()
    await anna.say("/start")
    eve = Person(user=8, chat=8, recorded=anna.recorded, variables={"ALLOWED_USERS": str(PERSON)})
    await eve.press("chat")
    assert "номер: 8" in eve.popup.params["text"]


async def test_every_press_of_a_stranger_is_answered() -> None:
    anna = Person()
    await anna.say("/start")
    eve = Person(user=8, chat=8, recorded=anna.recorded, variables={"ALLOWED_USERS": str(PERSON)})
    for _ in range(3):
        await eve.press("chat")
    assert len(eve.session.named("answerCallbackQuery")) == 3


async def test_allowed_people_and_admins_get_in() -> None:
    anna = Person(variables={"ALLOWED_USERS": "5", "ADMIN_USERS": str(PERSON)})
    await anna.say("/help")
    assert anna.last.text


async def in_english(chat: int, **variables: str) -> Person:
    anna = Person(chat=chat, variables=variables)
    await anna.say("/language@baza_bot")
    await anna.press("lang:en")
    return anna


@pytest.mark.parametrize("chat", [PERSON, GROUP])
async def test_the_warning_is_in_the_language_that_was_chosen(chat: int) -> None:
    anna = await in_english(chat, MESSAGES_PER_MINUTE="2")
    await anna.say("/help@baza_bot")
    assert anna.last.text.startswith("Too many")
    await anna.press("chat")
    assert anna.popup.params["text"].startswith("Too often")


async def test_in_a_group_a_stranger_is_refused_in_its_language() -> None:
    anna = await in_english(GROUP, ALLOWED_USERS=str(PERSON))
    message = {"text": "/help@baza_bot", "from": {"id": 8, "is_bot": False, "first_name": "Ева", "language_code": "ru"}}
    await anna.send(**message)
    assert anna.last.text.endswith("your number: 8")


@pytest.mark.parametrize(
    ("trouble", "said"),
    [(DatabaseAway("gone"), "Not possible right now"), (KeyError("x"), "Something broke")],
    ids=["away", "a mistake"],
)
async def test_an_apology_is_in_the_language_that_was_chosen(trouble: Exception, said: str) -> None:
    anna = await in_english(PERSON)
    await anna.choose(Mode.CHAT)
    anna.conversation.error = trouble
    await anna.say("Привет")
    assert anna.last.text.startswith(said)


async def test_too_many_messages_are_warned_about_once() -> None:
    anna = Person(variables={"MESSAGES_PER_MINUTE": "2"})
    for _ in range(5):
        await anna.say("/help")
    assert ["Слишком много" in call.text for call in anna.session.said] == [False, False, True]


async def test_every_press_too_many_is_answered() -> None:
    anna = Person(variables={"MESSAGES_PER_MINUTE": "2"})
    await anna.say("/start")
    for _ in range(4):
        await anna.press("chat")
    answers = anna.session.named("answerCallbackQuery")
    assert ["Слишком часто" in answer.params["text"] for answer in answers] == [False, True, True, True]


async def test_a_burst_of_files_is_let_through() -> None:
    anna = Person(variables={"MESSAGES_PER_MINUTE": "2"})
    await anna.say("/base")
    for number in range(10):
        await anna.send_file(f"{number}.pdf")
    assert len(anna.stores.library.sent) == 10


@pytest.mark.parametrize(
    "content",
    [
        {"photo": [{"file_id": "p", "file_unique_id": "p", "width": 9, "height": 9}]},
        {"voice": {"file_id": "v", "file_unique_id": "v", "duration": 1}},
        {"text": "пост", "forward_origin": {"type": "hidden_user", "date": 0, "sender_user_name": "Пётр"}},
    ],
    ids=["an album", "voice messages", "forwarded posts"],
)
async def test_what_comes_many_at_a_time_is_let_through(content: dict[str, Any]) -> None:
    anna = Person(variables={"MESSAGES_PER_MINUTE": "2"})
    await anna.say("/base")
    for _ in range(10):
        await anna.send(**content)
    assert len(anna.stores.library.sent) == 10


@pytest.mark.parametrize(
    "content",
    [
        {"text": "пост", "forward_origin": {"type": "hidden_user", "date": 0, "sender_user_name": "Пётр"}},
        {"voice": {"file_id": "v", "file_unique_id": "v", "duration": 1}},
    ],
    ids=["forwarded posts", "voice messages"],
)
async def test_questions_have_the_small_limit_however_they_come(content: dict[str, Any]) -> None:
    async def hear(_: str) -> str:
        return "вопрос"

    anna = Person(changes={"hear": hear}, variables={"MESSAGES_PER_MINUTE": "2"})
    await anna.choose(Mode.CHAT)
    for _ in range(5):
        await anna.send(**content)
    assert len(anna.conversation.questions) == 2
    assert sum("Слишком много" in call.text for call in anna.session.said) == 1


async def test_the_warning_shows_from_which_message_on_nothing_was_taken() -> None:
    anna = Person(variables={"MESSAGES_PER_MINUTE": "2"})
    await anna.say("/base")
    await anna.say("первая заметка")
    dropped = await anna.say("вторая заметка")
    await anna.say("третья заметка")
    assert anna.last.reply_to == dropped


async def test_in_a_group_only_what_is_meant_for_the_bot_is_heard() -> None:
    anna = Person(chat=GROUP)
    await anna.say("просто разговор")
    await anna.say("/start@other_bot")
    await anna.say("/ban")
    await anna.say("/help", forward_origin={"type": "hidden_user", "date": 1, "sender_user_name": "Иван"})
    await anna.send_file("план.pdf", caption="/help")
    assert anna.session.said == []
    assert anna.stores.library.sent == {}


@pytest.fixture
def quick_albums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether an album is for the bot is known after a moment."""
    monkeypatch.setattr(dispatcher, "ALBUM_S", 0.05)


MENTION: dict[str, Any] = {"caption": "@baza_bot", "caption_entities": [{"type": "mention", "offset": 0, "length": 9}]}


def kept_by(person: Person) -> list[str]:
    return [document.source.identifier for document in person.stores.library.sent.values()]


@pytest.mark.usefixtures("quick_albums")
async def test_in_a_group_all_files_of_an_album_that_mentions_the_bot_are_kept() -> None:
    anna = Person(chat=GROUP)
    await anna.say("/base")
    await anna.send_file("чужой.pdf", media_group_id="не нам")
    await anna.send_file("план.pdf", media_group_id="нам", **MENTION)
    await anna.send_file("смета.pdf", media_group_id="нам")
    await anna.send_file("чужая смета.pdf", media_group_id="не нам")
    await anna.send_file("просто файл.pdf")
    assert kept_by(anna) == ["план.pdf", "смета.pdf"]


@pytest.mark.parametrize("last", [MENTION, {"reply_to_message": {**group_message("да").model_dump(), "from": ME}}])
async def test_files_that_come_before_the_one_that_is_meant_for_the_bot_are_kept_in_their_order(
    last: dict[str, Any],
) -> None:
    anna = Person(chat=GROUP)
    await anna.say("/base")
    await asyncio.gather(
        *(anna.send_file(name, media_group_id="нам") for name in ("а.pdf", "б.pdf", "в.pdf")),
        anna.send_file("г.pdf", media_group_id="нам", **last),
    )
    assert kept_by(anna) == ["а.pdf", "б.pdf", "в.pdf", "г.pdf"]
    assert len({row.batch_id for row in anna.stores.library.sent.values()}) == 1


@pytest.mark.usefixtures("quick_albums")
async def test_an_album_that_nobody_has_meant_for_the_bot_holds_up_nobody_and_leaves_nothing() -> None:
    anna = Person(chat=GROUP)
    await anna.say("/base")
    sending = asyncio.create_task(anna.send_file("чужой.pdf", media_group_id="не нам"))
    while not anna.done.is_set():
        await asyncio.sleep(0)
    assert not sending.done()
    await sending
    await anna.send_file("поздно.pdf", media_group_id="не нам", **MENTION)
    assert kept_by(anna) == ["поздно.pdf"]


async def test_a_file_that_fails_does_not_keep_the_one_that_it_waits_for_from_being_kept() -> None:
    anna = Person(chat=GROUP)
    await anna.say("/base")
    anna.recorded.session.break_connection("sendMessage", times=9)
    await asyncio.gather(
        anna.send_file("велик.pdf", size=21 * 2**20, media_group_id="нам"),
        anna.send_file("план.pdf", media_group_id="нам", **MENTION),
    )
    assert kept_by(anna) == ["план.pdf"]


@pytest.mark.parametrize(
    "message",
    [
        group_message("/start"),
        group_message("/start@BAZA_bot x"),
        group_message("эй @baza_bot", ("mention", 3, 9)),
        group_message(
            "да", reply_to_message={"message_id": 2, "date": 0, "chat": {"id": 1, "type": "group"}, "from": ME}
        ),
    ],
    ids=["bare command", "command for us", "mention", "reply"],
)
def test_these_are_meant_for_the_bot(message: Message) -> None:
    assert is_addressed(message, ME_USER)


def test_the_mention_is_taken_out_and_links_keep_their_place() -> None:
    text = "😀 @baza_bot см. https://a.b"
    cleaned = without_mention(group_message(text, ("mention", 3, 9), ("url", 17, 11)), ME_USER)
    assert cleaned.text == "😀 см. https://a.b"
    (link,) = cleaned.entities or []
    assert isinstance(link, MessageEntity)
    assert link.extract_from(cleaned.text) == "https://a.b"


async def test_other_bots_and_channels_are_not_answered() -> None:
    anna = Person()
    await anna.send(text="/start", **{"from": {"id": 9, "is_bot": True, "first_name": "Бот"}})
    assert anna.session.said == []


async def test_edited_messages_are_not_even_asked_for() -> None:
    wanted = ["callback_query", "chat_member", "message", "my_chat_member", "stopped_message_generation"]
    assert sorted(Person().dispatcher.resolve_used_update_types()) == wanted
