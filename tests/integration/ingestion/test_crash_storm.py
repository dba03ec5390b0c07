"""Two workers, each killed with kill -9 at random moments while documents come and go, the embedding service goes away
and the database crashes: nothing is lost or doubled.

In: a mixed batch made here, and the worker of `crash_worker` with no stage to hang at. Out: assertions about the rows
that are left, recounted in SQL. BAZA_CRASH_KILLS sets how many workers are killed; the seed is fixed, the moments are
the machine's.
"""

import asyncio
import os
import random
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

import psycopg

from adapters.database.postgres import PostgresTransport
from adapters.database.stores.intake import IntakeStore
from adapters.database.stores.library import LibraryStore
from adapters.database.stores.people import PeopleStore
from domain.documents import SourceType
from domain.errors import DatabaseAway
from domain.ids import BaseId, DocumentId, UserId
from ingestion.records import Batch, Source
from tests.integration.ingestion.crash_worker import AWAY, NONE, UP
from tests.unit.ingestion.parsers.files import p, write_docx, write_pdf
from tests.unit.ingestion.parsers.packages import sheet_rows, write_epub, write_xlsx

KILLS = int(os.environ.get("BAZA_CRASH_KILLS", "8"))
SEED = 20261121
LIFE_S = (0.8, 4.0)  # of a worker before its kill; one needs about a second to start
PATIENCE_S = 120.0
TEXT = "Арендатор вносит плату не позднее пятого числа каждого месяца. "

Answer = TypeVar("Answer")

UNFINISHED = "select count(*) from documents where phase <> 'ended'"
FAULTS = {
    "failed without a reason": "select count(*) from documents where status = 'failed' and error_code is null",
    "ready but not visible": "select count(*) from documents where status = 'ready' and not visible",
    "visible but not ready": "select count(*) from documents where status <> 'ready' and visible",
    "chunks unlike their count": (
        "select count(*) from documents d where status = 'ready' and chunks <> "
        "(select count(*) from documents_chunks c where c.document_id = d.id)"
    ),
    "ordinals with gaps": (
        "select count(*) from (select document_id from documents_chunks group by 1 "
        "having max(ordinal) + 1 <> count(*)) broken"
    ),
    "chunks of what is not ready": (
        "select count(*) from documents_chunks c join documents d on d.id = c.document_id where d.status <> 'ready'"
    ),
    "postings without a chunk": (
        "select count(*) from chunk_terms t where not exists (select from documents_chunks c where c.id = t.chunk_id)"
    ),
    "bases that count wrong": (
        "select count(*) from bases b cross join lateral ("
        "select coalesce(sum(d.chunks), 0) as passages, coalesce(sum(d.terms), 0) as terms "
        "from documents d where d.base_id = b.id and d.visible) seen "
        "where b.passages <> seen.passages or b.terms <> seen.terms"
    ),
    "terms unlike their chunks": (
        "select count(*) from documents d where status = 'ready' and terms <> "
        "(select coalesce(sum(c.length), 0) from documents_chunks c where c.document_id = d.id)"
    ),
}


def _round(folder: Path, number: int) -> list[Path]:
    """Files of several kinds, all different from those of other rounds; the last one is damaged."""
    words = f"Договор {number}. {TEXT}"
    plain, page, damaged = (folder / f"{number}{suffix}" for suffix in (".txt", ".html", "-bad.pdf"))
    plain.write_text(words * 200)
    page.write_text(f"<html><body><article><p>{words * 30}</p></article></body></html>")
    damaged.write_bytes(b"%PDF-1.7\n" + bytes([number % 256]) * 500)
    book, sheet = folder / f"{number}.epub", folder / f"{number}.xlsx"
    write_epub(book, {"1.xhtml": f"<html><body><p>{words * 40}</p></body></html>"})
    write_xlsx(sheet, {"A": sheet_rows(*[(words, row) for row in range(60)])})
    letter = write_docx(folder / f"{number}.docx", p(words) * 80)
    pages = write_pdf(folder / f"{number}.pdf", [[f"Contract {number}: the rent is paid on the fifth."] * 30] * 8)
    return [plain, page, book, sheet, letter, pages, damaged]


async def _send(transport: PostgresTransport, base: BaseId, files: list[Path]) -> list[DocumentId]:
    sources = tuple(Source(type=SourceType.PATH, identifier=str(file)) for file in files)
    batch = Batch(base_id=base, user_id=UserId(1), sources=sources)
    return [enqueued.id for enqueued in await IntakeStore(transport).enqueue(batch)]


@asynccontextmanager
async def _worker(url: str, folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    command = (sys.executable, "-m", "tests.integration.ingestion.crash_worker", url, str(folder), NONE)
    with (folder / "worker.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _killed_again_and_again(url: str, folder: Path, kills: int, chance: random.Random) -> None:
    for _ in range(kills):
        async with _worker(url, folder):
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


async def _coming_and_going(transport: PostgresTransport, base: BaseId, folder: Path, chance: random.Random) -> None:
    """New documents all the time; of each round one is deleted and one is cancelled."""
    library = LibraryStore(transport)
    for number in range(max(2, KILLS // 4)):
        files = _round(folder, number)
        sent = await _insisted(lambda: _send(transport, base, files))  # noqa: B023 - awaited in this turn of the loop
        await asyncio.sleep(chance.uniform(1, 3))
        deleted, cancelled = chance.sample(sent, 2)
        await _insisted(lambda: library.delete(base, deleted))  # noqa: B023 - as above
        await _insisted(lambda: library.cancel(base, cancelled))  # noqa: B023 - as above


async def _count(connection: psycopg.AsyncConnection[tuple[int]], query: str) -> int:
    row = await (await connection.execute(query.encode())).fetchone()
    assert row is not None
    return row[0]


def _left_behind(folder: Path) -> list[str]:
    return [path.name for path in (folder / "scratch").iterdir() if path.name != "gate.lock"]


async def _finish(url: str, folder: Path, connection: psycopg.AsyncConnection[tuple[int]]) -> None:
    (folder / UP).unlink(missing_ok=True)
    async with _worker(url, folder) as worker, asyncio.timeout(PATIENCE_S):
        while not (folder / UP).exists() or await _count(connection, UNFINISHED):
            await asyncio.sleep(0.2)
        worker.terminate()
        assert await worker.wait() == 0


async def test_a_storm_of_kills_loses_and_doubles_nothing(
    database_url: str, postgres_transport: PostgresTransport, tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    base = await PeopleStore(postgres_transport).open_named_base("storm")
    first, second = (Path(tempfile.mkdtemp(dir=tmp_path)) for _ in range(2))
    async with asyncio.TaskGroup() as storm:
        storm.create_task(_coming_and_going(postgres_transport, base, tmp_path, chance))
        storm.create_task(_outages([first, second], database_url, KILLS, chance))
        storm.create_task(_killed_again_and_again(database_url, first, KILLS // 2, chance))
        storm.create_task(_killed_again_and_again(database_url, second, KILLS - KILLS // 2, chance))
    after = tmp_path / "after.txt"
    after.write_text(TEXT)
    await _insisted(lambda: _send(postgres_transport, base, [after]))  # its start removes what killed workers left
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
        await _finish(database_url, first, connection)
        found = {name: await _count(connection, query) for name, query in FAULTS.items()}
        assert found == dict.fromkeys(FAULTS, 0)
        assert await _count(connection, "select count(*) from documents where status = 'ready'") > 0
    assert _left_behind(first) == []
