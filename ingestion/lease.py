"""Runs work only while the lease on its document is held; of several documents, on any of them.

In: claimed documents and the work on them. Out: the work's own result; LeaseLost, with the work cancelled, when the
lease was lost first. A database that does not answer is tolerated until the lease would have expired anyway.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from time import monotonic

import structlog

from domain.errors import DatabaseAway
from ingestion.errors import LeaseLost
from ingestion.ports import WorkQueue
from ingestion.records import ClaimedDocument

RENEWALS_A_LEASE = 3  # two in a row may fail before the lease expires


async def work_under_lease(
    work: Coroutine[None, None, None], queue: WorkQueue, documents: Sequence[ClaimedDocument], *, lease_s: int
) -> None:
    """Await `work`, renewing the leases meanwhile. Raises LeaseLost, and whatever the work raises."""
    working = asyncio.create_task(work)
    keeping = asyncio.create_task(_keep(queue, documents, lease_s=lease_s))
    try:
        await asyncio.wait({working, keeping}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            keeping.result()  # `_keep` only ends by raising
        await working
    finally:
        working.cancel()
        keeping.cancel()
        await asyncio.gather(working, keeping, return_exceptions=True)


async def _keep(queue: WorkQueue, documents: Sequence[ClaimedDocument], *, lease_s: int) -> None:
    """Renew the leases until cancelled. Raises LeaseLost when none is held any more."""
    held_until = monotonic() + lease_s
    while True:
        await asyncio.sleep(lease_s / RENEWALS_A_LEASE)
        try:
            async with asyncio.timeout(max(held_until - monotonic(), 0)):
                asked_at = monotonic()
                documents = [each for each in documents if await _renewed(queue, each, lease_s=lease_s)]
            held_until = asked_at + lease_s
        except (DatabaseAway, TimeoutError) as error:
            if monotonic() >= held_until:
                raise LeaseLost(f"{documents[0].id}: not renewed in time") from error
            structlog.get_logger().warning("renewal_failed", document=documents[0].id, reason=str(error))
        if not documents:
            raise LeaseLost("no document is held any more")


async def _renewed(queue: WorkQueue, document: ClaimedDocument, *, lease_s: int) -> bool:
    try:
        await queue.renew(document, lease_s=lease_s)
    except LeaseLost:  # ended, cancelled or deleted
        return False
    return True
