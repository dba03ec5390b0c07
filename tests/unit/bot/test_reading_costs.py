"""What models cost for reading is charged to the documents that were read."""

import pytest

from bot.reading_costs import MeteredPipeline
from domain.ids import BaseId, DocumentId
from ingestion.errors import FailureCode, SourceError
from ingestion.records import ClaimedDocument
from rag.metering import note_cost, note_usage
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

    metered = MeteredPipeline(pipeline, keep)
    for name in names:
        try:
            await metered.run(claimed(note(), document=name))
        except SourceError:
            continue
    return kept


@pytest.mark.parametrize("outcome", [None, SourceError(FailureCode.FILE_DAMAGED, name="x")])
async def test_each_document_is_charged_with_its_own_also_when_it_fails(outcome: SourceError | None) -> None:
    kept = await charge(PaidPipeline(outcome), "a", "b")
    assert [(document, cost) for _, document, cost in kept] == [("a", 0.75), ("b", 0.75)]
