"""Two workers, each killed with kill -9 at random moments while documents come and go, are replaced and read anew, the
embedding service goes away and the database crashes: nothing is lost or doubled.

In: the rounds of `crash_batch`, and the worker of `crash_worker` with no stage to hang at. Out: assertions about the
rows that are left, counted by `crash_recount`. BAZA_CRASH_KILLS sets how many workers are killed; the seed is fixed,
the moments are the machine's.
"""

import asyncio
import os
import random
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psycopg
import pytest
import structlog

from adapters.database.postgres import PostgresTransport
from adapters.database.stores.intake import IntakeStore
from adapters.database.stores.library import LibraryStore
from adapters.database.stores.people import PeopleStore
from domain.documents import Choice, DocumentStatus
from domain.errors import DatabaseAway
from domain.ids import BaseId, DocumentId, UserId
from ingestion.records import Batch, Source
from tests.database import OWN_DATABASE, crashable_server
from tests.integration.ingestion.crash_batch import (
    KNOWN,
    TEXT,
    as_sources,
    change_pages,
    serve_known,
    serve_round,
    write_round,
    write_same_name,
)
from tests.integration.ingestion.crash_recount import FAULTS, READY, REPLACED, UNFINISHED, Connection, count, recount
from tests.integration.ingestion.crash_worker import AWAY, NONE, UP
from tests.servers.web import WebServer, serve_web

KILLS = int(os.environ.get("BAZA_CRASH_KILLS", "8"))
SEED = 20261121
LIFE_S = (0.8, 4.0)  # of a worker before its kill; one needs about a second to start
PATIENCE_S = 120.0 + 3 * KILLS  # much is left to read after a long storm
PAGE_CHANGES_EVERY_S = 0.3

Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class Sender:
    """A person with a base, who tries again when the database is away, as the bot asks them to."""

    transport: PostgresTransport
    base: BaseId

    async def send(self, sources: tuple[Source, ...]) -> list[DocumentId]:
        """Several things in one message."""
        batch = Batch(base_id=self.base, user_id=UserId(1), sources=sources)
        return [sent.id for sent in await _insisted(lambda: IntakeStore(self.transport).enqueue(batch))]

    async def delete(self, document: DocumentId) -> None:
        """In whatever state it is."""
        await _insisted(lambda: LibraryStore(self.transport).delete(self.base, document))

    async def cancel(self, document: DocumentId) -> None:
        """If it is not ready yet."""
        await _insisted(lambda: LibraryStore(self.transport).cancel(self.base, document))

    async def refresh(self, document: DocumentId, source: Source) -> bool:
        """Read a page anew; False when it is not there to be."""
        batch = Batch(base_id=self.base, user_id=UserId(1), sources=(source,))
        return bool(await _insisted(lambda: IntakeStore(self.transport).refresh(batch, document)))

    async def replace_all(self) -> None:
        """«Заменить», to every question there is. It may be away: then the next time."""
        library = LibraryStore(self.transport)
        with suppress(DatabaseAway):
            for card in await library.documents(self.base, limit=500):
                if card.status is DocumentStatus.CHOOSING:
                    await library.choose(self.base, card.id, Choice.REPLACE)


