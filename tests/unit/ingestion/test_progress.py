"""What is told of a document's way, and when: stages that last, and progress once a second."""

import asyncio

import pytest

from domain.documents import DocumentStatus
from ingestion import progress
from ingestion.errors import LeaseLost
from ingestion.progress import Progress
from ingestion.records import ClaimedDocument
from tests.fakes.ingestion import FakeQueue, claimed, note
from tests.waiting import until


class LostQueue(FakeQueue):
    """Its lease is another worker's."""

    async def report(self, document: ClaimedDocument, *, status: DocumentStatus, done: int, total: int) -> None:
        await super().report(document, status=status, done=done, total=total)
        raise LeaseLost(document.id)


class SlowQueue(FakeQueue):
    """Its database takes a moment."""

    def __init__(self) -> None:
        super().__init__()
        self.began = asyncio.Event()

    async def report(self, document: ClaimedDocument, *, status: DocumentStatus, done: int, total: int) -> None:
        self.began.set()
        await asyncio.sleep(0.05)
        await super().report(document, status=status, done=done, total=total)


@pytest.fixture(autouse=True)
def _short_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "REPORT_EVERY_S", 0.01)


async def test_a_stage_that_lasts_is_told() -> None:
    queue = FakeQueue()
    Progress(queue, claimed(note())).begin(DocumentStatus.EMBEDDING, total=7)
    await until(lambda: queue.reported)
    assert queue.reported == [(DocumentStatus.EMBEDDING, 0, 7)]


async def test_a_stage_that_is_followed_by_another_is_not_told_any_more() -> None:
    queue = FakeQueue()
    told = Progress(queue, claimed(note()))
    told.begin(DocumentStatus.PARSING)
    told.begin(DocumentStatus.EMBEDDING)
    await until(lambda: queue.reported)
    assert [status for status, _, _ in queue.reported] == [DocumentStatus.EMBEDDING]


async def test_nothing_is_told_after_the_end() -> None:
    queue = FakeQueue()
    told = Progress(queue, claimed(note()))
    told.begin(DocumentStatus.PARSING)
    await told.close()
    await asyncio.sleep(0.05)
    assert queue.reported == []


async def test_a_report_under_way_has_come_when_the_next_stage_is_told_by_another_call() -> None:
    """It came after the blocks were stored, said PARSING again, and hid what had been read."""
    queue = SlowQueue()
    told = Progress(queue, claimed(note()))
    told.begin(DocumentStatus.PARSING)
    await until(queue.began.is_set)
    await told.settled()
    assert queue.reported == [(DocumentStatus.PARSING, 0, 0)]


async def test_a_lease_that_went_meanwhile_is_left_to_the_work_itself() -> None:
    queue = LostQueue()
    told = Progress(queue, claimed(note()))
    told.begin(DocumentStatus.PARSING)
    await until(lambda: queue.reported)
    await told.close()
    assert len(queue.reported) == 1


async def test_a_part_of_a_document_tells_nothing() -> None:
    queue = FakeQueue()
    Progress(queue, claimed(note())).muted().begin(DocumentStatus.PARSING)
    await asyncio.sleep(0.05)
    assert queue.reported == []
