"""Baza as a newcomer tries it, with no model: it is spoken to before it is asked, and a question is asked politely."""

from tests.acceptance.conftest import Start
from tests.acceptance.test_whole_way import READ_S, enter
from tests.servers.person import Person

NOTE = "Договор аренды склада подписал Пётр Ильин двенадцатого мая"


async def test_who_is_spoken_to_answers_and_what_is_asked_is_found(start: Start) -> None:
    async with start() as page, Person(page) as you:
        await you.wait_for("В базе пока пусто", after=await you.say("/chat"))
        await you.wait_for("^Здравствуйте! В базе пока пусто: пришлите", READ_S, after=await you.say("привет!!"))
        await enter(you, "base")
        for text in (NOTE, "Спасибо"):
            await you.wait_for("✅", READ_S, after=await you.say(text))
        await enter(you, "chat")
        await you.wait_for("^Здравствуйте! Спрашивайте:", READ_S, after=await you.say("Привет"))
        thanked = await you.wait_for("^Пожалуйста!", READ_S, after=await you.say("спасибо 🙏"))
        answer = await you.wait_for("Информация", READ_S, after=await you.say("спасибо, а кто подписал договор?"))
    assert "Вот что нашлось в базе:\n\nСпасибо" in thanked.text
    assert NOTE in answer.text
