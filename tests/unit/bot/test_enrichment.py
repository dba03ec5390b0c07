"""What of a model's reading is taken: nothing that does not stand in the part. What models cost for reading is charged
to the documents that were read.
"""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from adapters.llm.structured import read_record
from adapters.names import NameForms
from bot.enrichment import ReadableText, ReadEntity, ReadFact, ReadPart, charged, checked
from domain.ids import BaseId, DocumentId
from domain.names import Relation
from ingestion.entities.records import EntityType, Extract
from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.records import ClaimedDocument
from ingestion.worker import next_attempt_in_s
from rag.metering import ask_leave, note_cost, note_usage
from tests.fakes.ingestion import ScriptedPipeline, claimed, note

NAMES = NameForms()
TEXT = "В Алоре Дмитрий внедрил RAG\nи сократил время ответа на 40 %."


def answer(*quotes: str, name: str = "АЛОР Брокер", alias: str = "Алоре") -> ReadPart:
    return ReadPart(
        entities=[ReadEntity(name=name, type=EntityType.PROJECT, aliases=[alias])],
        facts=[ReadFact(entity=name, relation=Relation.PROJECT_ACHIEVEMENTS, quote=quote) for quote in quotes],
    )


def read(answer: ReadPart, text: str = TEXT, *, start: int = 0, known: tuple[str, ...] = ()) -> Extract:
    return checked(answer, ReadableText(text, NAMES), start=start, known=known)


def test_a_fact_is_its_quotation_and_stands_where_it_stands() -> None:
    (fact,) = read(answer("внедрил RAG и сократил время"), start=100).statements
    assert fact.text == "внедрил RAG и сократил время"
    assert fact.at == 100 + TEXT.index("внедрил")


def test_what_does_not_stand_in_the_part_is_thrown_away() -> None:
    assert read(answer("сократил время на 60 %", "", "  ")).statements == ()


def test_a_name_that_does_not_stand_there_needs_to_be_known() -> None:
    made_up = answer("внедрил RAG", name="Ромашка", alias="Лютик")
    assert read(made_up).mentions == ()
    (mention,) = read(made_up, known=("Ромашка",)).mentions
    assert mention.forms == ()


def test_a_fact_of_nobody_is_thrown_away() -> None:
    part = ReadPart(facts=[ReadFact(entity="Кто-то", relation=Relation.CONTACTS, quote="внедрил RAG")])
    assert read(part).statements == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Рашид Галимов", "в лице коммерческого директора Рашида Галимова заключили договор"),
        ("Марина Олеговна Ткаченко", "в лице директора Ткаченко Марины Олеговны"),
        ("Белкина", "у папы приём у кардиолога Белкиной"),
        ("Нижний Тагил", "до склада Покупателя в Нижнем Тагиле"),
        ("Договор № 8 от 11.11.2024", "долг составляет 300 руб. по договору № 8 от 11.11.2024"),
    ],
)
def test_a_name_that_stands_there_in_another_form_is_taken(name: str, text: str) -> None:
    part = ReadPart(entities=[ReadEntity(name=name, type=EntityType.THING)])
    assert [mention.of.name for mention in read(part, text).mentions] == [name]


def test_a_name_does_not_stand_in_the_middle_of_a_word() -> None:
    part = ReadPart(entities=[ReadEntity(name="Лим", type=EntityType.PERSON)])
    assert read(part, "Олимпиада прошла").mentions == ()


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ('ООО "Ромашка" - арендатор', "ООО «Ромашка» — арендатор"),
        ("с даты приемки", "с даты приёмки"),
        ("agents that can leverage LLMs", "agents that can lever- age LLMs"),
        ("chat-optimized models", "chat- optimized models"),
        ("- Ускорил ответы", "Ускорил ответы"),
        ("Phone | (425) 111", "Phone | (425) 111"),
        ("you're using Rust...", "you’re using Rust"),
    ],
)
def test_signs_are_forgiven_and_the_documents_own_are_kept(quote: str, text: str) -> None:
    (fact,) = read(answer(quote), f"В Алоре {text}.").statements
    assert fact.text == text


def test_an_answer_that_the_token_limit_cut_is_read_as_far_as_it_goes() -> None:
    whole = answer("внедрил RAG", "сократил время ответа").model_dump_json()
    begun = whole.index('"facts":[') + len('"facts":[')
    counts = {len(read_record(whole[:cut], ReadPart).facts) for cut in range(begun, len(whole))}
    assert counts == {0, 1, 2}


Kept = list[tuple[BaseId, DocumentId, float]]


class PaidPipeline(ScriptedPipeline):
    """Each run asks two models."""

    async def run(self, document: ClaimedDocument) -> None:
        note_usage(prompt_tokens=10, answer_tokens=1, cost=0.25)
        note_cost(0.5)
        await super().run(document)


async def charge(pipeline: PaidPipeline, *names: str) -> Kept:
    kept: Kept = []

    async def keep(base: BaseId, document: DocumentId, cost: float) -> None:
        kept.append((base, document, cost))

    for name in names:
        with suppress(SourceError):
            async with charged(BaseId("base"), [DocumentId(name)], keep=keep):
                await pipeline.run(claimed(note(), document=name))
    return kept


@pytest.mark.parametrize("outcome", [None, SourceError(FailureCode.FILE_DAMAGED, name="x")])
async def test_each_document_is_charged_with_its_own_also_when_it_fails(outcome: SourceError | None) -> None:
    kept = await charge(PaidPipeline(outcome), "a", "b")
    assert [(document, cost) for _, document, cost in kept] == [("a", 0.75), ("b", 0.75)]


async def test_what_a_call_has_cost_is_kept_before_the_next_one_is_asked() -> None:
    kept: list[float] = []

    async def keep(_base: BaseId, _document: DocumentId, cost: float) -> None:
        kept.append(cost)

    async def spent_until(_base: BaseId, _document: DocumentId) -> datetime | None:
        return datetime.now(UTC) + timedelta(hours=1) if sum(kept) >= 0.5 else None

    async def read_pages() -> None:
        async with charged(BaseId("base"), [DocumentId("a")], keep=keep, spent_until=spent_until):
            for _ in range(100):
                await ask_leave()
                note_cost(0.25)

    with pytest.raises(ServiceError):
        await read_pages()
    assert kept == [0.25, 0.25]


async def test_nothing_that_costs_is_asked_once_the_senders_day_is_spent() -> None:
    tomorrow = datetime.now(UTC) + timedelta(hours=5)

    async def keep(_base: BaseId, _document: DocumentId, _cost: float) -> None:
        raise AssertionError("it has cost nothing")

    async def spent_until(_base: BaseId, document: DocumentId) -> datetime | None:
        return tomorrow if document == "b" else None

    async with charged(BaseId("base"), [DocumentId("a")], keep=keep, spent_until=spent_until):
        await ask_leave()
    async with charged(BaseId("base"), [DocumentId("a"), DocumentId("b")], keep=keep, spent_until=spent_until):
        with pytest.raises(ServiceError) as caught:
            await ask_leave()
    await ask_leave()
    assert caught.value.params == {"until": tomorrow.isoformat()}
    delay_s = next_attempt_in_s(caught.value, attempt=99, attempts=3, backoff_s=1, chance=0)
    assert delay_s is not None
    assert 4.9 * 3600 < delay_s <= 5 * 3600
