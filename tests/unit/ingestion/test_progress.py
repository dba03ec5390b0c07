"""What is told of a document's way, and when: new stages at once, progress once a second."""

import pytest

from domain.documents import DocumentStatus
from domain.errors import DatabaseAway
from ingestion.errors import LeaseLost
from ingestion.progress import Progress
from ingestion.records import ClaimedDocument
from tests.fakes.ingestion import FakeQueue, claimed, note


class TroubledQueue(FakeQueue):
    """Its reports end with an error."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def report(self, document: ClaimedDocument, *, status: DocumentStatus, done: int, total: int) -> None:
        raise self.error


async def test_a_new_stage_is_told_at_once_and_progress_once_a_second() -> None:
    now, queue = [0.0], FakeQueue()
    told = Progress(queue, claimed(note()), clock=lambda: now[0])
    await told.report(DocumentStatus.PARSING)
    await told.report(DocumentStatus.PARSING, done=1, total=3)
    now[0] = 1.5
    await told.report(DocumentStatus.PARSING, done=2, total=3)
    await told.report(DocumentStatus.EMBEDDING, total=7)
    assert queue.reported == [
        (DocumentStatus.PARSING, 0, 0),
        (DocumentStatus.PARSING, 2, 3),
        (DocumentStatus.EMBEDDING, 0, 7),
    ]


async def test_a_database_that_is_away_does_not_stop_the_work_and_a_lost_lease_does() -> None:
    await Progress(TroubledQueue(DatabaseAway("down")), claimed(note())).report(DocumentStatus.PARSING)
    with pytest.raises(LeaseLost):
        await Progress(TroubledQueue(LeaseLost("d1")), claimed(note())).report(DocumentStatus.PARSING)


async def test_a_part_of_a_document_tells_nothing() -> None:
    queue = FakeQueue()
    await Progress(queue, claimed(note())).muted().report(DocumentStatus.PARSING)
    assert queue.reported == []
