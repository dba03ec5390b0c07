"""Rows of several documents, from the question to the table as a file: the model only reads, code counts."""

import json
from io import BytesIO
from pathlib import Path

from pydantic import ValidationError
from python_calamine import load_workbook

from rag.execution.wire import RowsRequest
from tests.acceptance.conftest import Start
from tests.acceptance.test_models import Variables
from tests.acceptance.test_whole_way import READ_S, enter
from tests.fakes.clerk import read_contract
from tests.material.contracts import documents
from tests.servers.llm import ChatRequest, LlmServer
from tests.servers.person import Person

QUESTION = "Перечисли все договоры и сроки оплаты"
NAMES = ("Договор 1-2024.txt", "Договор 7-2025.txt", "Письмо об оплате.txt")
ANSWER = "[+] Договоров два. По № 7/2025 документы расходятся: 60 дней по письму, 30 дней по договору [1] [2]."
COLLECT = {
    "what": "договор",
    "columns": ["номер", "срок оплаты"],
    "aggregate": "count",
    "sort_by": "номер",
    "order": "asc",
}


def plan(request: ChatRequest) -> str:
    """Rows of every document."""
    rest = dict.fromkeys(("documents", "where", "group_by", "of"))
    step = {"id": "rows", "action": "collect_rows", "params": {**rest, "changes": False, **COLLECT}}
    wanted = {"question": QUESTION, "kind": "analytical", "intents": ["GENERAL_UNSTRUCTURED"], "steps": [step]}
    return json.dumps({**wanted, "render_style": "TABLE", "confidence": 0.9}, ensure_ascii=False)


def reply(request: ChatRequest) -> str:
    """Of the clerk for rows, of the writer for the rest."""
    try:
        return read_contract(RowsRequest.model_validate_json(request.last)).model_dump_json()
    except ValidationError:
        return ANSWER


async def test_rows_are_counted_stamped_and_handed_over_as_a_file(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    for name in NAMES:
        (tmp_path / name).write_text(documents()[name], encoding="utf-8")
    llm.planner, llm.reply = plan, reply
    async with start(**with_llm) as page, Person(page) as you:
        await enter(you, "base")
        await you.send_files([tmp_path / name for name in NAMES])
        await you.wait_for(f"в базе {len(NAMES)}", READ_S)
        await enter(you, "chat")
        await you.say(QUESTION)
        answer = await you.wait_for("Прочитано 3 из 3 документов", READ_S)
        await you.press("XLSX", answer)
        sent = await you.wait_for(lambda seen: seen.is_bot and "document" in seen.raw, READ_S)
        _, *rows = load_workbook(BytesIO(await you.download(sent))).get_sheet_by_index(0).to_python()
    assert "60 дней" in answer.text
    assert [row[0] for row in rows] == ["№ 1/2024", "№ 7/2025"]
    assert any(name.removesuffix(".txt") in str(rows[1]) for name in NAMES[1:])
