"""Runs work only while the lease on its document is held.

In: a claimed document and the work on it. Out: the work's own result; LeaseLost, with the work cancelled, when the
lease was lost first. A database that does not answer is tolerated until the lease would have expired anyway.
"""

import asyncio
from collections.abc import Coroutine
from time import monotonic

import structlog

from domain.errors import DatabaseAway
from ingestion.errors import LeaseLost
from ingestion.ports import WorkQueue
from ingestion.records import ClaimedDocument

RENEWALS_A_LEASE = 3  # two in a row may fail before the lease expires


async def work_under_lease(
    work: Coroutine[None, None, None], queue: WorkQueue, document: ClaimedDocument, *, lease_s: int
) -> None:
    """Await `work`, renewing the lease meanwhile. Raises LeaseLost, and whatever the work raises."""
    working = asyncio.create_task(work)
    keeping = asyncio.create_task(_keep(queue, document, lease_s=lease_s))
    try:
        await asyncio.wait({working, keeping}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            keeping.result()  # `_keep` only ends by raising
        await working
    finally:
        working.cancel()
        keeping.cancel()
        await asyncio.gather(working, keeping, return_exceptions=True)


async def _keep(queue: WorkQueue, document: ClaimedDocument, *, lease_s: int) -> None:
    """Renew the lease until cancelled. Raises LeaseLost."""
    held_until = monotonic() + lease_s
    while True:
        await asyncio.sleep(lease_s / RENEWALS_A_LEASE)
        try:
            async with asyncio.timeout(max(held_until - monotonic(), 0)):
                asked_at = monotonic()
                await queue.renew(document, lease_s=lease_s)
            held_until = asked_at + lease_s
        except (DatabaseAway, TimeoutError) as error:
            if monotonic() >= held_until:
                raise LeaseLost(f"{document.id}: not renewed in time") from error
            structlog.get_logger().warning("renewal_failed", document=document.id, reason=str(error))
