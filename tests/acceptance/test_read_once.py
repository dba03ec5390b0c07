"""Documents that were read for a request are not read for it again, also after a restart; and the whole base is read
for a question of all documents when the planner's model is away."""

import json
from pathlib import Path

from pydantic import ValidationError

from rag.execution.wire import Certainty, IterationReply, IterationRequest, NewFact, RowsRequest
from tests.acceptance.conftest import Start
from tests.acceptance.test_models import Variables
from tests.acceptance.test_rows import NAMES, QUESTION, plan, reply
from tests.acceptance.test_whole_way import READ_S, enter
from tests.material.contracts import documents
from tests.servers.llm import Answer, ChatRequest, LlmServer
from tests.servers.person import Person
from tests.servers.scripted import refusal

PLANNER = "planner-that-is-away"


def count(request: ChatRequest) -> str:
    """The same rows, counted for another question."""
    return json.dumps({**json.loads(plan(request)), "question": "Сколько договоров?"}, ensure_ascii=False)


def rows_asked(llm: LlmServer) -> int:
    """How often a model was asked for rows."""

    def is_for_rows(request: ChatRequest) -> bool:
        try:
            return bool(RowsRequest.model_validate_json(request.last))
        except ValidationError:
            return False

    return sum(map(is_for_rows, llm.requests))


async def put_in(you: Person, folder: Path) -> None:
    for name in NAMES:
        (folder / name).write_text(documents()[name], encoding="utf-8")
    await enter(you, "base")
    await you.send_files([folder / name for name in NAMES])
    await you.wait_for(f"в базе {len(NAMES)}", READ_S)
    await enter(you, "chat")


async def test_a_count_after_a_list_reads_nothing_again_even_after_a_restart(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.planner, llm.reply = plan, reply
    async with start(**with_llm) as page, Person(page) as you:
        await put_in(you, tmp_path)
        await you.say(QUESTION)
        await you.wait_for("Прочитано 3 из 3 документов", READ_S)
    asked, llm.planner = rows_asked(llm), count
    async with start(**with_llm) as page, Person(page) as you:
        await you.say("Сколько всего договоров?")
        answer = await you.wait_for("взято из памяти", READ_S)
    assert "Из них 3 прочитаны раньше" in answer.text
    assert asked == 1  # the three share a call
    assert rows_asked(llm) == asked


def read_all(request: ChatRequest) -> Answer:
    """The planner's model is away; the other reads documents, a fact each, and writes the answer."""
    if request.model == PLANNER:
        return refusal(503, {"error": {"message": "The model is overloaded"}})
    try:
        asked = IterationRequest.model_validate_json(request.last)
    except ValidationError:
        return "[+] Сроки оплаты разные [1] [2]."
    chunk = asked.document_context[0]
    fact = NewFact(fact=chunk.chunk_text[:200], certainty=Certainty.HIGH, reasoning=chunk.chunk_id)
    return IterationReply(
        answer="", reasoning="", new_facts=(fact,), updated_facts=(), can_answer=True
    ).model_dump_json()


async def test_without_any_model_documents_with_the_words_are_counted_and_nothing_else(
    start: Start, tmp_path: Path
) -> None:
    async with start() as page, Person(page) as you:
        await put_in(you, tmp_path)
        question = await you.say("Сколько договоров с Ромашкой?")
        await you.press("По всем документам", await you.wait_for("Информация взята из", after=question))
        answer = await you.wait_for("Найдено в документах: [1-3] из 3", READ_S)
    assert "а не подсчёт" in answer.text
