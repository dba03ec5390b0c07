"""What a note costs on its way through the worker: notes from the queue to published passages, vectors at once.

In: how many (`python -m benchmarks.notes 600`). Out: for each note the time, and the processor time of this process and
of PostgreSQL. On a busy machine only the processor times can be compared.
"""

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from adapters.database.embedded import embedded_database
from adapters.database.embedded.seat import choose_seat
from benchmarks.ingestion_peers import InstantEmbedder
from bot.app import Parts, open_parts
from bot.settings import Settings
from domain.documents import SourceType
from domain.ids import UserId
from ingestion.records import Batch, Source
from ingestion.worker import Worker

BASES = 3
A_BATCH = 20  # notes of one message
WORDS = 60
WARM = 40
SENDER = UserId(1)


def some_note(number: int, rng: random.Random) -> Source:
    """Words of a thousand, no two notes alike."""
    text = f"Заметка {number}: " + " ".join(f"слово{rng.randrange(1000)}" for _ in range(WORDS))
    return Source(type=SourceType.NOTE, identifier=text[:60], text=text)


@cache
def _postmaster(home: Path) -> str:
    """Its process id; where the folder is closed to its account, the cluster stands elsewhere."""
    return (choose_seat(home).cluster / "postmaster.pid").read_text(encoding="utf-8").split()[0]


def server_processes(home: Path) -> Iterator[Path]:
    """Those of PostgreSQL, as folders of /proc."""
    server = _postmaster(home)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            parent = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1]
            if server in (parent, stat.parent.name):
                yield stat.parent


def server_seconds(home: Path) -> float:
    """Processor time of PostgreSQL: of all its processes, also of those that have ended."""
    ticks = 0
    for process in server_processes(home):
        with suppress(OSError):
            fields = (process / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def server_ms(home: Path) -> float:
    """The same of the processes that run, to the nanosecond as the kernel counts: for what takes milliseconds."""
    nanoseconds = 0
    for process in server_processes(home):
        with suppress(OSError):
            nanoseconds += int((process / "schedstat").read_text(encoding="ascii").split()[0])
    return nanoseconds / 1e6


async def read_notes(parts: Parts, worker: Worker, count: int) -> None:
    """Enqueue them and wait until the worker has read them all."""
    rng = random.Random(count)
    bases = [await parts.stores.people.open_named_base(f"base {number}") for number in range(BASES)]
    for first in range(0, count, A_BATCH):
        notes = tuple(some_note(number, rng) for number in range(first, first + A_BATCH))
        await parts.stores.intake.enqueue(Batch(base_id=bases[first // A_BATCH % BASES], user_id=SENDER, sources=notes))
    stop = asyncio.Event()
    working = asyncio.create_task(worker.run(stop))
    while (queue := await parts.stores.statistics.queue()) and queue.waiting + queue.working:  # noqa: ASYNC110 - a worker may be another process
        await asyncio.sleep(0.05)
    stop.set()
    await working


async def run(home: Path, count: int) -> None:
    """Measure and print, after some notes for warming up."""
    settings = Settings.read({"BAZA_HOME": str(home), "OCR": "off", "PERSON_WAITING": "0"})
    async with embedded_database(home), open_parts(settings) as parts:
        object.__setattr__(parts, "embedder", InstantEmbedder())  # the record is frozen
        async with parts.open_worker() as worker:
            await read_notes(parts, worker, WARM)
            began = (time.perf_counter(), time.process_time(), server_seconds(home))
            await read_notes(parts, worker, count)
            ended = (time.perf_counter(), time.process_time(), server_seconds(home))
    each = [f"{1000 * (end - begin) / count:.1f} ms" for begin, end in zip(began, ended, strict=True)]
    print(f"{count} notes, each: {each[0]}; processor {each[1]} here, {each[2]} of PostgreSQL")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notes", type=int)
    with tempfile.TemporaryDirectory(prefix="baza-notes-") as folder:
        Path(folder).chmod(0o711)  # root's server account has to enter it
        asyncio.run(run(Path(folder), parser.parse_args().notes))
