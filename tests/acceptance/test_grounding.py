"""What an answer says is held against its sources by a second call: it is written again, or loses a statement."""

import json
import re
from pathlib import Path

import pytest

from tests.acceptance.conftest import Start
from tests.acceptance.test_models import ANSWER, QUESTION, Variables, keep_contract
from tests.acceptance.test_whole_way import READ_S
from tests.servers.judging import judge
from tests.servers.llm import Answer, ChatRequest, LlmServer, Streamed
from tests.servers.person import Person
from tests.servers.scripted import HANG, SERVER_ERROR

WRONG = "[+] Штраф составляет 0,1 % от суммы за каждый день [1]. Он не начисляется в праздники [1]."


def refuse_holidays(request: ChatRequest) -> str:
    """A check that finds nothing about holidays."""
    return judge(request.last, {"праздники": "О праздниках ничего нет."})


async def test_a_statement_that_fails_twice_leaves_the_text_and_one_line_says_so(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.checker = refuse_holidays
    llm.script(Streamed(text=WRONG, pause_s=0.2), WRONG)
    async with start(**with_llm) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.say(QUESTION)
        answer = await you.wait_for("Информация взята из", READ_S)
        answers = [each for each in await you.messages() if "Штраф составляет" in each.text]

    assert answer.text.startswith("Штраф составляет 0,1 % от суммы за каждый день.\n\nУбрал 1 утверждение:")
    assert "праздники" not in answer.text
    assert len(answers) == 1
    assert any("праздники" in draft for draft in you.drafts)
    assert len(llm.checks) == 2
    assert "О праздниках ничего нет." in llm.requests[-1].last


async def test_an_answer_that_is_written_again_shows_the_words_that_carry_it(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.checker = refuse_holidays
    llm.script(WRONG, ANSWER)
    async with start(**with_llm) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.say(QUESTION)
        answer = await you.wait_for("Информация взята из", READ_S)
        await you.press("📄 Договор.md", answer)
        quoted = await you.wait_for("Договор аренды склада", READ_S, after=answer)

    assert "Убрал" not in answer.text
    bold = [each for each in quoted.raw["entities"] if each["type"] == "bold"]
    assert len(bold) == 2  # the source's name, and the words


def nonsense(_: ChatRequest) -> Answer:
    """No judgement of anything."""
    return json.dumps({"statements": []})


@pytest.mark.parametrize("checker", [lambda _: SERVER_ERROR, lambda _: HANG, nonsense, lambda _: "not JSON"])
async def test_a_checker_that_is_away_or_talks_nonsense_leaves_the_answer(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path, checker: object
) -> None:
    llm.checker = checker  # type: ignore[assignment]  # a table of replies
    llm.script(ANSWER)
    async with start(**with_llm | {"LLM_TIMEOUT_SECONDS": "3"}) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.say(QUESTION)
        answer = await you.wait_for("Информация взята из", READ_S)
    assert answer.text.startswith("Штраф составляет 0,1 %")


@pytest.mark.parametrize("setting", ["rules", "off"])
async def test_no_check_is_asked_for_where_the_setting_wants_none(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path, setting: str
) -> None:
    llm.script(ANSWER)
    async with start(ANSWER_CHECK=setting, **with_llm) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.say(QUESTION)
        await you.wait_for("Информация взята из", READ_S)
    assert llm.checks == []


async def test_the_checker_sees_the_cited_facts_and_nothing_else(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.script(ANSWER)
    async with start(CHECKER_MODEL="judge", **with_llm) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.say(QUESTION)
        await you.wait_for("Информация взята из", READ_S)
    (check,) = llm.checks
    assert check.model == "judge"
    assert re.findall(r"source=(\d+)", check.last) == ["1"]
    assert QUESTION in check.last
