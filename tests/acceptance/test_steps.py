"""A question that takes several steps: the live list, what came of it, stopping, a step that fails."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.acceptance.conftest import Start
from tests.acceptance.test_models import Variables, keep_contract
from tests.acceptance.test_whole_way import READ_S
from tests.servers.llm import ChatRequest, LlmServer, Streamed
from tests.servers.person import Person

QUESTION = "Почему нам начислили штраф?"
ANSWER = "[+] Оплата просрочена: штраф 0,1 % в день [1]."
FINDING = {"findings": [{"statement": "Штраф берут за просрочку оплаты.", "materials": [1]}], "missing": []}


def diagnose(request: ChatRequest) -> str:
    """A plan that names the kind alone: the strategy is the program's."""
    return json.dumps(
        {"question": QUESTION, "kind": "diagnostic", "intents": ["GENERAL_UNSTRUCTURED"], "confidence": 0.9}
    )


def analysis(*queries: str, enough: bool) -> str:
    return json.dumps({**FINDING, "queries": queries, "enough": enough}, ensure_ascii=False)


def lists_of(you: Person) -> Sequence[str]:
    """Every state of the live list that was shown."""
    return [seen.text for seen in you.seen if seen.text.startswith("Разбираюсь по шагам:")]


async def test_the_steps_are_shown_as_they_run_and_the_list_goes(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.planner = diagnose
    llm.script(Streamed(text=analysis("срок оплаты", enough=False), pause_s=1), analysis(enough=True), ANSWER)
    async with start(**with_llm) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.say(QUESTION)
        answer = await you.wait_for("Информация взята из", READ_S)
        left = [seen.text for seen in await you.messages()]
    assert answer.text.startswith("Оплата просрочена: штраф 0,1 % в день.")
    assert f"Ищу «{QUESTION}»" in lists_of(you)[0]
    assert not [text for text in left if text.startswith("Разбираюсь")]
    assert "Штраф берут за просрочку оплаты." in llm.requests[-1].last


async def test_stopped_it_answers_from_what_is_known(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.planner = diagnose
    llm.script(Streamed(text=analysis(enough=True), pause_s=20), ANSWER)
    async with start(**{**with_llm, "LLM_TIMEOUT_SECONDS": "60"}) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.say(QUESTION)
        shown = await you.wait_for("⏳ Обдумываю найденное", READ_S)
        await you.wait_for_answer(await you.press("Остановить", shown))
        answer = await you.wait_for("Информация взята из", READ_S)
    assert "Остановлено по вашей просьбе" in answer.text
    assert "Не получилось" not in answer.text


async def test_a_step_that_fails_is_named_and_the_rest_answers(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.planner = diagnose
    llm.script("это не JSON", "и это не JSON", ANSWER)
    async with start(**with_llm) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.say(QUESTION)
        answer = await you.wait_for("Информация взята из", READ_S)
    assert "Не получилось: Обдумываю найденное. Ответ без этого неполный." in answer.text
