"""What becomes of documents, whatever their pipeline ends with."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.settings import Settings
from domain.documents import Lane, SourceType
from domain.errors import DatabaseAway
from domain.ids import BaseId, DocumentId
from ingestion import worker as worker_module
from ingestion.errors import FailureCode, HoldsLink, LeaseLost, ServiceError, SourceError
from ingestion.records import Failure, Source
from ingestion.worker import JITTER, LONGEST_S, REFUSED_S, Worker, next_attempt_in_s
from tests.fakes.ingestion import FakeQueue, ScriptedPipeline, claimed, note
from tests.waiting import until

AWAY = ServiceError(FailureCode.SERVICE_AWAY, service="jina")
PATIENCE_S = 60.0
ANYTHING_AWAY = ServiceError(FailureCode.SERVICE_AWAY)


def _worker(
    queue: FakeQueue,
    pipeline: ScriptedPipeline,
    *,
    lease_s: int = 60,
    poll_s: float = 0.01,
    grace_s: float = 0,
    long_concurrency: int = 1,
) -> Worker:
    return Worker(
        queue=queue,
        pipeline=pipeline,
        name="w",
        concurrency=2,
        long_concurrency=long_concurrency,
        lease_s=lease_s,
        poll_s=poll_s,
        attempts=4,
        backoff_s=0.01,
        grace_s=grace_s,
    )


@asynccontextmanager
async def _running(worker: Worker) -> AsyncIterator[asyncio.Event]:
    stop = asyncio.Event()
    task = asyncio.create_task(worker.run(stop))
    try:
        yield stop
    finally:
        stop.set()
        async with asyncio.timeout(PATIENCE_S):
            await task


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "UNEXPECTED_PAUSE_S", 0.0)


async def test_waiting_documents_are_worked() -> None:
    queue = FakeQueue(claimed(note(), document="a"), claimed(note(), document="b"), claimed(note(), document="c"))
    pipeline = ScriptedPipeline(None)
    async with _running(_worker(queue, pipeline)):
        await until(lambda: len(pipeline.done) == 3)
    assert (queue.failed, queue.postponed) == ([], [])


async def test_no_more_than_the_agreed_number_is_worked_at_once() -> None:
    gate = asyncio.Event()
    queue = FakeQueue(*(claimed(note(), document=str(number)) for number in range(5)))
    pipeline = ScriptedPipeline(gate)
    async with _running(_worker(queue, pipeline)):
        await asyncio.sleep(0.1)
        assert len(pipeline.begun) == 2
        gate.set()
        await until(lambda: len(pipeline.done) == 5)


LECTURE = Source(type=SourceType.FILE, identifier="лекция.mp4", lane=Lane.LONG)


async def test_a_short_document_does_not_wait_behind_long_ones() -> None:
    gate = asyncio.Event()
    lectures = (claimed(LECTURE, document=f"lecture {number}") for number in range(3))
    queue, pipeline = FakeQueue(*lectures, claimed(note(), document="note")), ScriptedPipeline(gate)
    async with _running(_worker(queue, pipeline)):
        await until(lambda: len(pipeline.begun) == 2)
        assert {document.id for document in pipeline.begun} == {"lecture 0", "note"}
        gate.set()
        await until(lambda: len(pipeline.done) == 4)


async def test_a_worker_may_leave_long_documents_to_others() -> None:
    queue, pipeline = FakeQueue(claimed(LECTURE), claimed(note(), document="note")), ScriptedPipeline(None)
    async with _running(_worker(queue, pipeline, long_concurrency=0)):
        await until(lambda: pipeline.done)
        await asyncio.sleep(0.05)
    assert pipeline.done == ["note"]


async def test_a_fault_of_the_source_fails_the_document() -> None:
    queue = FakeQueue(claimed(note()))
    error = SourceError(FailureCode.FILE_DAMAGED, name="x")
    await _worker(queue, ScriptedPipeline(error)).run_only([DocumentId("d1")])
    assert queue.failed == [error.failure]


async def test_a_file_that_holds_a_link_is_worked_as_the_link() -> None:
    sent = Source(type=SourceType.FILE, identifier="Лекция.url", file_id="F1")
    queue = FakeQueue(claimed(sent))
    pipeline = ScriptedPipeline(HoldsLink("https://www.youtube.com/watch?v=x"), None)
    await _worker(queue, pipeline).run_only([DocumentId("d1")])
    link = pipeline.begun[1].source
    assert (link.type, link.identifier) == (SourceType.LINK, "https://www.youtube.com/watch?v=x")
    assert (link.lane, pipeline.done, queue.failed) == (Lane.LONG, ["d1"], [])


async def test_a_service_that_is_away_is_waited_for() -> None:
    queue, pipeline = FakeQueue(claimed(note())), ScriptedPipeline(AWAY, AWAY, None)
    await _worker(queue, pipeline).run_only([DocumentId("d1")])
    assert [code for code, _ in queue.postponed] == ["service-away", "service-away"]
    assert pipeline.done == ["d1"]


async def test_a_service_that_stays_away_fails_the_document_at_the_last_attempt() -> None:
    queue, pipeline = FakeQueue(claimed(note())), ScriptedPipeline(AWAY)
    await _worker(queue, pipeline).run_only([DocumentId("d1")])
    assert (len(pipeline.begun), len(queue.postponed)) == (4, 3)
    assert [failure.code for failure in queue.failed] == ["service-away"]


async def test_a_mistake_of_ours_is_tried_twice_more_and_then_fails_that_document_alone() -> None:
    queue, pipeline = FakeQueue(claimed(note())), ScriptedPipeline(ZeroDivisionError("oops"))
    await _worker(queue, pipeline).run_only([DocumentId("d1")])
    assert len(pipeline.begun) == 3
    assert [failure.code for failure in queue.failed] == ["internal"]
    assert queue.failed[0].detail == "ZeroDivisionError"  # its words may be the document's


async def test_a_document_that_killed_every_worker_is_given_up_unread() -> None:
    queue, pipeline = FakeQueue(claimed(note(), attempt=5)), ScriptedPipeline(None)
    await _worker(queue, pipeline).run_only([DocumentId("d1")])
    assert pipeline.begun == []
    assert [failure.code for failure in queue.failed] == ["internal"]


async def test_a_lost_lease_stops_the_work_without_a_trace() -> None:
    queue, pipeline = FakeQueue(claimed(note())), ScriptedPipeline(asyncio.Event())
    worker = _worker(queue, pipeline, lease_s=1)
    working = asyncio.create_task(worker.run_only([DocumentId("d1")]))
    await until(lambda: pipeline.begun)
    queue.trouble = [LeaseLost("cancelled")]
    async with asyncio.timeout(PATIENCE_S):
        await working
    assert (pipeline.done, queue.failed, queue.postponed, queue.waiting) == ([], [], [], [])


async def test_leases_are_renewed_while_the_work_goes_on() -> None:
    gate = asyncio.Event()
    queue, pipeline = FakeQueue(claimed(note())), ScriptedPipeline(gate)
    async with _running(_worker(queue, pipeline, lease_s=1)):
        await until(lambda: queue.renewals[:2] == [1, 1])
        gate.set()
        await until(lambda: pipeline.done)


async def test_a_renewal_that_finds_the_database_away_is_borne() -> None:
    gate = asyncio.Event()
    queue, pipeline = FakeQueue(claimed(note())), ScriptedPipeline(gate)
    async with _running(_worker(queue, pipeline, lease_s=1)):
        await until(lambda: pipeline.begun)
        queue.trouble = [DatabaseAway("restarting")]
        await until(lambda: queue.renewals)
        gate.set()
        await until(lambda: pipeline.done)


async def test_a_lease_that_could_not_be_renewed_in_time_counts_as_lost() -> None:
    queue, pipeline = FakeQueue(claimed(note())), ScriptedPipeline(asyncio.Event())
    working = asyncio.create_task(_worker(queue, pipeline, lease_s=1).run_only([DocumentId("d1")]))
    await until(lambda: pipeline.begun)
    queue.trouble = [DatabaseAway("down")] * 10
    async with asyncio.timeout(PATIENCE_S):
        await working
    assert (pipeline.done, queue.failed, queue.postponed) == ([], [], [])


async def test_an_absent_database_does_not_stop_the_worker() -> None:
    queue, pipeline = FakeQueue(claimed(note())), ScriptedPipeline(None)
    queue.trouble = [DatabaseAway("down"), DatabaseAway("down")]
    async with _running(_worker(queue, pipeline)):
        await until(lambda: pipeline.done)


async def test_a_wake_up_spares_the_wait_for_the_next_look() -> None:
    queue, pipeline = FakeQueue(), ScriptedPipeline(None)
    worker = _worker(queue, pipeline, poll_s=3600)
    async with _running(worker):
        await asyncio.sleep(0.05)
        queue.waiting.append(claimed(note()))
        worker.wake()
        await until(lambda: pipeline.done)


async def test_at_the_stop_work_is_finished_within_the_grace_time() -> None:
    gate = asyncio.Event()
    queue, pipeline = FakeQueue(claimed(note())), ScriptedPipeline(gate)
    async with _running(_worker(queue, pipeline, grace_s=PATIENCE_S)) as stop:
        await until(lambda: pipeline.begun)
        stop.set()
        await asyncio.sleep(0.05)
        gate.set()
    assert pipeline.done == ["d1"]


async def test_after_the_grace_time_documents_are_given_back_at_once_and_without_blame() -> None:
    queue, pipeline = FakeQueue(claimed(note())), ScriptedPipeline(asyncio.Event())
    async with _running(_worker(queue, pipeline)):
        await until(lambda: pipeline.begun)
    assert [document.id for document in queue.waiting] == ["d1"]
    assert (queue.given_back, queue.postponed, queue.failed) == (["d1"], [], [])


def _small(*names: str) -> FakeQueue:
    return FakeQueue(*(claimed(replace(note(), lane=Lane.SMALL), document=name) for name in names))


async def test_small_documents_are_worked_together_and_what_is_not_smooth_alone() -> None:
    queue, pipeline = _small("a", "b", "c"), ScriptedPipeline(None)
    pipeline.smooth = lambda document: document != "b"
    async with _running(_worker(queue, pipeline)):
        await until(lambda: pipeline.done)
    assert (pipeline.together, pipeline.done, queue.failed) == ([["a", "b", "c"]], ["b"], [])


async def test_a_small_document_that_cannot_be_read_fails_with_its_reason_and_is_not_tried_alone() -> None:
    queue, pipeline = _small("a", "b"), ScriptedPipeline(None)
    pipeline.smooth = lambda document: document == "a"
    pipeline.refused = {DocumentId("b"): Failure(code="file-encrypted")}
    async with _running(_worker(queue, pipeline)):
        await until(lambda: queue.failed)
    assert (pipeline.done, queue.failed) == ([], [Failure(code="file-encrypted")])


async def test_small_documents_that_are_asked_for_are_worked_to_their_end() -> None:
    queue, pipeline = _small("a", "b"), ScriptedPipeline(AWAY, None)
    pipeline.smooth = lambda document: document == "a"
    await _worker(queue, pipeline).run_only([DocumentId("a"), DocumentId("b")])
    assert (pipeline.together, pipeline.done, len(queue.postponed)) == ([["a", "b"]], ["b"], 1)


async def test_what_models_cost_is_charged_to_the_documents_that_are_worked() -> None:
    queue, pipeline = _small("a", "b"), ScriptedPipeline(None)
    opened: list[list[DocumentId]] = []
    pipeline.smooth = lambda document: document == "a"

    @asynccontextmanager
    async def charged(_base: BaseId, documents: Sequence[DocumentId]) -> AsyncIterator[None]:
        opened.append([*documents])
        yield

    worker = replace(_worker(queue, pipeline), charged=charged)
    await worker.run_only([DocumentId("a"), DocumentId("b")])
    assert opened == [["a", "b"], ["b"]]


async def test_a_batch_that_breaks_is_worked_one_by_one() -> None:
    queue, pipeline = _small("a", "b"), ScriptedPipeline(None)

    def break_down(_: DocumentId) -> bool:
        raise ZeroDivisionError

    pipeline.smooth = break_down
    async with _running(_worker(queue, pipeline)):
        await until(lambda: len(pipeline.done) == 2)
    assert queue.failed == []


async def test_a_batch_is_given_back_whole_at_the_stop() -> None:
    queue, gate = _small("a", "b", "c"), asyncio.Event()
    pipeline = ScriptedPipeline(gate)
    pipeline.smooth = lambda document: document == "a"
    async with _running(_worker(queue, pipeline)):
        await until(lambda: pipeline.begun)
    assert {"b", "c"} <= set(queue.given_back)


def _delay_s(error: ServiceError = ANYTHING_AWAY, *, attempt: int = 1, chance: float = 0.5) -> float | None:
    return next_attempt_in_s(error, attempt=attempt, attempts=8, backoff_s=5, chance=chance)


def test_waits_double_and_end_after_the_last_attempt() -> None:
    assert [_delay_s(attempt=attempt) for attempt in range(1, 9)] == [5, 10, 20, 40, 80, 160, 320, None]


def test_as_it_is_set_a_service_may_be_away_for_hours() -> None:
    """«Документ сохранён, закончу сам» is no promise for ten minutes."""
    worker = Settings.read({}).worker
    waits = [
        next_attempt_in_s(
            ANYTHING_AWAY, attempt=attempt, attempts=worker.attempts, backoff_s=worker.backoff_s, chance=0.5
        )
        for attempt in range(1, worker.attempts)
    ]
    assert sum(filter(None, waits)) > 6 * 3600


def test_a_service_that_names_a_time_is_not_asked_sooner() -> None:
    error = ServiceError(FailureCode.SERVICE_AWAY, retry_after_s=90)
    assert _delay_s(error, chance=0) == 90


def test_a_refused_key_waits_for_a_person() -> None:
    assert _delay_s(ServiceError(FailureCode.SERVICE_REFUSED)) == REFUSED_S


@pytest.mark.parametrize("code", [FailureCode.PAGE_STATUS, FailureCode.PAGE_TOO_SLOW, FailureCode.PAGE_UNREACHABLE])
def test_a_page_is_given_up_sooner_than_a_service(code: FailureCode) -> None:
    assert [_delay_s(ServiceError(code), attempt=attempt) for attempt in (1, 2, 3)] == [5, 10, None]


@given(st.integers(1, 10_000), st.floats(0, 1), st.floats(0, 1e6) | st.none())
def test_no_wait_is_much_longer_than_an_hour(attempt: int, chance: float, asked_s: float | None) -> None:
    error = ServiceError(FailureCode.SERVICE_AWAY, retry_after_s=asked_s)
    delay_s = next_attempt_in_s(error, attempt=attempt, attempts=10_001, backoff_s=5, chance=chance)
    assert delay_s is not None
    assert 0 <= delay_s <= LONGEST_S * (1 + JITTER)


class Upkeep:
    """Counts its calls; each takes until `ended` is set, or raises."""

    def __init__(self, error: Exception | None = None) -> None:
        self.calls = 0
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()
        self.cancelled = False
        self.begun_with: Callable[[], None] = lambda: None
        self._error = error

    async def __call__(self) -> bool:
        self.calls += 1
        self.begun.set()
        self.begun_with()
        if self._error:
            raise self._error
        try:
            await self.ended.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return True


def worker(queue: FakeQueue, pipeline: ScriptedPipeline, upkeep: Upkeep) -> Worker:
    return Worker(
        queue=queue,
        pipeline=pipeline,
        name="w",
        concurrency=2,
        lease_s=60,
        poll_s=0.01,
        attempts=4,
        backoff_s=0.01,
        grace_s=0,
        upkeep=upkeep,
    )


async def run_until(working: Worker, condition: Callable[[], object]) -> None:
    """And a moment longer: what must not happen would."""
    stop = asyncio.Event()
    running = asyncio.create_task(working.run(stop))
    async with asyncio.timeout(PATIENCE_S):
        await until(condition)
        await asyncio.sleep(0.05)
        stop.set()
        await running


async def test_an_idle_worker_keeps_the_database_up_once_in_a_while() -> None:
    upkeep = Upkeep()
    upkeep.ended.set()
    await run_until(worker(FakeQueue(), ScriptedPipeline(None), upkeep), upkeep.begun.is_set)
    assert upkeep.calls == 1


async def test_it_is_done_again_when_its_time_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "UPKEEP_EVERY_S", 0.01)
    upkeep = Upkeep()
    upkeep.ended.set()
    await run_until(worker(FakeQueue(), ScriptedPipeline(None), upkeep), lambda: upkeep.calls > 1)


async def test_documents_that_come_meanwhile_do_not_wait_for_it() -> None:
    upkeep, worked = Upkeep(), asyncio.Event()
    worked.set()
    queue, pipeline = FakeQueue(), ScriptedPipeline(worked)
    upkeep.begun_with = lambda: queue.waiting.append(claimed(note()))
    await run_until(worker(queue, pipeline, upkeep), lambda: pipeline.done)
    assert len(pipeline.done) == 1
    assert upkeep.cancelled  # it was still at it


async def test_documents_go_first() -> None:
    gate, upkeep = asyncio.Event(), Upkeep()
    pipeline = ScriptedPipeline(gate)
    working = worker(FakeQueue(claimed(note())), pipeline, upkeep)
    stop = asyncio.Event()
    running = asyncio.create_task(working.run(stop))
    await until(lambda: pipeline.begun)
    await asyncio.sleep(0.05)
    assert (len(pipeline.begun), upkeep.calls) == (1, 0)
    stop.set()
    await running


async def test_a_worker_that_is_told_to_stop_does_not_wait_for_it() -> None:
    upkeep = Upkeep()
    await run_until(worker(FakeQueue(), ScriptedPipeline(None), upkeep), upkeep.begun.is_set)
    assert upkeep.cancelled


async def test_its_failure_keeps_no_document_waiting() -> None:
    upkeep, worked = Upkeep(RuntimeError("no room")), asyncio.Event()
    worked.set()
    queue, pipeline = FakeQueue(), ScriptedPipeline(worked)
    working = worker(queue, pipeline, upkeep)
    upkeep.begun_with = lambda: queue.waiting.append(claimed(note()))
    await run_until(working, lambda: pipeline.done)
    assert (upkeep.calls, len(pipeline.done)) == (1, 1)
