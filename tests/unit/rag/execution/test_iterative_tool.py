"""`read_documents`: the whole way from a question to facts, with a scripted model."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.execution.facts import FactKind, FactsPayload
from rag.execution.facts_block import build_block
from rag.execution.iterative_tool import ReadAllArguments, ReadDocuments
from rag.execution.tools import Run, RunLimits, StepFailed, ToolContext
from rag.execution.wire import (
    CONTRADICTS,
    Certainty,
    IterationReply,
    IterationRequest,
    NewFact,
    SynthesisReply,
    SynthesisRequest,
    UpdatedFact,
)
from rag.ports import ModelAway
from rag.records import DocumentsRead
from tests.fakes.reading import FIRST_DAY, PROMPTS, WORDINGS, ReadingModel, Shelf, repeat, turn

PRICES = Shelf({f"Договор {number}": [f"Цена услуг {number}00 рублей."] for number in range(1, 8)})
NOTHING = IterationReply(answer="", reasoning="", new_facts=(), updated_facts=(), can_answer=False)


def copies(request: IterationRequest) -> IterationReply:
    """Every chunk is a fact, and that is enough."""
    facts = tuple(
        NewFact(fact=chunk.chunk_text, certainty=Certainty.HIGH, reasoning=chunk.chunk_id)
        for chunk in request.document_context
    )
    answer = " ".join(fact.fact for fact in facts)
    return IterationReply(answer=answer, reasoning="", new_facts=facts, updated_facts=(), can_answer=True)


def tool(shelf: Shelf, model: ReadingModel, *, prompt_tokens: int = 6000) -> ReadDocuments:
    return ReadDocuments(shelf, shelf, shelf, model, PROMPTS, WORDINGS, prompt_tokens=prompt_tokens)


async def read(
    shelf: Shelf, model: ReadingModel, context: ToolContext | None = None, **arguments: object
) -> FactsPayload:
    wanted = ReadAllArguments.model_validate({"question": "Какая цена услуг?", **arguments})
    return await tool(shelf, model).run(wanted, context or turn())


def statements(payload: FactsPayload) -> set[str]:
    return {fact.text for fact in payload.facts if fact.kind is FactKind.STATEMENT}


async def test_every_document_is_read_and_every_fact_has_its_source() -> None:
    payload = await read(PRICES, ReadingModel(copies), exhaustive=True)
    assert statements(payload) == {f"Цена услуг {number}00 рублей." for number in range(1, 8)}
    assert all(fact.passage and fact.passage.passage.text == fact.text for fact in payload.facts if fact.title)
    assert payload.documents == DocumentsRead(read=7, total=7)


async def test_the_request_is_the_seeds_own_json() -> None:
    model = ReadingModel(copies)
    await read(PRICES, model, documents=["Договор 1"])
    request = model.requests[0].model_dump()
    assert list(request) == [
        "task", "question", "document_context", "previous_facts", "previous_answer", "dialog_history",
    ]  # fmt: skip
    assert request["document_context"] == ({"chunk_id": "c0", "chunk_text": "Цена услуг 100 рублей."},)


async def test_facts_and_the_answer_are_carried_from_document_to_document() -> None:
    model = ReadingModel(copies)
    await read(PRICES, model, documents=["Договор 1", "Договор 2"])
    second = model.requests[1]
    assert [(fact.id, fact.fact) for fact in second.previous_facts] == [("f1", "Цена услуг 100 рублей.")]
    assert second.previous_answer == "Цена услуг 100 рублей."


async def test_reading_stops_when_it_is_enough() -> None:
    shelf = Shelf(PRICES.texts, found=("Договор 3", "Договор 1"))
    payload = await read(shelf, ReadingModel(copies))
    assert payload.documents == DocumentsRead(read=1, total=2, chosen_from=7)
    assert payload.coverage == 1.0


async def test_several_groups_are_put_together_by_one_more_call() -> None:
    model = ReadingModel(copies)
    payload = await read(PRICES, model, exhaustive=True)
    assert len(model.requests) == 7
    assert len(model.syntheses) == 1
    assert len(model.syntheses[0].facts) == 7
    assert payload.facts[0].kind is FactKind.VALUE


async def test_an_answer_with_a_number_of_its_own_is_held_against_the_passages() -> None:
    def sums(request: IterationRequest) -> IterationReply:
        return copies(request).model_copy(update={"answer": "Всего 4242 рубля"})

    payload = await read(PRICES, ReadingModel(sums), documents=["Договор 1"])
    assert statements(payload) == {"Цена услуг 100 рублей."}
    block = build_block(payload.facts, tokens=1_000)
    assert "4242" in block.text
    assert not any("4242" in said for said in block.said)
    assert all("100" in said for said in block.said)


async def test_documents_without_data_and_failures_are_counted() -> None:
    def odd(request: IterationRequest) -> IterationReply:
        text = request.document_context[0].chunk_text
        if "400" in text:
            raise ModelAway("no answer")
        return NOTHING if "500" in text else copies(request)

    payload = await read(PRICES, ReadingModel(odd), exhaustive=True)
    assert payload.documents == DocumentsRead(read=6, total=7, without_data=1, problems=1)


async def test_a_model_that_fails_everywhere_fails_the_step() -> None:
    def away(request: IterationRequest) -> IterationReply:
        raise ModelAway("no answer")

    with pytest.raises(StepFailed):
        await read(PRICES, ReadingModel(away), exhaustive=True)


async def test_contradicting_documents_are_named_newest_first() -> None:
    shelf = Shelf({"Договор": ["Цена услуг 100 рублей."], "Письмо": ["Цена услуг 150 рублей."]})

    def contradicts(request: IterationRequest) -> IterationReply:
        if not request.previous_facts:
            return copies(request)
        said = UpdatedFact(id="f1", fact="Цена услуг 150 рублей", certainty=CONTRADICTS, reasoning="")
        return copies(request).model_copy(update={"updated_facts": (said,)})

    payload = await read(shelf, ReadingModel(contradicts), documents=["Договор", "Письмо"])
    assert [claim.passage.title for claim in payload.conflicts[0].claims] == ["Письмо", "Договор"]
    told = [fact.text for fact in payload.facts if fact.text.startswith("Документы расходятся")]
    assert ["150" in told[0], "100" in told[1]] == [True, True]
    assert statements(payload) == {"Цена услуг 150 рублей."}


def opposes(
    certain: str, reasoning: str = "{id}: «Цена услуг 700 рублей»"
) -> Callable[[SynthesisRequest], SynthesisReply]:
    """The fact of 100 roubles is contradicted by that of `certain`."""

    def synthesis(request: SynthesisRequest) -> SynthesisReply:
        ids = {fact.fact: fact.id for fact in request.facts}
        old, new = ids["Цена услуг 100 рублей."], ids["Цена услуг 700 рублей."]
        said = UpdatedFact(id=old, fact=certain, certainty=CONTRADICTS, reasoning=reasoning.format(id=new))
        return repeat(request).model_copy(update={"updated_facts": (said,)})

    return synthesis


async def test_groups_that_contradict_each_other_are_named_with_both_sources_and_dates() -> None:
    payload = await read(PRICES, ReadingModel(copies, opposes("Цена услуг 700 рублей")), exhaustive=True)
    (conflict,) = payload.conflicts
    assert [(each.passage.title, each.value, each.dated) for each in conflict.claims] == [
        ("Договор 7", "Цена услуг 700 рублей", FIRST_DAY + timedelta(days=6)),
        ("Договор 1", "Цена услуг 100 рублей.", FIRST_DAY),
    ]
    assert "Цена услуг 100 рублей." not in statements(payload)
    told = [fact for fact in payload.facts if fact.text.startswith("Документы расходятся")]
    assert [fact.passage.passage.title for fact in told if fact.passage] == ["Договор 7", "Договор 1"]
    assert len(statements(payload)) == 6


LONG = Shelf(
    {
        f"Устав {number}": [
            f"{'Подробности. ' * 20}{thing} {number}{place}: значение {number * 100 + place}."
            for place, thing in enumerate(("Цена", "Срок", "Вес", "Адрес", "Счёт", "Доля"))
        ]
        for number in range(1, 8)
    }
)


async def test_what_was_not_compared_is_told() -> None:
    wanted = ReadAllArguments(question="Какая цена?", exhaustive=True)
    model = ReadingModel(copies)
    await tool(LONG, model, prompt_tokens=4500).run(wanted, turn())
    run = Run(limits=RunLimits(model_calls=len(model.requests) + 1))  # one for the synthesis
    payload = await tool(LONG, model, prompt_tokens=4500).run(wanted, turn(run=run))
    assert payload.documents is not None
    count = payload.documents.uncompared
    assert count > 0
    assert any(
        fact.text.startswith(f"Утверждений, не сверенных с другими документами: {count}") for fact in payload.facts
    )


async def test_a_contradiction_that_no_other_fact_bears_out_is_not_believed() -> None:
    payload = await read(PRICES, ReadingModel(copies, opposes("Цена услуг 4242 рубля")), exhaustive=True)
    assert (payload.conflicts, len(statements(payload))) == ((), 7)


async def test_the_person_hears_how_far_it_is_and_keeps_what_is_known() -> None:
    heard: list[tuple[int, int]] = []
    run = Run(report=lambda step, *read: heard.append(read))
    await read(PRICES, ReadingModel(copies), turn(run=run), documents=["Договор 1", "Договор 2"])
    assert heard == [(1, 2), (2, 2)]
    assert statements(run.kept["read"]) == {"Цена услуг 100 рублей.", "Цена услуг 200 рублей."}


async def test_what_is_known_is_told_when_the_person_has_had_enough() -> None:
    run = Run(stop=asyncio.Event())

    def stops(request: IterationRequest) -> IterationReply:
        run.stop.set()
        return copies(request)

    payload = await read(PRICES, ReadingModel(stops), turn(run=run), documents=["Договор 1", "Договор 2"])
    assert payload.documents == DocumentsRead(read=1, total=2)
    assert statements(payload) == {"Цена услуг 100 рублей."}


@given(calls=st.integers(1, 12), tokens=st.integers(0, 60_000), texts=st.integers(1, 9))
async def test_no_limit_of_the_turn_and_of_a_prompt_is_exceeded(calls: int, tokens: int, texts: int) -> None:
    run = Run(limits=RunLimits(model_calls=calls, tokens=tokens))
    shelf = Shelf({f"Том {number}": [f"Глава {number} о цене. " * 60] * 6 for number in range(texts)})
    model = ReadingModel(copies)
    await tool(shelf, model, prompt_tokens=4500).run(
        ReadAllArguments(question="Какая цена?", exhaustive=True), turn(run=run)
    )
    assert len(model.sizes) <= calls
    assert run.usage.prompt_tokens + run.usage.answer_tokens <= tokens
    assert max(model.sizes, default=0) <= 4500
