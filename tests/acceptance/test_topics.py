"""Topics of a private chat, and who left a group, by the updates that Telegram sends."""

from collections.abc import AsyncIterator

import pytest

from tests.acceptance.conftest import Start
from tests.fakes.telegram import ME
from tests.servers.telegram import Telegram, serve_telegram

YOU, ANNA, GROUP = 1001, 1002, -1_002_000_000_009
HOLIDAY, WORK = 77, 88
CALL = f"@{ME['username']}"


@pytest.fixture
async def telegram() -> AsyncIterator[Telegram]:
    async with serve_telegram() as served:
        yield served


async def keep(telegram: Telegram, text: str, *, by: int = YOU, chat: int = YOU, topic: int | None = None) -> None:
    """Put a note into the base of this chat or topic."""
    said = await telegram.say("/base", by=by, chat=chat, topic=topic)
    await telegram.wait_for("Режим «База»", chat=chat, topic=topic, after=said)
    mention = f"{CALL} " if chat == GROUP else ""
    entity = [{"type": "mention", "offset": 0, "length": len(CALL)}] if mention else []
    said = await telegram.say(mention + text, by=by, chat=chat, topic=topic, entities=entity)
    await telegram.wait_for("✅", chat=chat, topic=topic, after=said)


async def ask(telegram: Telegram, question: str, *, chat: int = YOU, topic: int | None = None, by: int = YOU) -> str:
    """What the bot answers there."""
    said = await telegram.say("/chat", by=by, chat=chat, topic=topic)
    await telegram.wait_for(".", chat=chat, topic=topic, after=said)
    said = await telegram.say(question, by=by, chat=chat, topic=topic)
    return str((await telegram.wait_for("сейф|нашл|пусто|Пусто", chat=chat, topic=topic, after=said))["text"])


async def ask_until_closed(telegram: Telegram, question: str, *, by: int) -> str:
    """The first answer that says that the base is closed. Chats do not wait for each other: the question may be
    answered before the group's update, which was sent earlier."""
    for _ in range(20):
        said = await telegram.say(question, by=by)
        answer = await telegram.wait_for("груша|больше не открыта|больше нет", chat=by, after=said)
        if "груша" not in answer["text"]:
            return str(answer["text"])
    raise AssertionError("the base stays open")


async def lists(telegram: Telegram, *, chat: int = YOU, topic: int | None = None, by: int = YOU) -> str:
    """What /bases shows there."""
    said = await telegram.say("/bases", by=by, chat=chat, topic=topic)
    return str((await telegram.wait_for("Ваши базы", chat=chat, topic=topic, after=said))["text"])


async def test_each_topic_of_a_private_chat_is_a_base_and_a_dialogue_of_its_own(
    start: Start, telegram: Telegram
) -> None:
    async with start(**telegram.environment):
        for topic, name in ((HOLIDAY, "Отпуск"), (WORK, "Работа")):
            began = {"name": name, "icon_color": 1, "is_name_implicit": True}
            await telegram.say(None, by=YOU, topic=topic, forum_topic_created=began)
        await keep(telegram, "Пароль от сейфа в номере: апельсин", topic=HOLIDAY)
        await keep(telegram, "Пароль от рабочего сейфа: лимон", topic=WORK)
        away = await ask(telegram, "Какой пароль от сейфа?", topic=HOLIDAY)
        at_work = await ask(telegram, "Какой пароль от сейфа?", topic=WORK)
        outside = await ask(telegram, "Какой пароль от сейфа?")
        await telegram.say(None, by=YOU, topic=WORK, forum_topic_edited={"name": "Служба"})
        listed = await lists(telegram, topic=WORK)
        wrong = [sent for _, sent in telegram.calls if sent.get("message_thread_id") not in (None, HOLIDAY, WORK)]
    assert ("апельсин" in away, "лимон" in away) == (True, False)
    assert ("апельсин" in at_work, "лимон" in at_work) == (False, True)
    assert not {"апельсин", "лимон"} & set(outside.replace("»", " ").split())
    assert "Отпуск" in listed
    assert "● Служба" in listed
    assert "Работа" not in listed
    assert not wrong


@pytest.mark.parametrize("way", ["chat_member", "my_chat_member", "left_chat_member", "asked"])
async def test_who_left_a_group_reads_its_base_nowhere(start: Start, telegram: Telegram, way: str) -> None:
    async with start(**telegram.environment):
        await keep(telegram, "Пароль от общего сейфа: груша", by=ANNA, chat=GROUP)
        said = await telegram.say("/bases", by=ANNA)
        listed = await telegram.wait_for("Группа", chat=ANNA, after=said)
        buttons = [each for row in listed["reply_markup"]["inline_keyboard"] for each in row]
        lines = listed["text"].splitlines()
        (number,) = [line.split(".")[0] for line in lines if "Группа" in line]
        (button,) = [each for each in buttons if each["text"] == number]
        await telegram.press(button["callback_data"], by=ANNA, chat=ANNA, shown=listed)
        await telegram.wait_for("Открыта база «Группа»", chat=ANNA, after=said)
        inside = await ask(telegram, "Какой пароль от сейфа?", chat=ANNA, by=ANNA)

        telegram.outside.add(ANNA)
        event = telegram.message(0, by=ANNA, chat=GROUP)
        changed = {"chat": event["chat"], "from": event["from"], "date": event["date"]}
        person = ME if way == "my_chat_member" else event["from"]
        states = {
            "old_chat_member": {"user": person, "status": "member"},
            "new_chat_member": {"user": person, "status": "left"},
        }
        if way == "left_chat_member":
            await telegram.say(None, by=ANNA, chat=GROUP, left_chat_member=event["from"])
        elif way != "asked":
            await telegram.push(**{way: {**changed, **states}})
        if way == "asked":
            await telegram.press(button["callback_data"], by=ANNA, chat=ANNA, shown=listed)
            await telegram.wait_for(".", chat=ANNA)
        outside = await ask_until_closed(telegram, "Какой пароль от сейфа?", by=ANNA)
        listed_then = await lists(telegram, chat=ANNA, by=ANNA)
    assert "груша" in inside
    assert "груша" not in outside
    assert "Группа" not in listed_then
