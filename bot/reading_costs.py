"""What reading a document costs counts in the day of the person who sent it (PERSON_DAILY_COST).

In: the work on documents. Out: rows of `reading_costs`, as far as the servers of the models tell. A worker that is
killed forgets what its last documents cost. Nothing is refused here: `bot.bounds` decides about questions.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager

import structlog

from domain.errors import DatabaseAway
from domain.ids import BaseId, DocumentId
from ingestion.records import ClaimedDocument
from ingestion.worker import Pipeline
from rag.metering import Usage, metering_step

Keep = Callable[[BaseId, DocumentId, float], Awaitable[None]]
"""`adapters.database.stores.statistics.StatisticsStore.save_reading_cost`."""

log = structlog.get_logger()


class MeteredPipeline:
    """A pipeline whose models are paid for by the senders of the documents; meets `ingestion.worker.Pipeline`."""

    def __init__(self, pipeline: Pipeline, keep: Keep) -> None:
        self._pipeline = pipeline
        self._keep = keep

    async def run(self, document: ClaimedDocument) -> None:
        """As the pipeline does."""
        async with charged(self._keep, document.base_id, [document.id]):
            await self._pipeline.run(document)

    async def run_together(self, documents: Sequence[ClaimedDocument]) -> Collection[DocumentId]:
        """As the pipeline does."""
        async with charged(self._keep, documents[0].base_id, [document.id for document in documents]):
            return await self._pipeline.run_together(documents)


@asynccontextmanager
async def charged(keep: Keep, base: BaseId, documents: Sequence[DocumentId]) -> AsyncIterator[None]:
    """What models cost within the block is shared by the documents, also when it fails."""
    usage = Usage()
    try:
        with metering_step(usage):
            yield
    finally:
        if usage.cost:
            await _share(keep, base, documents, usage.cost)


async def _share(keep: Keep, base: BaseId, documents: Sequence[DocumentId], cost: float) -> None:
    try:
        for document in documents:
            await keep(base, document, cost / len(documents))
    except DatabaseAway as error:
        log.warning("reading_cost.lost", reason=str(error))
