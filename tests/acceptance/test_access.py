"""Who may talk to the bot, in which language it answers, and what it says to what it cannot take."""

import base64
from pathlib import Path

import pytest

from tests.acceptance.conftest import Start
from tests.acceptance.test_groups import ME
from tests.acceptance.test_whole_way import PAGE, READ_S, enter
from tests.servers.person import ANNA, GROUP, YOU, Person
from tests.servers.web import Reply, serve_web

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
ONLY_YOU = {"ALLOWED_USERS": str(YOU)}


async def test_whoever_is_not_allowed_gets_one_sentence_and_then_silence(start: Start) -> None:
    async with start(**ONLY_YOU) as page, Person(page, ANNA, GROUP) as anna, Person(page, YOU, GROUP) as you:
        said = await anna.say(f"{ME} Какие документы есть?")
        refusal = await anna.wait_for("избранного круга", after=said)
        again = await anna.say("/docs")
        asked = await you.say("/help")
        answer = await you.wait_for(".", after=again)
    assert str(ANNA) in refusal.text
    assert answer.reply_to == asked.message_id


async def test_whoever_is_not_allowed_presses_in_vain(start: Start) -> None:
    async with start(**ONLY_YOU) as page, Person(page, ANNA, GROUP) as anna, Person(page, YOU, GROUP) as you:
        await you.say("/start")
        menu = await anna.wait_for("Выберите режим")
        refusals = [await anna.wait_for_answer(await anna.press("База", menu)) for _ in range(2)]
        await you.wait_for("В базе пока пусто", after=await you.say("/docs"))
        answers = [seen for seen in await you.messages() if "Режим «База» для этой группы" in seen.text]
    assert all("избранного круга" in refusal.text and refusal.alert for refusal in refusals)
    assert answers == []


async def test_whoever_is_allowed_is_answered_in_private(start: Start) -> None:
    async with start(**ONLY_YOU) as page, Person(page) as you:
        await you.say("/start")
        await you.wait_for("Выберите режим работы")


async def test_the_refusal_is_in_the_persons_language(start: Start) -> None:
    async with start(**ONLY_YOU) as page, Person(page, ANNA, GROUP) as anna:
        await anna.set_language("en")
        await anna.say("/start")
        await anna.wait_for("chosen circle of people")


async def test_an_english_speaker_goes_the_whole_way_in_english(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await you.set_language("en")
        await you.say("/start")
        await you.press("Base", await you.wait_for("Choose a mode"))
        await you.wait_for("“Base” mode")
        assert await you.keyboard() == [["💬 Chat", "📚 Base ✓", "🗂 Documents"]]

        await you.say("The key to the garage hangs behind the mirror")
        await you.wait_for(r"✅ The key to the garage.*\n1 passage", READ_S)
        await you.click("Chat")
        await you.say("Where is the key to the garage?")
        answer = await you.wait_for("behind the mirror", READ_S)
    assert not [letter for letter in answer.text if "а" <= letter.lower() <= "я"]


async def test_the_menu_of_commands_is_in_the_persons_language(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await you.wait_for("Выберите режим", after=await you.say("/start"))
        assert (await you.commands())["docs"] == "что есть в базе"
        await you.set_language("en")
        assert (await you.commands())["docs"] == "what the base holds"


async def test_the_language_that_was_chosen_stays(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        await you.say("/language")
        await you.press("English", await you.wait_for("На каком языке"))
        await you.wait_for("I speak English now")
        assert "📚 Base ✓" in (await you.keyboard())[0]

        said = await you.say("Код от домофона 4512")

        await you.wait_for(r"✅ Код от домофона.*\n1 passage", READ_S, after=said)


async def test_a_button_of_the_language_before_still_works(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await you.say("/language")
        await you.press("English", await you.wait_for("На каком языке"))
        said = await you.wait_for("I speak English now")
        await you.say("📚 База")
        await you.wait_for("“Base” mode", after=said)


@pytest.mark.parametrize(
    ("name", "body", "sentence"),
    [
        ("голос.ogg", b"OggS" + bytes(100), "распознавание речи здесь не настроено"),
        ("песня.mp3", b"ID3" + bytes(100), "распознавание речи здесь не настроено"),
        ("кино.mp4", bytes(100), "такие файлы читать не умею"),
    ],
)
async def test_what_cannot_be_read_here_is_said(
    start: Start, tmp_path: Path, name: str, body: bytes, sentence: str
) -> None:
    (tmp_path / name).write_bytes(body)
    async with start() as page, Person(page) as you:
        await enter(you, "base")
        said = await you.send_file(tmp_path / name)
        await you.wait_for(sentence, after=said)


async def test_a_voice_message_in_chat_asks_for_words_where_nothing_hears_it(start: Start, tmp_path: Path) -> None:
    (tmp_path / "голос.ogg").write_bytes(b"OggS" + bytes(100))
    async with start() as page, Person(page) as you:
        await you.say("/chat")
        await you.wait_for("В базе пока пусто")
        said = await you.send_file(tmp_path / "голос.ogg")
        await you.wait_for("Голосовые вопросы здесь не слушаю", after=said)


async def test_a_link_in_chat_is_offered_to_the_base_and_kept_on_press(start: Start) -> None:
    async with serve_web() as web:
        web.replies["/rules"] = Reply(body=PAGE.encode())
        async with start(FETCH_ALLOW_HOSTS=web.host) as page, Person(page) as you:
            await you.say("/chat")
            said = await you.say(web.url("/rules"))
            offer = await you.wait_for("Это вопрос или документ для базы?", after=said)
            assert offer.reply_to == said.message_id
            assert web.asked == []

            await you.press("Добавить в базу", offer)

            receipt = await you.wait_for("✅ Правила парковки в базе", READ_S)
            await you.say("Сколько можно стоять во дворе?")
            await you.wait_for("🔗 Правила парковки", READ_S)
            left = [seen.message_id for seen in await you.messages()]
    assert receipt.reply_to == said.message_id
    assert offer.message_id not in left


async def test_a_file_in_chat_is_kept_once_however_often_it_is_pressed(start: Start, tmp_path: Path) -> None:
    contract = tmp_path / "Договор.txt"
    contract.write_text("Штраф за просрочку составляет 0,1 %.", encoding="utf-8")
    async with start() as page, Person(page) as you:
        await you.say("/chat")
        offer = await you.wait_for("Это вопрос или", after=await you.send_file(contract))
        await you.press("Добавить", offer)
        await you.press("Добавить", offer)
        await you.wait_for("✅ Договор", READ_S)
        shelf = await you.wait_for("Документы", after=await you.say("/docs"))
        receipts = [seen for seen in await you.messages() if seen.text.startswith(("✅", "⏳"))]
    assert "Документы: 1" in shelf.text
    assert len(receipts) == 1


async def test_a_question_with_a_link_is_a_question(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await you.say("/chat")
        said = await you.say("Что написано на https://example.org/rules о парковке?")
        answer = await you.wait_for(".", READ_S, after=said)
    assert "документ для базы" not in answer.text
