"""What models cost for reading is charged to the documents that were read."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from bot.reading_costs import charged
from domain.ids import BaseId, DocumentId
from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.records import ClaimedDocument
from ingestion.worker import next_attempt_in_s
from rag.metering import ask_leave, note_cost, note_usage
from tests.fakes.ingestion import ScriptedPipeline, claimed, note

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
