"""A base of an administrator in a group, and dialogues of topics, by the updates that Telegram sends."""

from tests.acceptance.conftest import Start
from tests.acceptance.test_topics import ANNA, CALL, GROUP, HOLIDAY, WORK, YOU, ask, keep, lists, telegram
from tests.fakes.telegram import ME
from tests.servers.llm import LlmServer
from tests.servers.telegram import Json, Telegram

__all__ = ["telegram"]
SECRET, OURS = "Пароль от рабочего сейфа: лимон", "Пароль от общего сейфа: груша"


def button(shown: Json, text: str) -> str:
    """What the button of a message carries."""
    buttons = [each for row in shown["reply_markup"]["inline_keyboard"] for each in row]
    return str(next(each["callback_data"] for each in buttons if text in each["text"]))


async def press(telegram: Telegram, shown: Json, text: str, wanted: str, *, by: int, chat: int) -> Json:
    """The message of the bot with `wanted` that comes of it."""
    await telegram.press(button(shown, text), by=by, chat=chat, shown=shown)
    return await telegram.wait_for(wanted, chat=chat, after=shown["message_id"] - 1)


async def refused(telegram: Telegram, shown: Json, text: str, *, by: int, chat: int) -> str:
    """What the press is answered with."""
    return await telegram.wait_for_answer(await telegram.press(button(shown, text), by=by, chat=chat, shown=shown))


async def own_base(telegram: Telegram, person: int, name: str, text: str) -> None:
    """A further base of the person, with a note in it."""
    shown = await telegram.wait_for("Ваши базы", chat=person, after=await telegram.say("/bases", by=person))
    await press(telegram, shown, "Новая", "Как назвать базу", by=person, chat=person)
    named = await telegram.say(name, by=person)
    await telegram.wait_for(f"Открыта база «{name}»", chat=person, after=named)
    await keep(telegram, text, by=person, chat=person)


async def groups_for(telegram: Telegram, person: int, name: str) -> Json:
    """«Открыть в группе», with the groups that are offered."""
    shown = await telegram.wait_for("Ваши базы", chat=person, after=await telegram.say("/bases", by=person))
    (number,) = [line.split(".")[0] for line in shown["text"].splitlines() if name in line]
    card = await press(telegram, shown, number, f"^📚 {name} ·", by=person, chat=person)
    return await press(telegram, card, "в группе", "В какой группе", by=person, chat=person)


async def greet(telegram: Telegram, person: int, text: str = "привет") -> int:
    """Somebody writes in the group, to the bot."""
    mention = [{"type": "mention", "offset": 0, "length": len(CALL)}]
    return await telegram.say(f"{CALL} {text}", by=person, chat=GROUP, entities=mention)


async def ask_group(telegram: Telegram, person: int) -> str:
    """What the bot answers there."""
    said = await telegram.say("/chat", by=person, chat=GROUP)
    await telegram.wait_for(".", chat=GROUP, after=said)
    said = await greet(telegram, person, "Какой пароль от сейфа?")
    return str((await telegram.wait_for("сейф|нашл|пусто|Пусто", chat=GROUP, after=said))["text"])


async def test_an_administrator_opens_a_base_in_a_group_until_the_bot_is_taken_out(
    start: Start, telegram: Telegram
) -> None:
    telegram.administrators.add(YOU)
    async with start(**telegram.environment):
        await keep(telegram, OURS, by=ANNA, chat=GROUP)
        await telegram.wait_for(".", chat=GROUP, after=await greet(telegram, YOU))
        await own_base(telegram, YOU, "Работа", SECRET)
        groups = await groups_for(telegram, YOU, "Работа")
        await press(telegram, groups, "Группа", "открыта в группе", by=YOU, chat=YOU)
        await telegram.wait_for("открыта теперь база «Работа»", chat=GROUP)
        bound = await ask_group(telegram, ANNA)
        theirs = await lists(telegram, chat=ANNA, by=ANNA)

        event = telegram.message(0, by=YOU, chat=GROUP)
        states = {
            "old_chat_member": {"user": ME, "status": "member"},
            "new_chat_member": {"user": ME, "status": "left"},
        }
        await telegram.push(my_chat_member={**{key: event[key] for key in ("chat", "from", "date")}, **states})
        await telegram.wait_for("Ваши базы", chat=YOU, after=await telegram.say("/bases", by=YOU))
        again = ""
        for _ in range(20):  # chats do not wait for each other
            again = await ask_group(telegram, ANNA)
            if "лимон" not in again:
                break
        own = await ask(telegram, "Какой пароль от сейфа?")
    assert ("лимон" in bound, "груша" in bound) == (True, False)
    assert "Работа" not in theirs  # open in the group, and there alone
    assert "лимон" not in again
    assert "лимон" in own


async def test_who_is_no_administrator_opens_no_base_in_a_group(start: Start, telegram: Telegram) -> None:
    async with start(**telegram.environment):
        await keep(telegram, OURS, by=YOU, chat=GROUP)
        await telegram.wait_for(".", chat=GROUP, after=await greet(telegram, ANNA))
        await own_base(telegram, ANNA, "Чужая", SECRET)
        groups = await groups_for(telegram, ANNA, "Чужая")
        said = await refused(telegram, groups, "Группа", by=ANNA, chat=ANNA)
        shown = await telegram.wait_for(
            "Ваши базы", chat=GROUP, after=await telegram.say("/bases", by=ANNA, chat=GROUP)
        )
        chosen = await refused(telegram, shown, "1", by=ANNA, chat=GROUP)
        answer = await ask_group(telegram, YOU)
    assert said == "Открыть свою базу в группе может только её администратор."
    assert chosen == "Какая база открыта в группе, решают только её администраторы."
    assert ("груша" in answer, "лимон" in answer) == (True, False)


async def test_the_model_hears_nothing_of_the_dialogue_of_another_topic(
    start: Start, telegram: Telegram, llm: LlmServer, with_llm: dict[str, str]
) -> None:
    llm.reply = lambda _: "[+] Лежит в сейфе [1]."
    async with start(**telegram.environment, **with_llm, ENTITY_MODEL="false", ANSWER_CHECK="off"):
        for topic in (HOLIDAY, WORK):
            await keep(telegram, "Паспорт лежит в сейфе", topic=topic)
        for topic, word in ((HOLIDAY, "ананас"), (WORK, "брусника")):
            for question in (f"Где лежит паспорт для поездки {word}?", "А ещё раз?"):
                await ask(telegram, question, topic=topic)
        await ask(telegram, "Где лежит паспорт?")
    heard = ["\n".join(message.content for message in each.messages) for each in (*llm.requests, *llm.plans)]
    assert any("ананас" in each for each in heard)
    assert any("брусника" in each for each in heard)
    assert not any("ананас" in each and "брусника" in each for each in heard)
    assert not any(word in each for each in heard[-1:] for word in ("ананас", "брусника"))
