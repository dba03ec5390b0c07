"""What was read once costs no call again, and what has changed is read anew: whole readings with a scripted model."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from domain.errors import DatabaseAway, DatabaseTrouble
from domain.ids import BaseId, DocumentId
from rag.execution.facts import FactsPayload
from rag.execution.iterative_tool import ReadAllArguments, ReadDocuments
from rag.execution.rows_tool import CollectRows
from rag.execution.tables import RowsArguments
from rag.execution.tools import ReplyCache, Run, RunLimits, ToolContext, wording
from rag.execution.wire import IterationReply, IterationRequest
from rag.ports import ModelAway
from rag.records import DocumentsRead, KeptReading
from tests.fakes.clerk import ClerkModel
from tests.fakes.reading import PROMPTS, WORDINGS, Memory, ReadingModel, Shelf, turn
from tests.material.contracts import TRUTH, documents
from tests.unit.rag.execution.test_iterative_tool import copies, statements

TEXTS = {f"Договор {number}": [f"Цена услуг {number}00 рублей."] for number in range(1, 14)}
CONTRACTS = {name: text.split("\n\n") for name, text in documents().items()}


async def read(
    texts: Mapping[str, list[str]],
    model: ReadingModel,
    memory: Memory,
    question: str = "Какая цена услуг?",
    **more: object,
) -> FactsPayload:
    shelf = Shelf(texts)
    tool = ReadDocuments(shelf, shelf, shelf, model, PROMPTS, WORDINGS, prompt_tokens=6000, memory=memory)
    arguments = ReadAllArguments.model_validate({"question": question, "exhaustive": True, **more})
    return await tool.run(arguments, turn())


def calls(model: ReadingModel) -> tuple[int, int]:
    """How often a part was read, and what was put together."""
    return len(model.requests), len(model.syntheses)


async def test_the_same_question_again_asks_no_model_and_finds_the_same() -> None:
    memory, second = Memory(), ReadingModel(copies)
    before = await read(TEXTS, ReadingModel(copies), memory)
    after = await read(TEXTS, second, memory)
    assert calls(second) == (0, 0)
    assert statements(after) == statements(before)
    assert after.documents == DocumentsRead(read=13, total=13, remembered=13)


async def test_case_and_signs_of_a_question_do_not_matter() -> None:
    memory, second, few = Memory(), ReadingModel(copies), ["Договор 1", "Договор 2"]
    await read(TEXTS, ReadingModel(copies), memory, documents=few)
    await read(TEXTS, second, memory, "какая  цена услуг", documents=few)
    assert calls(second) == (0, 0)


async def test_only_a_new_document_is_read() -> None:
    memory, second = Memory(), ReadingModel(copies)
    await read(TEXTS, ReadingModel(copies), memory)
    after = await read({**TEXTS, "Новый": ["Цена услуг 5500 рублей."]}, second, memory)
    assert [request.document_context[0].chunk_text for request in second.requests] == ["Цена услуг 5500 рублей."]
    assert len(statements(after)) == 14


async def test_what_is_left_after_the_limits_is_read_when_the_question_is_asked_again() -> None:
    memory, arguments = Memory(), ReadAllArguments(question="Какая цена услуг?", exhaustive=True)
    shelf, reads = Shelf(TEXTS), []
    for _ in range(3):
        model = ReadingModel(copies)
        tool = ReadDocuments(shelf, shelf, shelf, model, PROMPTS, WORDINGS, prompt_tokens=6000, memory=memory)
        payload = await tool.run(arguments, turn(run=Run(limits=RunLimits(model_calls=6))))
        assert payload.documents
        reads.append(payload.documents.read)
    assert reads[0] < reads[1] < reads[2] == 13


async def test_a_changed_text_is_read_anew() -> None:
    memory, second = Memory(), ReadingModel(copies)
    await read(TEXTS, ReadingModel(copies), memory, documents=["Договор 3"])
    changed = {**TEXTS, "Договор 3": ["Цена услуг 999 рублей."]}
    assert statements(await read(changed, second, memory, documents=["Договор 3"])) == {"Цена услуг 999 рублей."}


@pytest.mark.parametrize("change", ["question", "model", "base"])
async def test_another_question_another_model_and_another_base_read_for_themselves(change: str) -> None:
    memory, shelf = Memory(), Shelf(TEXTS)
    await read(TEXTS, ReadingModel(copies), memory)
    model = ReadingModel(copies, name="another" if change == "model" else "reading")
    if change == "base":
        memory.kept = {(BaseId("another"), request): kept for (_, request), kept in memory.kept.items()}
    await read(shelf.texts, model, memory, "Какой срок?" if change == "question" else "Какая цена услуг?")  # type: ignore[arg-type]  # lists they are
    assert calls(model) == (13, 1)


class Refused(DatabaseTrouble):
    """The database is there and does not take it."""


@pytest.mark.parametrize("trouble", [DatabaseAway(), Refused()])
async def test_trouble_with_the_memory_costs_nothing_but_the_next_reading(trouble: DatabaseTrouble) -> None:
    payload = await read(TEXTS, ReadingModel(copies), Memory(error=trouble))
    assert len(statements(payload)) == 13


def failing_at_the_end(request: IterationRequest) -> IterationReply:
    if "Конец." in request.document_context[-1].chunk_text:
        raise ModelAway("away")
    return copies(request)


async def test_a_reply_is_kept_with_a_document_that_failed_after_its_first_part() -> None:
    filling = ["Слова о другом. " * 60] * 20
    texts = {"Хороший": ["Цена услуг 200 рублей."], "Сбойный": ["Цена услуг 100 рублей.", *filling, "Конец."]}
    memory = Memory()
    payload = await read(texts, ReadingModel(failing_at_the_end), memory)
    assert payload.documents == DocumentsRead(read=1, total=2, problems=1)
    ((_, entries),) = memory.kept.items()
    assert list(entries.values())[-1].documents == ("Сбойный", "Хороший")


async def collect(
    texts: Mapping[str, list[str]],
    model: ClerkModel,
    memory: Memory,
    context: ToolContext | None = None,
    **more: object,
) -> FactsPayload:
    shelf = Shelf(texts)
    tool = CollectRows(shelf, shelf, shelf, model, PROMPTS, WORDINGS, prompt_tokens=9000, memory=memory)
    arguments = RowsArguments.model_validate({"what": "договор", "columns": ["номер", "цена"], **more})
    return await tool.run(arguments, context or turn())


async def test_a_count_after_a_list_asks_no_model() -> None:
    memory, second = Memory(), ClerkModel()
    await collect(CONTRACTS, ClerkModel(), memory, turn("Перечисли все договоры"), sort_by="цена")
    payload = await collect(CONTRACTS, second, memory, turn("А сколько их всего?"), aggregate="count")
    assert second.requests == []
    assert payload.facts[0].text == f"Всего (договор): {TRUTH.contracts}"
    assert payload.documents == DocumentsRead(read=30, total=30, without_data=2, remembered=30)


async def test_rows_of_an_unchanged_document_are_not_asked_for_when_another_has_changed() -> None:
    memory, second = Memory(), ClerkModel()
    await collect(CONTRACTS, ClerkModel(), memory)
    name, text = next(iter(CONTRACTS.items()))
    await collect({**CONTRACTS, name: [*text, "Приложение."]}, second, memory)
    assert {chunk.document for request in second.requests for chunk in request.document_context} == {name}


async def test_documents_that_went_together_go_together_again_when_others_come() -> None:
    memory, second = Memory(), ClerkModel()
    few = RunLimits(model_calls=12)
    await collect(CONTRACTS, ClerkModel(), memory, turn(run=Run(limits=few)))
    await collect({**CONTRACTS, "Новый": ["Слова."]}, second, memory, turn(run=Run(limits=few)))
    assert [chunk.document for request in second.requests for chunk in request.document_context] == ["Новый"]


async def test_other_columns_are_read_for_themselves() -> None:
    memory, second = Memory(), ClerkModel()
    await collect(CONTRACTS, ClerkModel(), memory)
    await collect(CONTRACTS, second, memory, columns=["номер", "срок оплаты"])
    assert len({chunk.document for request in second.requests for chunk in request.document_context}) == 30


def kept(key: str, *names: str) -> KeptReading:
    return KeptReading(key=key, documents=tuple(map(DocumentId, names)), content="{}")


def test_a_sequence_is_recalled_as_far_as_all_of_it_is_there() -> None:
    readings = [kept("1", "а"), kept("2", "а", "б"), kept("3", "а", "б", "в"), kept("4", "г")]
    recalled = ReplyCache(base=BaseId("b"), request="", kept={each.key: each for each in readings})
    assert recalled.read_together([DocumentId(each) for each in "абвг"]) == [("а", "б", "в"), ("г",)]
    assert recalled.read_together([DocumentId(each) for each in "габ"]) == [("г",), ("а", "б")]
    assert recalled.read_together([DocumentId(each) for each in "габ"], most=1) == [("а", "б")]


def test_a_reply_that_does_not_fit_any_more_is_none() -> None:
    odd = replace(kept("1", "а"), content="{}")
    recalled = ReplyCache(base=BaseId("b"), request="", kept={"1": odd})
    assert recalled.get("1", ReadAllArguments) is None
    assert recalled.get("2", ReadAllArguments) is None


def test_names_that_differ_by_signs_stay_apart() -> None:
    assert wording(" Что о C++? ") == wording("что о c++") != wording("что о C#")
