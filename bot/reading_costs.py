"""What reading a document costs counts in the day of the person who sent it (PERSON_DAILY_COST).

In: the work on documents. Out: rows of `reading_costs`, as far as the servers of the models tell; once the day is
spent, what would cost more is not asked, and the document waits until there is room again. What a call has cost is kept
before the next one is made, so a large document stops within its day, and a worker that is killed forgets one call.
`rag.reservations` is about questions.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import structlog

from domain.errors import DatabaseAway
from domain.ids import BaseId, DocumentId
from ingestion.errors import FailureCode, ServiceError
from rag.metering import Usage, metering_step, needing

log = structlog.get_logger()


@asynccontextmanager
async def charged(
    base: BaseId,
    documents: Sequence[DocumentId],
    *,
    keep: Callable[[BaseId, DocumentId, float], Awaitable[None]],
    spent_until: Callable[[BaseId, DocumentId], Awaitable[datetime | None]] | None = None,
) -> AsyncIterator[None]:
    """See `ingestion.ports.Charged`: the documents share the cost, also when the block fails. What would cost raises
    ServiceError DAY_SPENT when the day of a sender is spent (`spent_until`; None: no bound); documents of several
    senders are then tried alone."""
    usage, kept = Usage(), 0.0

    async def settle() -> None:
        nonlocal kept
        due, kept = usage.cost - kept, usage.cost
        try:
            for document in documents if due > 0 else ():
                await keep(base, document, due / len(documents))
        except DatabaseAway as error:
            log.warning("reading_cost.lost", reason=str(error))

    async def leave() -> None:
        if spent_until:
            await settle()
        for document in documents:
            if spent_until and (until := await spent_until(base, document)):
                seconds = (until - datetime.now(UTC)).total_seconds()
                raise ServiceError(FailureCode.DAY_SPENT, retry_after_s=max(1.0, seconds), until=until.isoformat())

    try:
        with metering_step(usage), needing(leave):
            yield
    finally:
        await settle()
