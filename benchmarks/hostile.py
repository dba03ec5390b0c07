"""What hostile files cost whom: seconds, memory of the process that reads them, memory and pauses of the bot's, and how
long another person's note waits meanwhile.

In: nothing, or names (`python -m benchmarks.hostile [NAME...]`); the files are those of the tests, made in a folder
that is gone afterwards. Out: a table over the worker as the application composes it, with the embedded database and
without models. A pause is how long the event loop gave others no turn, by the clock and by its own processor time:
the first grows with whatever else the machine does. Linux: /proc.
"""

import argparse
import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from bot.app import Parts, open_parts
from bot.home import configure_logging
from bot.settings import Settings
from domain.documents import DocumentCard, DocumentStatus, SourceType
from domain.ids import BaseId, DocumentId, UserId
from ingestion.records import Batch, Source

LOOK_EVERY_S = 0.005
WANTED_MB, WANTED_PAUSE_S, WANTED_NOTE_S = 400, 0.2, 5.0
POSTGRES = b"postgres"
OTHER = UserId(2)
NOTE_EVERY_S = 0.5
ASK_EVERY_S = 0.05
ENDED = frozenset({DocumentStatus.READY, DocumentStatus.FAILED, DocumentStatus.DUPLICATE})


@dataclass(kw_only=True)
class Cost:
    """Of one file."""

    seconds: float = 0.0
    child_mb: float = 0.0
    bot_mb: float = 0.0
    pause_s: float = 0.0
    pause_cpu_s: float = 0.0
    waited_s: float = 0.0  # the other person's slowest note, from sending to ready
    outcome: str = ""
    passages: int = 0


async def measure(parts: Parts, base: BaseId, path: Path) -> Cost:
    """Send the file, and watch until it has ended."""
    cost = Cost()
    _begin_peak()
    watching = asyncio.create_task(_watch(cost))
    noting = asyncio.create_task(_send_notes(parts, cost))
    began = time.perf_counter()
    batch = Batch(base_id=base, user_id=UserId(0), sources=(file_source(path),))
    (document,) = await parts.stores.intake.enqueue(batch)
    card = await until_ended(parts, base, document.id)
    cost.seconds = time.perf_counter() - began
    for task in (watching, noting):
        task.cancel()
    await asyncio.gather(watching, noting, return_exceptions=True)
    cost.bot_mb = _peak_mb(os.getpid())
    cost.outcome, cost.passages = card.error_code or card.status.value, card.chunks
    await parts.stores.library.delete(base, document.id)
    return cost


def file_source(path: Path) -> Source:
    """A file as `baza add` sends it."""
    return Source(type=SourceType.PATH, identifier=str(path), title=path.name, size_bytes=path.stat().st_size)


async def until_ended(parts: Parts, base: BaseId, document: DocumentId) -> DocumentCard:
    """The document's card once nothing more is done with it."""
    while True:
        card = await parts.stores.library.card(base, document)
        if card is not None and card.status in ENDED:
            return card
        await asyncio.sleep(ASK_EVERY_S)


async def note_ready_in_s(parts: Parts, base: BaseId, text: str) -> float:
    """How long a note takes from being sent to being found."""
    began = time.perf_counter()
    source = Source(type=SourceType.NOTE, identifier=text, title=text, text=text)
    (document,) = await parts.stores.intake.enqueue(Batch(base_id=base, user_id=OTHER, sources=(source,)))
    await until_ended(parts, base, document.id)
    return time.perf_counter() - began


async def _send_notes(parts: Parts, cost: Cost) -> None:
    base = await parts.stores.people.open_named_base("another person")
    for number in count():
        waited_s = await note_ready_in_s(parts, base, f"Заметка {number} от {time.time()}")
        cost.waited_s = max(cost.waited_s, waited_s)
        await asyncio.sleep(NOTE_EVERY_S)


def _begin_peak() -> None:
    """proc_pid_clear_refs(5)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


async def _watch(cost: Cost) -> None:
    while True:
        began, cpu = time.perf_counter(), time.thread_time()
        await asyncio.sleep(LOOK_EVERY_S)
        cost.pause_s = max(cost.pause_s, time.perf_counter() - began - LOOK_EVERY_S)
        cost.pause_cpu_s = max(cost.pause_cpu_s, time.thread_time() - cpu)
        cost.child_mb = max([cost.child_mb, *map(_peak_mb, _children(os.getpid()))])


def _children(pid: int) -> Iterator[int]:
    """All below, without the database."""
    with contextlib.suppress(OSError):
        listed = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
        for child in map(int, chain.from_iterable(listed)):
            if POSTGRES not in Path(f"/proc/{child}/cmdline").read_bytes():
                yield child
                yield from _children(child)


def _peak_mb(pid: int) -> float:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0


@asynccontextmanager
async def worker_of(parts: Parts) -> AsyncIterator[None]:
    """The application's worker and enricher at work."""
    stop = asyncio.Event()
    async with parts.open_worker() as worker, parts.open_enricher() as enricher:
        working = asyncio.gather(worker.run(stop), enricher.run(stop))
        try:
            yield
        finally:
            stop.set()
            await working


async def measure_all(files: Sequence[Path], home: Path) -> None:
    """Print a line for each file."""
    settings = Settings.read({"BAZA_HOME": str(home), "OCR": "off", "LOG_LEVEL": "ERROR"})
    configure_logging(home / "log", level="ERROR", style="text", destination="file")
    head = f"{'file':20} {'MB':>5} {'s':>6} {'child MB':>9} {'bot MB':>7} {'pause s':>8} {'its CPU':>8}"
    async with open_parts(settings) as parts, worker_of(parts):
        base = await parts.stores.people.open_named_base("benchmark")
        print(f"the bot's process at rest: {_peak_mb(os.getpid()):.0f} MB")
        print(f"{head} {'note s':>7}  outcome")
        costs = []
        for file in files:
            cost = await measure(parts, base, file)
            costs.append(cost)
            print(
                f"{file.name:20} {file.stat().st_size / 1e6:5.1f} {cost.seconds:6.1f} {cost.child_mb:9.0f}"
                f" {cost.bot_mb:7.0f} {cost.pause_s:8.3f} {cost.pause_cpu_s:8.3f} {cost.waited_s:7.2f}"
                f"  {cost.outcome} {cost.passages}",
                flush=True,
            )
    print(
        f"most: child {max(cost.child_mb for cost in costs):.0f} MB, bot {max(cost.bot_mb for cost in costs):.0f} MB"
        f" (wanted under {WANTED_MB}), pause {max(cost.pause_s for cost in costs):.3f} s"
        f" (under {WANTED_PAUSE_S}), of its own processor time {max(cost.pause_cpu_s for cost in costs):.3f} s,"
        f" another's note {max(cost.waited_s for cost in costs):.2f} s (under {WANTED_NOTE_S:.0f})"
    )


def main() -> None:
    """Make the files in another process, whose memory is not counted, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    names: list[str] = parser.parse_args().names
    with tempfile.TemporaryDirectory(prefix="baza-hostile-") as folder:
        Path(folder).chmod(0o711)  # root's server account has to enter it
        made = Path(folder, "files")
        made.mkdir()
        subprocess.run([sys.executable, "-m", "tests.integration.ingestion.hostile_corpus", str(made)], check=True)
        files = [path for path in sorted(made.iterdir()) if not names or path.name in names]
        asyncio.run(measure_all(files, Path(folder, "home")))


if __name__ == "__main__":
    main()
