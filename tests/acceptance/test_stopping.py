"""«Остановить» while the answer is being written: what was written stays, with its sources, and the model is left."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.acceptance.conftest import Start
from tests.acceptance.test_groups import ME, keep
from tests.acceptance.test_models import Variables, keep_contract
from tests.acceptance.test_steps import QUESTION, analysis, diagnose
from tests.acceptance.test_whole_way import READ_S, enter
from tests.servers.llm import LlmServer, Streamed
from tests.servers.person import ANNA, GROUP, YOU, Person, Seen
from tests.waiting import until

LONG = Streamed(
    text="[+] Штраф 0,1 % в день [1]. " + "Его начисляют за просрочку оплаты [1]. " * 60, pause_s=0.2
)  # 74 s
STOPPED = "Остановлено по вашей просьбе: ответ не дописан."
SOON_S = 10.0  # far less than the rest of the answer takes, however busy the machine


@asynccontextmanager
async def being_answered(
    start: Start, with_llm: Variables, folder: Path, question: str = QUESTION
) -> AsyncIterator[Person]:
    """A person who sees the first sentence of a long answer."""
    async with start(**with_llm) as page, Person(page) as you:
        await keep_contract(you, folder)
        await you.say(question)
        await you.wait_for_draft("0,1 % в день", READ_S)
        yield you


async def stopped_answer(you: Person, llm: LlmServer) -> Seen:
    """What stays, soon after the press; and nothing listens to the model any more."""
    pressed = time.monotonic()
    answer = await you.wait_for(STOPPED, READ_S)
    assert time.monotonic() - pressed < SOON_S
    await until(lambda: llm.left_early == 1)
    return answer


async def test_an_answer_to_a_simple_question_is_stopped_at_its_draft(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.script(LONG, "[-] Да.")
    async with being_answered(start, with_llm, tmp_path, "Какой штраф?") as you:
        await you.stop_draft()
        answer = await stopped_answer(you, llm)
        await you.say("А дальше?")
        await you.wait_for("Да.", READ_S, after=answer)
    assert answer.text.startswith("Штраф 0,1 % в день.")
    assert "Информация взята из" in answer.text
    assert "Остановить" not in str(answer.buttons)
    assert llm.requests[-1].messages[2].content.startswith("Штраф 0,1 % в день.")  # what was written is remembered


async def test_the_button_of_the_live_list_stops_the_answer_too(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.planner = diagnose
    llm.script(analysis(enough=True), LONG)
    async with being_answered(start, with_llm, tmp_path) as you:
        pressed = await you.wait_for_answer(await you.press("Остановить"))
        answer = await stopped_answer(you, llm)
        left = [seen.text for seen in await you.messages()]
    assert pressed.text.startswith("Останавливаю")
    assert answer.text.startswith("Штраф 0,1 % в день.")
    assert not [text for text in left if text.startswith("Разбираюсь")]


async def test_the_first_press_ends_the_steps_and_the_second_the_answer(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.planner = diagnose
    llm.script(Streamed(text=analysis(enough=True), pause_s=60), LONG)
    async with start(**{**with_llm, "LLM_TIMEOUT_SECONDS": "90"}) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.say(QUESTION)
        await you.press("Остановить", await you.wait_for("⏳ Обдумываю найденное", READ_S))
        await you.wait_for_draft("0,1 % в день", READ_S)
        await you.press("Остановить")
        answer = await you.wait_for(STOPPED, READ_S)
    assert "Информация взята из" in answer.text
    assert answer.text.count("Остановлено") == 1


async def test_in_a_group_the_growing_message_has_a_button_for_who_asked(
    start: Start, llm: LlmServer, with_llm: Variables
) -> None:
    llm.script(LONG)
    async with start(**with_llm) as page, Person(page, YOU, GROUP) as you, Person(page, ANNA, GROUP) as anna:
        await keep(you, "Штраф 0,1 % в день за просрочку оплаты")
        await enter(you, "chat")
        asked = await you.say(f"{ME} Какой штраф?")
        growing = await you.wait_for("0,1 % в день", READ_S, after=asked)
        assert growing.buttons == (("Остановить",),)
        refused = await anna.wait_for_answer(await anna.press("Остановить", growing))
        assert refused.text == "Остановить ответ может тот, кто задал вопрос, или администратор группы."
        await you.press("Остановить", growing)
        answer = await stopped_answer(you, llm)
    assert answer.message_id == growing.message_id
    assert "Остановить" not in str(answer.buttons)
