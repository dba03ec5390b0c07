"""kill -9 of the worker in each stage, then another worker: the document becomes ready once, as if nothing had been."""

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters.database.postgres import PostgresTransport
from adapters.database.stores.intake import IntakeStore
from adapters.database.stores.library import LibraryStore
from adapters.database.stores.people import PeopleStore
from adapters.database.stores.search import SearchStore
from domain.documents import DocumentCard, DocumentStatus, SourceType
from domain.ids import BaseId, DocumentId, UserId
from ingestion.records import Batch, Source
from rag.records import SearchQuery
from tests.integration.adapters.database.stores.material import ask
from tests.integration.ingestion.crash_worker import EMBEDDING, FETCHING, NONE, PARSING, PUBLISHING
from tests.processes import PARSERS
from tests.waiting import until

PATIENCE_S = 120.0
EXPIRE = "update documents set lease_until = now() where phase = 'working' returning 1"  # as if nobody had renewed it
PARAGRAPHS = 120
TEXT = "\n\n".join(
    f"Пункт {number}. Арендатор вносит плату не позднее пятого числа каждого месяца; за просрочку начисляется пеня "
    f"в размере {number} рублей за каждый день, если стороны не договорились об ином письменно."
    for number in range(PARAGRAPHS)
)


@dataclass(kw_only=True)
class Scene:
    """A base with one document to read, and the processes that read it."""

    url: str
    folder: Path
    transport: PostgresTransport
    base: BaseId
    document: DocumentId

    async def card(self) -> DocumentCard:
        """The document as the library shows it."""
        card = await LibraryStore(self.transport).card(self.base, self.document)
        assert card is not None
        return card

    async def found(self) -> int:
        """How many passages a search finds."""
        query = SearchQuery(base_id=self.base, vector=None, model=None, terms=("арендатор",), limit=1000)
        return len(await SearchStore(self.transport).search(query))

    def embedded(self) -> list[int]:
        """Ordinals in the order in which they were embedded, by all workers."""
        return [int(line) for line in (self.folder / "embedded").read_text().split()]

    def attempts(self) -> int:
        """How often its reading was begun."""
        ((attempts,),) = ask(self.url, "select attempts from documents")
        return int(str(attempts))

    def left_behind(self) -> list[str]:
        """Files of documents that are still on disk."""
        return [path.name for path in (self.folder / "scratch").iterdir() if path.name != "gate.lock"]

    @asynccontextmanager
    async def worker(self, stage: str) -> AsyncIterator[asyncio.subprocess.Process]:
        """A worker process that hangs at `stage`; killed at the end if it still runs."""
        script = "tests.integration.ingestion.crash_worker"
        command = (sys.executable, "-m", script, self.url, str(self.folder), stage)
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
            ask(self.url, EXPIRE)


@pytest.fixture
async def scene(database_url: str, postgres_transport: PostgresTransport, tmp_path: Path) -> Scene:
    """A text file, enqueued."""
    file = tmp_path / "Договор.txt"
    file.write_text(TEXT, encoding="utf-8")
    base = await PeopleStore(postgres_transport).open_named_base("crash")
    source = Source(type=SourceType.PATH, identifier=str(file))
    batch = Batch(base_id=base, user_id=UserId(1), sources=(source,))
    (enqueued,) = await IntakeStore(postgres_transport).enqueue(batch)
    return Scene(url=database_url, folder=tmp_path, transport=postgres_transport, base=base, document=enqueued.id)


async def _finish(scene: Scene) -> DocumentCard:
    """A worker that nothing disturbs, stopped when the document is final."""
    async with scene.worker(NONE) as process, asyncio.timeout(PATIENCE_S):
        while not (await scene.card()).status.is_final:
            await asyncio.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
    return await scene.card()


async def _kill_at(scene: Scene, stage: str) -> None:
    (scene.folder / "reached").unlink(missing_ok=True)
    async with scene.worker(stage) as process:
        await until((scene.folder / "reached").exists)
        if stage == FETCHING:  # it has just begun: what others have read is found no more
            assert (await scene.found(), (await scene.card()).searchable) == (0, 0)
        process.kill()
    found, card = await scene.found(), await scene.card()
    assert (found > 0, card.searchable) == (stage in (EMBEDDING, PUBLISHING), found)


async def test_an_undisturbed_document_is_ready_after_one_attempt(scene: Scene) -> None:
    card = await _finish(scene)
    assert (card.status, scene.attempts(), card.title) == (DocumentStatus.READY, 1, "Договор")
    assert scene.embedded() == list(range(card.chunks))
    assert await scene.found() == card.chunks


@pytest.mark.parametrize("stage", [FETCHING, PARSING, EMBEDDING, PUBLISHING])
async def test_the_next_worker_makes_the_document_ready_once(scene: Scene, stage: str) -> None:
    await _kill_at(scene, stage)
    card = await _finish(scene)
    assert (card.status, scene.attempts()) == (DocumentStatus.READY, 2)
    # Each passage was embedded once, whoever did it, and found once: as in the undisturbed run.
    assert sorted(scene.embedded()) == list(range(card.chunks))
    assert (card.searchable, await scene.found()) == (card.chunks, card.chunks)
    assert scene.left_behind() == []


async def test_a_worker_killed_in_every_stage_in_turn_changes_nothing(scene: Scene) -> None:
    stages = (PARSING, EMBEDDING, FETCHING, PUBLISHING, FETCHING)
    for stage in stages:
        await _kill_at(scene, stage)
    card = await _finish(scene)
    assert (card.status, scene.attempts()) == (DocumentStatus.READY, len(stages) + 1)
    assert sorted(scene.embedded()) == list(range(card.chunks))
    assert (card.searchable, await scene.found()) == (card.chunks, card.chunks)
    assert scene.left_behind() == []


def test_a_pool_whose_worker_is_gone_ends_quietly() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        ours.close()
        script = "from sandbox.forkserver import main; main()"
        run = subprocess.run(
            (sys.executable, "-c", script, PARSERS, "namespaces"),
            stdin=theirs.fileno(),
            capture_output=True,
            timeout=120,
            check=False,
        )
    assert (run.returncode, run.stderr) == (0, b"")
