"""What a question limits the search to reaches the database: the model sees passages of those documents alone."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.acceptance.conftest import Start
from tests.acceptance.test_groups import ME, ask, keep
from tests.acceptance.test_models import Variables
from tests.acceptance.test_whole_way import READ_S, enter
from tests.servers.llm import ChatRequest, LlmServer
from tests.servers.person import ANNA, GROUP, YOU, Person

QUERY = "срок оплаты аренды"
HERS = "Аренда склада: срок оплаты пятого числа каждого месяца"
MINE = "Аренда гаража: срок оплаты десятого числа каждого месяца"
FILE = "Аренда офиса: срок оплаты двадцатого числа каждого месяца"
ALL = {HERS, MINE, FILE}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One search, limited so."""

    limits: Mapping[str, str]

    def __call__(self, _: ChatRequest) -> str:
        call = {"tool": "rag_db_query", "args": {"query": QUERY, **self.limits}}
        return json.dumps(
            {"question": QUERY, "intents": ["GENERAL_UNSTRUCTURED"], "tool_calls": [call], "confidence": 0.9}
        )


async def fill(anna: Person, you: Person, folder: Path) -> None:
    """Two notes of two people, and a file."""
    await keep(anna, HERS)
    await keep(you, MINE)
    file = folder / "Смета офиса.md"
    file.write_text(FILE, encoding="utf-8")
    await enter(you, "base")
    await you.send_file(file, caption=ME)
    await you.wait_for("✅ Смета", READ_S)


CASES: tuple[tuple[dict[str, str], set[str]], ...] = (
    ({}, ALL),
    ({"sender": "анна"}, {HERS}),
    ({"author": "анна"}, {HERS}),  # a note that nobody else has written
    ({"sender": "asker"}, {MINE, FILE}),
    ({"source": "file"}, {FILE}),
    ({"document": "офис"}, {FILE}),
    ({"since": "2020-01-01", "source": "note"}, {HERS, MINE}),
    ({"until": "2020-01-01"}, ALL),  # what leaves nothing is a limit that the planner may have got wrong
)


async def test_the_model_sees_what_the_question_is_limited_to(
    start: Start, llm: LlmServer, with_llm: Variables, tmp_path: Path
) -> None:
    shown = []
    async with start(**with_llm) as page, Person(page, ANNA, GROUP) as anna, Person(page, YOU, GROUP) as you:
        await fill(anna, you, tmp_path)
        for limits, _ in CASES:
            llm.planner = Plan(limits=limits)
            llm.script("[0] Не знаю.")
            await ask(you, QUERY)
            shown.append((limits, {text for text in ALL if text in llm.requests[-1].last}))
    assert shown == list(CASES)
    above = {text: llm.requests[-1].last.rpartition(text)[0].rpartition("Document: ")[2] for text in ALL}
    assert {text: "Sent by: Анна" in heading for text, heading in above.items()} == {
        HERS: True,
        MINE: False,
        FILE: False,
    }
    assert all("Sent by: " in heading for heading in above.values())
    assert "Within the limits (until: 2020-01-01) this search found nothing." in llm.requests[-1].last
