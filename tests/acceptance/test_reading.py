"""Documents that are read one by one, and two that contradict each other: what the person sees at the end."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from rag.execution.wire import IterationRequest
from tests.acceptance.conftest import Start
from tests.acceptance.test_models import Variables
from tests.acceptance.test_steps import lists_of
from tests.acceptance.test_whole_way import READ_S, enter
from tests.fakes.price_reader import read_price
from tests.servers.llm import ChatRequest, LlmServer
from tests.servers.person import Person, Seen

QUESTION = "Сколько стоит абонемент во всех документах?"
AGREED: Mapping[str, str] = {
    "Прайс зала.txt": "Цены зала\n\nАбонемент стоит 180 рублей.\n",
    "Письмо.txt": "Здравствуйте!\n\nНапоминаем, что абонемент стоит 180 рублей.\n",
    "Правила.txt": "Правила зала\n\nПолотенца выдают на входе.\n",
}
DISPUTED: Mapping[str, str] = {
    "Прайс новый.txt": "Прайс-лист от 1 марта 2025 г.\n\nАбонемент стоит 180 рублей.\n",
    "Прайс старый.txt": "Прайс-лист\n\nг. Тверь, 15.01.2024\n\nАбонемент стоит 150 рублей.\n",
    "Правила.txt": "Правила зала\n\nПолотенца выдают на входе.\n",
}
BOTH = """\
Документы расходятся:

• Прайс новый.txt (от 01.03.2025): Абонемент стоит 180 рублей.
• Прайс старый.txt (от 15.01.2024): Абонемент стоит 150 рублей."""


def plan(request: ChatRequest) -> str:
    """Read them all."""
    step = {
        "id": "read",
        "action": "read_documents",
        "params": {"question": QUESTION, "documents": None, "exhaustive": True},
    }
    wanted = {"question": QUESTION, "kind": "iterative", "intents": ["GENERAL_UNSTRUCTURED"], "steps": [step]}
    return json.dumps({**wanted, "confidence": 0.9}, ensure_ascii=False)


def reply(request: ChatRequest) -> str:
    """Of the reader for documents; the writer tells one side alone. Fact 1 is the summary, which has no source."""
    try:
        return read_price(IterationRequest.model_validate_json(request.last)).model_dump_json()
    except ValidationError:
        return "[+] Абонемент стоит 180 рублей [2]."


async def ask(you: Person, folder: Path, texts: Mapping[str, str]) -> Seen:
    """Keep these, and ask."""
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    await enter(you, "base")
    await you.send_files([folder / name for name in texts])
    await you.wait_for(f"в базе {len(texts)}", READ_S)
    await enter(you, "chat")
    await you.say(QUESTION)
    return await you.wait_for("Прочитано", READ_S)


async def test_documents_are_read_one_by_one_before_the_persons_eyes(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.planner, llm.reply = plan, reply
    async with start(**with_llm) as page, Person(page) as you:
        answer = await ask(you, tmp_path, AGREED)
        shown = "\n".join(lists_of(you))
    assert "⏳ Читаю документы" in shown
    assert answer.text.startswith("Абонемент стоит 180 рублей.")
    assert "Прочитано 3 из 3 документов; в 1 данных нет." in answer.text
    assert "Информация взята из" in answer.text
    assert "расходятся" not in answer.text


async def test_a_contradiction_is_told_with_both_sources_and_the_days_in_their_texts(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    llm.planner, llm.reply = plan, reply
    async with start(**with_llm) as page, Person(page) as you:
        answer = await ask(you, tmp_path, DISPUTED)
    assert BOTH in answer.text
    _, _, sources = answer.text.partition("Информация взята из")
    assert all(name in sources for name in ("Прайс новый.txt", "Прайс старый.txt"))


SECTION = "Раздел рассказывает о работе отдела за год и о том, что в нём изменилось. " * 12
TOLD = "[+] Склад застраховали на 40 млн руб. [1]."


def choose_or_tell(request: ChatRequest) -> str:
    """Chooses the 28th department by its number in the contents, and a section that there is not."""
    if (line := re.search(r"^(\d+)\. .*Отдел 28", request.last, re.MULTILINE)) and "# Contents" in request.last:
        return json.dumps({"sections": [int(line[1]), 900]})
    return TOLD


async def test_a_long_document_is_read_by_its_contents(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    """The plan names document and question, code makes the contents, the model chooses of them; what is chosen is
    read from the database and nothing else of the document reaches the answer. No word of the question is there."""
    told = {28: "Имущество: хранилище защищено полисом на 40 млн руб."}
    report = "\n\n".join(f"## {n}. Отдел {n}\n\n{told.get(n, '')}\n\n{SECTION}" for n in range(1, 41))
    path = tmp_path / "Годовой отчёт.md"
    path.write_text(f"# Годовой отчёт\n\n{report}\n", encoding="utf-8")
    question = "На сколько застрахован склад?"
    reading = {"tool": "read_document", "args": {"document": "Годовой отчёт", "about": question}}
    plan = {"question": question, "intents": ["GENERAL_UNSTRUCTURED"], "tool_calls": [reading], "confidence": 0.9}
    llm.planner = lambda _: json.dumps(plan, ensure_ascii=False)
    llm.reply = choose_or_tell
    async with start(**with_llm) as page, Person(page) as you:
        await enter(you, "base")
        await you.wait_for("✅", READ_S, after=await you.send_file(path))
        await enter(you, "chat")
        answer = await you.wait_for("Информация", READ_S, after=await you.say(question))
    choosing, writing = llm.requests
    assert "\n28. 28. Отдел 28\n" in choosing.last
    assert "полисом" not in choosing.last
    assert "полисом на 40 млн" in writing.last
    assert "Отдел 5" not in writing.last
    assert answer.text.startswith("Склад застраховали на 40 млн руб.")
    assert "Годовой отчёт.md" in answer.text
