"""What is told of the work on documents."""

from pathlib import Path

import pytest

from domain.documents import DocumentStatus
from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.fetch.fetchers import Fetchers
from ingestion.note import hash_note
from ingestion.pipeline import ChunkLimits, IngestionPipeline
from ingestion.progress import Progress
from ingestion.worker import Worker
from tests.fakes.ingestion import (
    CutHere,
    FakeEmbedder,
    FakeQueue,
    HeardMeter,
    PlainReader,
    ScriptedPipeline,
    WordAnalyzer,
    claimed,
    note,
)
from tests.unit.ingestion.test_pipeline import FETCHERS


def pipeline_of(queue: FakeQueue, meter: HeardMeter, scratch: Path) -> IngestionPipeline:
    return IngestionPipeline(
        fetchers=Fetchers(FETCHERS),
        reader=PlainReader(),
        cutter=CutHere(),
        embedder=FakeEmbedder(),
        analyzer=WordAnalyzer(),
        queue=queue,
        limits=ChunkLimits(chunk_tokens=60, overlap_tokens=0),
        scratch=scratch,
        meter=meter,
    )


async def test_a_document_that_is_read_ends_its_stages_and_is_ready(tmp_path: Path) -> None:
    meter = HeardMeter()
    await pipeline_of(FakeQueue(), meter, tmp_path).run(claimed(note("Встреча во вторник")))
    assert meter.stages == [DocumentStatus.FETCHING, DocumentStatus.EMBEDDING]
    assert meter.outcomes == [("ready", "")]


async def test_a_document_that_the_base_has_is_known(tmp_path: Path) -> None:
    queue, meter, source = FakeQueue(), HeardMeter(), note("Встреча во вторник")
    queue.known_hashes[hash_note(source)] = claimed(source).id
    await pipeline_of(queue, meter, tmp_path).run(claimed(source))
    assert meter.outcomes == [("known", "")]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SourceError(FailureCode.FILE_DAMAGED, name="a"), ("failed", "file-damaged")),
        (ServiceError(FailureCode.SERVICE_AWAY, service="jina"), ("postponed", "service-away")),
    ],
)
async def test_an_attempt_that_fails_says_why(error: Exception, told: tuple[str, str]) -> None:
    document, meter = claimed(note()), HeardMeter()
    worker = Worker(
        FakeQueue(document),
        ScriptedPipeline(error, None),
        name="w",
        concurrency=1,
        lease_s=60,
        poll_s=0.01,
        attempts=4,
        backoff_s=0.01,
        meter=meter,
    )
    await worker.run_one(document.id)
    assert meter.outcomes == [told]


async def test_a_stage_lasts_until_the_next_one_or_the_end() -> None:
    now, told = [0.0], list[tuple[DocumentStatus, float]]()
    meter = HeardMeter()
    meter.stage_ended = lambda status, seconds: told.append((status, seconds))  # type: ignore[method-assign] # with seconds
    progress = Progress(FakeQueue(), claimed(note()), clock=lambda: now[0], meter=meter)
    now[0] = 2.0
    progress.begin(DocumentStatus.PARSING)
    now[0] = 5.0
    await progress.report(DocumentStatus.PARSING, done=1, total=2)
    now[0] = 9.0
    progress.entered(DocumentStatus.EMBEDDING)
    now[0] = 10.0
    await progress.close()
    assert told == [
        (DocumentStatus.FETCHING, 2.0),
        (DocumentStatus.PARSING, 7.0),
        (DocumentStatus.EMBEDDING, 1.0),
    ]


async def test_a_part_of_a_document_has_no_stages_of_its_own() -> None:
    meter = HeardMeter()
    inner = Progress(FakeQueue(), claimed(note()), meter=meter).muted()
    inner.begin(DocumentStatus.PARSING)
    await inner.report(DocumentStatus.EMBEDDING)
    assert meter.stages == []
