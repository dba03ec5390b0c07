"""Claims documents, runs the pipeline on them under their leases, and decides what happens after failures.

In: the queue and the pipeline. Out: documents that are ready, failed, or back in the queue for a retry, later each
time. A worker may be killed at any moment: another one claims its documents when their leases expire. When a lease is
lost, the work is cancelled; a database that does not answer is tolerated until then. It knows nothing of the stages.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

import structlog

from domain.documents import ANY_LANE, Lane
from domain.ending import end
from domain.errors import DatabaseAway
from domain.ids import DocumentId
from ingestion.errors import FailureCode, HoldsLink, LeaseLost, ServiceError, SourceError
from ingestion.intake import link_of
from ingestion.pipeline import IngestionPipeline
from ingestion.ports import Charged, Outcome, WorkMeter, WorkQueue, for_nothing
from ingestion.records import ClaimedDocument, Failure

LONGEST_S = 3600.0
REFUSED_S = 600.0  # a wrong key or an empty balance waits for a person; asking often does not help
JITTER = 0.2  # spreads the retries of documents that failed together
_PAGE_ATTEMPTS = 3  # the person is watching, and a site that is down now mostly stays down for long
RENEWALS_A_LEASE = 3  # two in a row may fail before the lease expires
UNEXPECTED_TRIES = 3  # within one claim, the first try included
UNEXPECTED_PAUSE_S = 0.5
GRACE_S = 10.0
TOGETHER = 16  # notes or small files of one base that share their calls and a process
SHORT_PLACES = 2  # a note takes milliseconds, and the time of a call where an embedder is asked
UPKEEP_EVERY_S = 600.0
log = structlog.get_logger()


def next_attempt_in_s(
    error: ServiceError, *, attempt: int, attempts: int, backoff_s: float, chance: float
) -> float | None:
    """Seconds until attempt `attempt + 1`; None when this was the last. `chance` is a random number from 0 to 1."""
    if error.code is FailureCode.DAY_SPENT:  # it is nobody's fault, and the attempt is not counted
        return (error.retry_after_s or LONGEST_S) + JITTER * chance * LONGEST_S
    if attempt >= (min(attempts, _PAGE_ATTEMPTS) if error.code.startswith("page-") else attempts):
        return None
    if error.retry_after_s is not None:
        return min(error.retry_after_s, LONGEST_S) * (1 + JITTER * chance)  # never sooner than the service asked for
    first_s = max(backoff_s, REFUSED_S) if error.code is FailureCode.SERVICE_REFUSED else backoff_s
    # With 2 ** 30 any first pause exceeds an hour; higher powers would only overflow.
    return min(first_s * 2.0 ** min(attempt - 1, 30), LONGEST_S) * (1 + JITTER * (2 * chance - 1))


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
        await end(working, keeping)


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


@dataclass(kw_only=True, eq=False)
class Worker:
    """Works on documents concurrently, up to a limit for each lane; 0 leaves a lane to other workers. Notes and small
    files have places beside those of `concurrency`, which no large file takes."""

    queue: WorkQueue
    pipeline: IngestionPipeline
    name: str
    concurrency: int  # Lane.QUICK
    long_concurrency: int = 1  # Lane.LONG
    lease_s: int
    poll_s: float
    attempts: int
    backoff_s: float
    grace_s: float = GRACE_S
    upkeep: Callable[[], Coroutine[object, object, object]] | None = None  # from time to time, while it is idle
    meter: WorkMeter = field(default_factory=WorkMeter)
    charged: Charged = for_nothing
    _awake: asyncio.Event = field(default_factory=asyncio.Event)
    _running: dict[asyncio.Task[object], Lane] = field(default_factory=dict)

    def wake(self) -> None:
        """Poll the queue now: something was enqueued in this process."""
        self._awake.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop`; then finish what ends within `grace_s`, and give the rest back at once."""
        stopping = asyncio.create_task(stop.wait())
        stopping.add_done_callback(lambda _: self._awake.set())
        keeping_up = [asyncio.create_task(self._keep_up(self.upkeep))] if self.upkeep else []
        try:
            while not stop.is_set():
                self._awake.clear()
                if await self._take():
                    continue
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._awake.wait(), self.poll_s)
            await asyncio.wait({*self._running, stopping}, timeout=self.grace_s)
        finally:
            await end(stopping, *keeping_up, *self._running)

    async def run_only(self, documents: Collection[DocumentId]) -> None:
        """Work on these documents of one base to their end, sleeping between retries, unless another worker holds them
        or they are final; several are small ones. Raises DatabaseAway when they cannot even be claimed."""
        claimed = await self.queue.claim(
            worker=self.name, lease_s=self.lease_s, most=len(documents), only=documents, lanes=ANY_LANE
        )
        again = await self._work_together(claimed)
        for document, delay_s in again.items():
            await asyncio.sleep(delay_s)
            await self.run_only([document])

    async def _take(self) -> bool:
        """Start the next document, or several small ones; False when there is none, or no free slot for it."""
        busy = Counter(self._running.values())
        places = {
            Lane.SHORT: SHORT_PLACES,
            Lane.SMALL: (self.concurrency + 1) // 2,
            Lane.QUICK: self.concurrency,
            Lane.LONG: self.long_concurrency,
        }
        # One person, or base, leaves one of several places for the others.
        lanes = {lane: max(1, most - 1) for lane, most in places.items() if busy[lane] < most}
        if not lanes:
            return False
        try:
            claimed = await self.queue.claim(worker=self.name, lease_s=self.lease_s, most=TOGETHER, lanes=lanes)
        except DatabaseAway as error:
            log.warning("claim_failed", worker=self.name, reason=str(error))
            return False
        if claimed:
            task: asyncio.Task[object] = asyncio.create_task(self._work_together(claimed))
            self._running[task] = claimed[0].source.lane
            task.add_done_callback(self._end)
        return bool(claimed)

    def _end(self, task: asyncio.Task[object]) -> None:
        del self._running[task]
        self._awake.set()
        if not task.cancelled() and (error := task.exception()):
            log.error("outcome_not_stored", worker=self.name, exc_info=error)  # claimed again when the lease expires

    async def _keep_up(self, upkeep: Callable[[], Coroutine[object, object, object]]) -> None:
        """Keep the database up, whenever it is due and this worker is idle."""
        while True:
            await asyncio.sleep(self.poll_s)
            if self._running:
                continue
            try:
                await upkeep()
            except Exception as error:  # it is no document's work, and is tried again
                log.warning("upkeep_failed", worker=self.name, reason=type(error).__name__)
            await asyncio.sleep(UPKEEP_EVERY_S)

    async def _work_together(self, documents: Sequence[ClaimedDocument]) -> Mapping[DocumentId, float]:
        """Seconds until the next try of those with which this worker is not done."""
        if len(documents) <= 1:
            delays = {each.id: await self._work(each) for each in documents}
            return {document: delay_s for document, delay_s in delays.items() if delay_s is not None}
        again: dict[DocumentId, float] = {}
        waiting = list(documents)

        async def work() -> None:
            ended = await self._try_together(documents)
            waiting[:] = [each for each in documents if each.id not in ended]
            while waiting:
                if (delay_s := await self._work(waiting[0])) is not None:
                    again[waiting[0].id] = delay_s
                del waiting[0]

        try:
            await work_under_lease(work(), self.queue, documents, lease_s=self.lease_s)
        except LeaseLost as error:
            log.info("lease_lost", reason=str(error))
        except asyncio.CancelledError:
            for each in waiting:
                await self._give_back(each)
            raise
        return again

    async def _try_together(self, documents: Sequence[ClaimedDocument]) -> Collection[DocumentId]:
        """Those with which the worker is done. Whatever goes wrong with one, they are all worked alone afterwards."""
        started = monotonic()
        try:
            async with self.charged(documents[0].base_id, [each.id for each in documents]):
                ended = await self.pipeline.run_together(documents)
            failures = [(each, failure) for each in documents if (failure := ended.get(each.id))]
            await asyncio.gather(*(self._fail(document, failure) for document, failure in failures))
        except (ServiceError, DatabaseAway) as error:
            log.warning("batch_interrupted", documents=len(documents), reason=str(error))
            return ()
        except Exception:  # the top of their work: one mistake must not stop the others
            log.exception("batch_broke", documents=len(documents))
            return ()
        log.info("batch_worked", documents=len(documents), ended=len(ended), seconds=round(monotonic() - started, 2))
        return ended

    async def _work(self, document: ClaimedDocument) -> float | None:
        """Seconds until the document's next try; None when this worker is done with it."""
        started = monotonic()
        with structlog.contextvars.bound_contextvars(document=document.id, attempt=document.attempt):
            try:
                delay_s = await self._try(document)
            except LeaseLost as error:
                log.info("lease_lost", reason=str(error))
                return None
            except DatabaseAway as error:
                log.warning("database_away", reason=str(error))
                return self.lease_s + 1.0  # once the lease has expired, the document can be claimed again
            except asyncio.CancelledError:
                await self._give_back(document)
                raise
            log.info("document_worked", seconds=round(monotonic() - started, 2), again_in_s=delay_s)
            return delay_s

    async def _try(self, document: ClaimedDocument) -> float | None:
        try:
            if document.attempt > self.attempts:
                # Every attempt ended with the death of its worker: this document may be what kills workers.
                raise SourceError(FailureCode.INTERNAL, detail="no attempt came to an end")
            await self._run_pipeline(document)
        except SourceError as error:
            await self._fail(document, error.failure)
        except ServiceError as error:
            return await self._postpone(document, error)
        except HoldsLink as saved:
            self.meter.document_ended(Outcome.KNOWN)
            await self.queue.become_link(document, link=link_of(saved.address))
            return 0.0
        return None

    async def _run_pipeline(self, document: ClaimedDocument) -> None:
        """Run the pipeline under the lease. A bug is retried, and then fails only this document."""
        for trial in range(1, UNEXPECTED_TRIES + 1):
            try:
                async with self.charged(document.base_id, [document.id]):
                    work = self.pipeline.run(document)
                    return await work_under_lease(work, self.queue, [document], lease_s=self.lease_s)
            except (SourceError, ServiceError, LeaseLost, DatabaseAway, HoldsLink):
                raise
            except Exception as error:  # the top of a document's work: one mistake must not stop the others
                log.exception("document_broke", trial=trial)
                cause = type(error).__name__  # its message may quote the document
            await asyncio.sleep(UNEXPECTED_PAUSE_S * trial)
        raise SourceError(FailureCode.INTERNAL, detail=cause)

    async def _fail(self, document: ClaimedDocument, failure: Failure) -> None:
        # The detail is not logged: a parser's message may quote the document. The database keeps it (`error_detail`).
        log.info("document_failed", code=failure.code)
        self.meter.document_ended(Outcome.FAILED, failure.code)
        with suppress(LeaseLost):  # cancelled or deleted meanwhile
            await self.queue.fail(document, failure=failure)

    async def _postpone(self, document: ClaimedDocument, error: ServiceError) -> float | None:
        delay_s = next_attempt_in_s(
            error,
            attempt=document.attempt,
            attempts=self.attempts,
            backoff_s=self.backoff_s,
            chance=random.random(),  # noqa: S311 - spreads load, guards nothing
        )
        if delay_s is None:
            await self._fail(document, error.failure)
            return None
        tell = log.error if error.code is FailureCode.SERVICE_REFUSED else log.warning
        tell("document_postponed", code=error.code, delay_s=round(delay_s, 1), params=error.params, detail=error.detail)
        self.meter.document_ended(Outcome.POSTPONED, error.code.value)
        await self.queue.postpone(document, failure=error.failure, delay_s=delay_s)
        return delay_s

    async def _give_back(self, document: ClaimedDocument) -> None:
        """Let the next worker claim it at once; the person is not told, and the attempt is not counted."""
        try:
            await self.queue.give_back(document)
        except (LeaseLost, DatabaseAway) as error:
            log.info("not_given_back", reason=str(error))
