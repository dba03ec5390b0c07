"""What a worker does for the database while it has nothing to read."""

import asyncio
from collections.abc import Callable

import pytest

import ingestion.worker as worker_module
from ingestion.worker import Worker
from tests.fakes.ingestion import FakeQueue, ScriptedPipeline, claimed, note
from tests.waiting import until

PATIENCE_S = 60.0


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
        queue,
        pipeline,
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
