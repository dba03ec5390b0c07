"""The bot in a group: quiet unless addressed, with one base and one mode for all who are in it, and nobody else's."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.acceptance.conftest import Start
from tests.acceptance.test_whole_way import PAGE, READ_S, enter
from tests.servers.person import ANNA, GROUP, YOU, Person, Seen
from tests.servers.web import Reply, serve_web

ME = "@baza_local_bot"
OURS = "Ключ от общего гаража висит за зеркалом"
MINE = "Пароль от домашнего сейфа апельсин"

Address = Callable[[Person], Awaitable[Seen]]


async def mention(person: Person) -> Seen:
    return await person.say(f"Привет, {ME}, ты здесь?")


async def reply(person: Person) -> Seen:
    said = await person.say("/help")
    return await person.say("Спасибо!", reply_to=(await person.wait_for("Режим", after=said)).message_id)


async def command(person: Person) -> Seen:
    return await person.say("/privacy")


async def command_by_name(person: Person) -> Seen:
    return await person.say(f"/privacy{ME}")


@pytest.mark.parametrize("address", [mention, reply, command, command_by_name])
async def test_the_bot_answers_whoever_addresses_it(start: Start, address: Address) -> None:
    async with start() as page, Person(page, ANNA, GROUP) as anna:
        said = await address(anna)
        answer = await anna.wait_for(".", after=said)
    assert answer.reply_to == said.message_id


@pytest.mark.parametrize("text", ["Кто видел ключ?", "/privacy@another_bot", "/roll", "Пишите на me@baza_local_bot.ru"])
async def test_the_bot_is_silent_when_others_talk(start: Start, text: str) -> None:
    async with start() as page, Person(page, ANNA, GROUP) as anna, Person(page, YOU, GROUP) as you:
        said = await anna.say("Привет всем")
        await you.say(text, reply_to=said.message_id)
        asked = await you.say("/help")
        await you.wait_for("Режим", after=asked)
        answers = [seen for seen in await you.messages() if seen.is_bot]
    assert [answer.reply_to for answer in answers] == [asked.message_id]


async def keep(person: Person, text: str) -> None:
    """Put a note into the base of this chat."""
    await enter(person, "base")
    said = await person.say(f"{ME} {text}" if person.chat_id == GROUP else text)
    await person.wait_for("✅", READ_S, after=said)


async def ask(person: Person, question: str) -> Seen:
    """What the bot answers in this chat; an empty base is said where the mode is chosen."""
    await enter(person, "chat")
    said = await person.say(f"{ME} {question}" if person.chat_id == GROUP else question)
    return await person.wait_for(".", READ_S, after=said)


async def test_what_one_puts_into_the_group_all_find_there(start: Start) -> None:
    async with start() as page, Person(page, ANNA, GROUP) as anna, Person(page, YOU, GROUP) as you:
        await keep(anna, OURS)
        answer = await ask(you, "Где ключ от гаража?")
    assert "за зеркалом" in answer.text
    assert "Информация взята из" in answer.text


async def test_the_base_of_the_group_is_not_in_a_private_chat(start: Start) -> None:
    async with start() as page, Person(page, YOU, GROUP) as ours, Person(page) as mine:
        await keep(ours, OURS)
        await keep(mine, MINE)
        answer = await ask(mine, "Где ключ от гаража?")
        shelf = await listed(mine)
    assert "зеркалом" not in answer.text
    assert "Документы: 1" in shelf.text
    assert "гараж" not in shelf.text


async def test_a_private_base_is_not_in_the_group(start: Start) -> None:
    async with start() as page, Person(page, YOU, GROUP) as ours, Person(page) as mine:
        await keep(mine, MINE)
        await keep(ours, OURS)
        answer = await ask(ours, "Какой пароль от домашнего сейфа?")
        shelf = await listed(ours)
    assert "апельсин" not in answer.text
    assert "Документы: 1" in shelf.text
    assert "сейф" not in shelf.text


async def listed(person: Person) -> Seen:
    """The list of documents."""
    return await person.wait_for("Документы|пусто", after=await person.say("/docs"))


async def test_a_mode_that_one_chooses_holds_for_all(start: Start) -> None:
    async with start() as page, Person(page, ANNA, GROUP) as anna, Person(page, YOU, GROUP) as you:
        await anna.say("/start")
        await anna.press("База", await anna.wait_for("Выберите режим"))
        await anna.wait_for("Режим «База» для этой группы")

        said = await you.say(f"{ME} {OURS}")

        receipt = await you.wait_for("✅", READ_S, after=said)
    assert receipt.reply_to == said.message_id


async def test_the_mode_of_the_group_is_not_that_of_its_people(start: Start) -> None:
    async with start() as page, Person(page, YOU, GROUP) as ours, Person(page) as mine:
        await mine.wait_for("В базе пока пусто", after=await mine.say("/chat"))
        await enter(ours, "base")
        answer = await mine.wait_for(".", READ_S, after=await mine.say("Где ключ от гаража?"))
        shelf = await listed(mine)
    assert answer.text.startswith("В базе пока пусто")
    assert "В базе пока пусто" in shelf.text


async def test_a_file_is_kept_when_its_caption_mentions_the_bot(start: Start, tmp_path: Path) -> None:
    unnoticed, noticed = tmp_path / "Молча.txt", tmp_path / "Вслух.txt"
    unnoticed.write_text("Пчёлы спят зимой.", encoding="utf-8")
    noticed.write_text("Ежи спят зимой.", encoding="utf-8")
    async with start() as page, Person(page, ANNA, GROUP) as anna:
        await enter(anna, "base")
        await anna.send_file(unnoticed)
        said = await anna.send_file(noticed, ME)
        await anna.wait_for("✅ Вслух", READ_S, after=said)
        shelf = await listed(anna)
    assert "Документы: 1" in shelf.text


async def test_an_album_is_kept_when_its_last_caption_mentions_the_bot(start: Start, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.txt" for name in ("Крыша", "Забор", "Колодец")]
    for file in files:
        file.write_text(f"{file.stem} на даче в порядке.", encoding="utf-8")
    others = tmp_path / "Чужое.txt", tmp_path / "Чужое 2.txt"
    for file in others:
        file.write_text("Это никому не предназначено.", encoding="utf-8")
    async with start() as page, Person(page, ANNA, GROUP) as anna:
        await enter(anna, "base")
        await anna.send_files(others)
        sent = await anna.send_files(files, f"{ME} наша дача", captioned=2)
        receipt = await anna.wait_for("Всего 3 документа, в базе 3", READ_S, after=sent[0])
        shelf = await listed(anna)
    assert receipt.reply_to == sent[0].message_id
    assert "Документы: 3" in shelf.text


async def test_who_is_no_administrator_of_a_group_cleans_nothing(start: Start) -> None:
    async with start() as page, Person(page, ANNA, GROUP) as anna:
        await keep(anna, OURS)
        await anna.say("/clean")
        query = await anna.press("Базу", await anna.wait_for("Что очистить"))
        assert (await anna.wait_for_answer(query)).text == "В группе удалять могут только её администраторы."
        assert "Документы: 1" in (await listed(anna)).text


async def test_cleaning_the_groups_base_asks_first_and_leaves_the_private_one(start: Start) -> None:
    async with start() as page, Person(page, YOU, GROUP) as owner, Person(page) as mine:
        await keep(mine, MINE)
        await keep(owner, OURS)
        await owner.say("/clean")
        await owner.press("Базу", await owner.wait_for("Что очистить"))
        sure = await owner.wait_for("Будет удалён 1 документ")
        assert "Документы: 1" in (await listed(owner)).text

        await owner.press("Удалить всё", sure)
        await owner.wait_for(r"База пуста: удалён 1 документ")

        assert "апельсин" in (await ask(mine, "Какой пароль от домашнего сейфа?")).text


async def test_a_clean_up_that_is_called_off_removes_nothing(start: Start) -> None:
    async with start() as page, Person(page, YOU, GROUP) as owner:
        await keep(owner, OURS)
        await owner.say("/clean")
        await owner.press("Базу", await owner.wait_for("Что очистить"))
        await owner.press("Отмена", await owner.wait_for("Будет удалён 1 документ"))
        await owner.wait_for("Ничего не удалено")
        assert "Документы: 1" in (await listed(owner)).text


async def test_what_one_sent_no_other_member_changes(start: Start, tmp_path: Path) -> None:
    plan = tmp_path / "План.txt"
    async with serve_web() as web, start(FETCH_ALLOW_HOSTS=web.host) as page:
        web.replies["/rules"] = Reply(body=PAGE.encode(), wait_s=20)
        async with Person(page, YOU, GROUP) as owner, Person(page, ANNA, GROUP) as anna:
            await enter(owner, "base")
            for text in ("Забор красят в мае.", "Забор красят в июне."):
                plan.write_text(text, encoding="utf-8")
                last = await owner.wait_for("✅|содержание новое", READ_S, after=await owner.send_file(plan, ME))
            asked = await owner.wait_for(lambda seen: "Заменить" in str(seen.buttons))
            live = await owner.wait_for(
                lambda seen: seen.buttons == (("Отменить",),), after=await owner.say(f"{ME} {web.url('/rules')}")
            )
            await anna.press("1", await listed(anna))
            card = await anna.wait_for(lambda seen: "Переименовать" in str(seen.buttons), after=last)
            pressed = [(live, "Отменить"), (asked, "Заменить"), (asked, "Пропустить")]
            for message, button in (*pressed, (card, "Переименовать"), (card, "Удалить")):
                answer = await anna.wait_for_answer(await anna.press(button, message))
                assert answer.text == "Это может сделать тот, кто прислал документ, или администратор группы.", button
            await owner.press("Пропустить", asked)
            await owner.press("Отменить", live)
            assert "Документы: 1" in (await listed(owner)).text