@asynccontextmanager
async def _worker(url: str, folder: Path, host: str) -> AsyncIterator[asyncio.subprocess.Process]:
    command = (sys.executable, "-m", "tests.integration.ingestion.crash_worker", url, str(folder), NONE, host)
    with (folder / "worker.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _killed_again_and_again(url: str, folder: Path, host: str, kills: int, chance: random.Random) -> None:
    for _ in range(kills):
        async with _worker(url, folder, host):
            await asyncio.sleep(chance.uniform(*LIFE_S))


async def _outages(folders: Sequence[Path], url: str, kills: int, chance: random.Random) -> None:
    """The embedding service is away for a second now and then; the database crashes once in ten kills or so."""
    for number in range(max(2, kills // 5)):
        await asyncio.sleep(chance.uniform(2, 4))
        for folder in folders:
            (folder / AWAY).touch()
        if number % 2:
            await _crash_database(url)
        await asyncio.sleep(chance.uniform(0.5, 1.5))
        for folder in folders:
            (folder / AWAY).unlink(missing_ok=True)


async def _crash_database(url: str) -> None:
    """Kill -9 one of the server's processes: PostgreSQL ends all others at once and recovers from its log."""
    async with await psycopg.AsyncConnection.connect(url) as connection:
        os.kill(connection.info.backend_pid, signal.SIGKILL)
        with suppress(psycopg.OperationalError):
            await connection.execute("select 1")


async def _insisted(act: Callable[[], Awaitable[Answer]]) -> Answer:
    """What the bot does when the database is away: it says so, and the person tries again."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with suppress(DatabaseAway):
                return await act()
            await asyncio.sleep(0.2)


async def _coming_and_going(
    sender: Sender, web: WebServer, folder: Path, known: DocumentId, chance: random.Random
) -> None:
    """New documents all the time; of each round one is deleted, one is cancelled, and pages that change are read anew:
    that of the round, and the `known` one that was there before."""
    page_source = as_sources([], [web.url(KNOWN)])[0]
    for number in range(max(2, KILLS // 8)):
        sources = as_sources(write_round(folder, number), serve_round(web, number))
        changing, page, moved, _same_name, *others = await sender.send(sources)
        await sender.refresh(known, page_source)
        await asyncio.sleep(chance.uniform(1, 3))
        deleted, cancelled = chance.sample([page, moved, *others], 2)
        await sender.delete(deleted)
        await sender.cancel(cancelled)
        await asyncio.sleep(chance.uniform(0, 2))
        await sender.refresh(changing, sources[0])


async def _answering(sender: Sender) -> None:
    while True:
        await sender.replace_all()
        await asyncio.sleep(0.5)


async def _changing(web: WebServer) -> None:
    edition = 1000  # above the numbers of all rounds
    while True:
        change_pages(web, edition := edition + 1)
        await asyncio.sleep(PAGE_CHANGES_EVERY_S)


@contextmanager
def _meanwhile(*works: Awaitable[None]) -> Iterator[None]:
    """As long as the block; a work that fails is the test's failure."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        yield
        assert not any(task.done() for task in tasks)
    finally:
        for task in tasks:
            task.cancel()


def _left_behind(folder: Path) -> list[str]:
    """Of a worker that was killed each time before it had a folder there is nothing."""
    return [path.name for path in folder.glob("scratch/*") if path.name != "gate.lock"]


async def _finish(url: str, folders: Sequence[Path], host: str, connection: Connection) -> None:
    """Two workers that nothing disturbs, until nothing is left to do."""
    for folder in folders:
        (folder / UP).unlink(missing_ok=True)
    async with _worker(url, folders[0], host) as first, _worker(url, folders[1], host) as second:
        until = asyncio.get_running_loop().time() + PATIENCE_S
        while not all((folder / UP).exists() for folder in folders) or await count(connection, UNFINISHED):
            assert asyncio.get_running_loop().time() < until, await _ends(connection)
            await asyncio.sleep(0.2)
        for worker in (first, second):
            worker.terminate()
            assert await worker.wait() == 0


async def _storm(
    sender: Sender, web: WebServer, url: str, folder: Path, workers: Sequence[Path], known: DocumentId
) -> None:
    chance = random.Random(SEED)
    async with asyncio.TaskGroup() as storm:
        storm.create_task(_coming_and_going(sender, web, folder, known, chance))
        storm.create_task(_outages(workers, url, KILLS, chance))
        for worker in workers:
            kills = KILLS // len(workers)
            storm.create_task(_killed_again_and_again(url, worker, web.host, kills, chance))


async def _ends(connection: Connection) -> dict[str, int]:
    """For the log: how many documents ended how."""
    query = "select coalesce(error_code, status), count(*) from documents group by 1 order by 1"
    rows = await (await connection.execute(query)).fetchall()
    return {str(name): number for name, number in rows}  # type: ignore[misc] # two columns


@pytest.fixture
def database_url() -> Iterator[str]:
    """On a server of its own: a crash ends the connections of everybody."""
    with crashable_server() as server:
        yield server.owner_url(OWN_DATABASE)


async def test_a_storm_of_kills_loses_and_doubles_nothing(
    database_url: str, postgres_transport: PostgresTransport, tmp_path: Path
) -> None:
    base = await PeopleStore(postgres_transport).open_named_base("storm")
    sender = Sender(transport=postgres_transport, base=base)
    workers = [Path(tempfile.mkdtemp(dir=tmp_path)) for _ in range(2)]
    async with serve_web() as web, await psycopg.AsyncConnection.connect(database_url, autocommit=True) as before:
        known, _ = await sender.send(as_sources([write_same_name(tmp_path, 0)], serve_known(web)))
        await _finish(database_url, workers, web.host, before)
        with _meanwhile(_answering(sender), _changing(web)):
            await _storm(sender, web, database_url, tmp_path, workers, known)
            after = tmp_path / "after.txt"
            after.write_text(TEXT)
            await sender.send(as_sources([after], []))  # its start removes what killed workers left
            async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
                await _finish(database_url, workers, web.host, connection)
                structlog.get_logger().info("storm_over", kills=KILLS, ends=await _ends(connection))
                assert await recount(connection) == dict.fromkeys(FAULTS, 0)
                assert await count(connection, READY) > 0
                assert await count(connection, REPLACED) > 0
    assert any((worker / "scratch").is_dir() for worker in workers)
    assert [left for worker in workers for left in _left_behind(worker)] == []
