"""An open bot that is bounded: a person's day, and the room in a base, from the message to the reply."""

from pathlib import Path

import pytest

from tests.acceptance.conftest import Start
from tests.acceptance.test_models import ANSWER, QUESTION, keep_contract
from tests.acceptance.test_whole_way import READ_S, enter
from tests.servers.jina import JinaServer
from tests.servers.llm import LlmServer, Streamed
from tests.servers.person import YOU, Person

Variables = dict[str, str]
AGAIN = "Сколько процентов за каждый день?"


async def test_after_the_days_questions_there_are_quotes_with_the_reason(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.script(ANSWER)
    async with start(**with_llm, PERSON_DAILY_QUESTIONS="1") as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        first = await you.wait_for("Информация взята из", READ_S, after=await you.say(QUESTION))
        asked = len(llm.requests)
        second = await you.wait_for("Информация взята из", READ_S, after=await you.say(AGAIN))
        figures = await you.wait_for("Ваша база", after=await you.say("/stats"))
    assert first.text.startswith("Штраф составляет")
    assert second.text.startswith("Ответы модели на сутки вы уже израсходовали: до завтра, ")
    assert "Вот что нашлось в базе" in second.text
    assert "0,1 % от суммы за каждый день" in second.text
    assert len(llm.requests) == asked
    assert "Вопросов к модели за сутки: 1 из 1" in figures.text.replace("\xa0", " ")


async def test_past_the_bound_nothing_is_ordered_for_money(
    start: Start, llm: LlmServer, with_llm: Variables, jina: JinaServer, with_jina: Variables, tmp_path: Path
) -> None:
    llm.script(ANSWER)
    async with start(**with_llm, **with_jina, PERSON_DAILY_QUESTIONS="1") as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await enter(you, "base")
        await you.wait_for("✅ Оплата", READ_S, after=await you.say("Оплата вносится до пятого числа месяца"))
        await enter(you, "chat")
        await you.wait_for("Информация взята из", READ_S, after=await you.say(QUESTION))
        ordered = len(jina.reranks)
        answer = await you.wait_for("Информация взята из", READ_S, after=await you.say(QUESTION))
    assert answer.text.startswith("Ответы модели на сутки")
    assert (ordered, len(jina.reranks)) == (1, 1)


async def test_what_would_cost_more_than_the_day_waits_for_the_next_and_says_so(
    start: Start, jina: JinaServer, with_jina: Variables
) -> None:
    priced = {"JINA_MILLION_TOKENS_COST": "1000000", "PERSON_DAILY_COST": "0.01"}
    async with start(**with_jina, **priced) as page, Person(page) as you:
        await enter(you, "base")
        await you.wait_for("✅ Ключ", READ_S, after=await you.say("Ключ от гаража висит у двери"))
        ordered = len(jina.requests)
        waiting = await you.wait_for("ждёт до завтра, ", READ_S, after=await you.say("Оплата вносится до пятого числа"))
    assert "Документ сохранён" in waiting.text
    assert len(jina.requests) == ordered


async def test_a_days_spent_dollars_outlive_a_restart_and_are_told_in_english(
    start: Start, llm: LlmServer, with_llm: Variables
) -> None:
    settings = {**with_llm, "PERSON_DAILY_COST": "0.2"}
    async with start(**settings) as page, Person(page) as you:
        await you.set_language("en")
        await you.wait_for("Choose a mode", after=await you.say("/start"))
        await you.say("/base")
        await you.wait_for("✅ The key to the garage", READ_S, after=await you.say("The key to the garage hangs here"))
        await you.say("/chat")
        llm.script(Streamed(text="[+] It hangs here [1].", cost=0.25))
        await you.wait_for("It hangs here", READ_S, after=await you.say("Where is the key to the garage?"))
    async with start(**settings) as page, Person(page) as you:
        answer = await you.wait_for("used up", READ_S, after=await you.say("Where is the key to the garage?"))
    assert answer.text.startswith("You have used up a day's answers of the model: until tomorrow, ")
    assert "Here is what the base holds" in answer.text
    assert "The key to the garage hangs here" in answer.text


async def test_an_admin_is_not_bounded(start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path) -> None:
    llm.script(ANSWER, ANSWER)
    bounded = {"PERSON_DAILY_QUESTIONS": "1", "ADMIN_USERS": str(YOU)}
    async with start(**with_llm, **bounded) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        for question in (QUESTION, AGAIN):
            answer = await you.wait_for("Информация взята из", READ_S, after=await you.say(question))
            assert answer.text.startswith("Штраф составляет")


CHAPTER = "Караван шёл через пустыню к дальнему городу, и верблюды отдыхали у колодца. " * 40


@pytest.mark.parametrize(
    ("language", "too_large", "full", "button", "sure"),
    [
        (
            "ru",
            r"Книга.txt не поместился: в нём \d+ фрагмент.*не больше 2",
            "не взял, база полна: больше 2",
            "Удалить",
            "Да, удалить",
        ),
        (
            "en",
            r"Книга.txt did not fit: it has \d+ passages.*no more than 2 in all",
            "was not taken, the base is full",
            "Delete",
            "Yes, delete",
        ),
    ],
)
async def test_a_base_takes_what_fits_and_says_what_to_do(
    start: Start, tmp_path: Path, language: str, too_large: str, full: str, button: str, sure: str
) -> None:
    book = tmp_path / "Книга.txt"
    book.write_text("\n\n".join(f"Глава {number}. {CHAPTER}" for number in range(9)), encoding="utf-8")
    async with start(BASE_PASSAGES="2") as page, Person(page) as you:
        await you.set_language(language)
        await you.say("/start")
        await you.say("/base")
        refused = await you.wait_for(too_large, READ_S, after=await you.send_file(book))
        for words in ("Код от домофона 4512", "Ключ лежит под ковриком"):
            await you.wait_for(f"✅ {words}", READ_S, after=await you.say(words))
        late = await you.wait_for(full, READ_S, after=await you.say("Лишняя заметка"))
        await you.say("/chat")
        nothing = await you.wait_for(".", READ_S, after=await you.say("Где отдыхали верблюды?"))
        await you.say("/base")
        await delete_first(you, button=button, sure=sure)
        await you.wait_for("✅ Ещё одна", READ_S, after=await you.say("Ещё одна заметка"))
    assert "/docs" in refused.text
    assert "/docs" in late.text
    assert "колодца" not in nothing.text


async def delete_first(you: Person, *, button: str, sure: str) -> None:
    """The note about the mat, through its card."""
    shelf = await you.wait_for("ковриком", after=await you.say("/docs"))
    line = next(line for line in shelf.text.splitlines() if "ковриком" in line)
    await you.press(line.split(".")[0].strip(), shelf)
    card = await you.wait_for(lambda seen: button in str(seen.buttons))
    await you.press(button, card)
    await you.press(sure, await you.wait_for(lambda seen: sure in str(seen.buttons)))
