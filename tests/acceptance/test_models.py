"""The whole way with a chat model and Jina: what they are sent, and what the person sees when they fail."""

import re
from pathlib import Path

import pytest

from tests.acceptance.conftest import Start
from tests.acceptance.test_whole_way import READ_S, enter
from tests.servers.jina import JinaServer, count_tokens
from tests.servers.llm import Ending, LlmServer, Streamed
from tests.servers.person import Person
from tests.servers.scripted import BROKEN_JSON, HANG, Scripted, refusal, too_many_requests

CONTRACT = "Договор аренды склада\n\nШтраф за просрочку оплаты составляет 0,1 % от суммы за каждый день.\n"
QUESTION = "Какой штраф за просрочку оплаты?"
ANSWER = "[+] Штраф составляет **0,1 %** от суммы за каждый день [1]."
Variables = dict[str, str]


async def keep_contract(you: Person, folder: Path) -> None:
    """Put the contract into the base and go to Чат."""
    contract = folder / "Договор.md"
    contract.write_text(CONTRACT, encoding="utf-8")
    await enter(you, "base")
    await you.send_file(contract)
    await you.wait_for("✅", READ_S)
    await enter(you, "chat")


async def test_an_answer_is_streamed_formatted_and_sourced(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.script(Streamed(text=ANSWER, pause_s=0.2))
    async with start(**with_llm) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.say(QUESTION)
        answer = await you.wait_for("Информация взята из", READ_S)

    assert answer.text.startswith("Штраф составляет 0,1 % от суммы за каждый день.")
    assert answer.text.endswith("📄 Договор.md")
    assert {"type": "bold", "offset": 17, "length": 5} in answer.raw["entities"]
    assert "[" not in answer.text
    assert any("Штраф" in draft for draft in you.drafts)


async def test_the_model_sees_passages_and_the_dialogue(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.script(ANSWER, "[-] За каждый день.")
    async with start(**with_llm) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.say(QUESTION)
        first = await you.wait_for("Информация взята из", READ_S)
        await you.say("А за что именно?")
        await you.wait_for("За каждый день", after=first)

    asked, followed = llm.requests
    assert "0,1 % от суммы за каждый день" in asked.last
    assert [message.role for message in followed.messages] == ["system", "user", "assistant", "user"]
    assert followed.messages[1].content == QUESTION


async def test_general_knowledge_is_labelled_and_has_no_sources(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.script("[0] Столица Франции Париж.")
    async with start(**with_llm) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.say("Столица Франции?")
        answer = await you.wait_for("Париж", READ_S)

    assert answer.text.startswith("Не из вашей базы:")
    assert "Информация взята из" not in answer.text


@pytest.mark.parametrize(
    "trouble",
    [refusal(402, {"error": {"message": "no credits"}}), HANG, BROKEN_JSON],
    ids=["refused", "away", "nonsense"],  # as `integration/adapters/llm/test_failures.py` tells them apart
)
async def test_when_the_model_fails_the_person_gets_quotes(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path, trouble: Scripted
) -> None:
    llm.script(*[trouble] * 8)
    impatient = {"LLM_TIMEOUT_SECONDS": "3"} if trouble is HANG else {}
    async with start(**(with_llm | impatient)) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.say(QUESTION)
        answer = await you.wait_for("Вот что нашлось в базе", READ_S)

    assert "0,1 % от суммы" in answer.text
    assert "📄" in answer.text


async def test_an_answer_cut_in_the_middle_stays_and_says_so(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.script(Streamed(text=ANSWER, ending=Ending.CUT))
    async with start(**with_llm) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await you.say(QUESTION)
        answer = await you.wait_for("оборвался", READ_S)

    assert "0,1 %" in answer.text


async def test_jina_is_asked_by_windows_of_one_document_with_late_chunking(
    start: Start, jina: JinaServer, with_jina: Variables, tmp_path: Path
) -> None:
    book = tmp_path / "Книга.txt"
    paragraphs = [f"Глава {number}. " + "Караван шёл через пустыню к дальнему городу. " * 12 for number in range(150)]
    book.write_text("\n\n".join(paragraphs), encoding="utf-8")
    async with start(**with_jina) as page, Person(page) as you:
        await enter(you, "base")
        await you.send_file(book)
        await you.say("Верблюды отдыхают у колодца")
        await you.wait_for("✅ Книга", READ_S)
        await you.wait_for("✅ Верблюды", READ_S)

    windows = [request for request in jina.embeddings if request.task == "retrieval.passage"]
    assert len(windows) > 2
    assert all(request.late_chunking for request in windows)
    assert all(sum(map(count_tokens, request.input)) <= 8192 for request in windows)
    about = [{bool(re.search("Верблюды", text)) for text in request.input} for request in windows]
    assert all(len(documents) == 1 for documents in about), "a request mixes documents"


async def test_a_question_is_embedded_as_a_query_and_reranked(
    start: Start, jina: JinaServer, with_jina: Variables, tmp_path: Path
) -> None:
    async with start(**with_jina) as page, Person(page) as you:
        await keep_contract(you, tmp_path)
        await enter(you, "base")
        await you.say("Оплата вносится до пятого числа каждого месяца")
        await you.wait_for("✅ Оплата", READ_S)
        await enter(you, "chat")
        await you.say(QUESTION)
        await you.wait_for("Информация взята из", READ_S)

    assert [(r.task, r.late_chunking) for r in jina.embeddings if r.input == [QUESTION]] == [("retrieval.query", False)]
    assert len(jina.reranks) == 1
    assert jina.reranks[0].return_documents is False


@pytest.mark.parametrize(
    "trouble",
    [too_many_requests("1"), BROKEN_JSON],
    ids=["429", "broken json"],
)
async def test_a_document_waits_out_a_trouble_of_jina(
    start: Start, jina: JinaServer, with_jina: Variables, tmp_path: Path, trouble: Scripted
) -> None:
    jina.script(trouble)
    contract = tmp_path / "Договор.md"
    contract.write_text(CONTRACT, encoding="utf-8")
    async with start(**with_jina) as page, Person(page) as you:
        await enter(you, "base")
        await you.send_file(contract)
        await you.wait_for("✅ Договор", READ_S)


async def test_a_refusing_jina_keeps_the_document_and_tells_the_person(
    start: Start, jina: JinaServer, with_jina: Variables, tmp_path: Path
) -> None:
    jina.script(*[refusal(402, {"detail": "no", "code": "AUTHZ_INSUFFICIENT_BALANCE"})] * 3)
    contract = tmp_path / "Договор.md"
    contract.write_text(CONTRACT, encoding="utf-8")
    async with start(**with_jina) as page, Person(page) as you:
        await enter(you, "base")
        await you.send_file(contract)
        await you.wait_for("Документ сохранён, закончу сам и сообщу", READ_S)
