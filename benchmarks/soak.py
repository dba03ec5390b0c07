"""Two people, one of them hostile: how long the other one waits.

In: minutes (`python -m benchmarks.soak 30`). Out: the median, p95 and longest time of the other's notes from sending to
ready, of small files, and of questions; the peak of the process of bot and worker; how many hostile files were read.
The hostile one always has as many files waiting as one person may send at once, of those that the tests make and eight
of the kind that once kept everybody waiting for a minute. Without models.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from itertools import count, cycle
from pathlib import Path
from statistics import median, quantiles

from benchmarks.hostile import ASK_EVERY_S, OTHER, _peak_mb, file_source, note_ready_in_s, until_ended, worker_of
from bot.app import Parts, open_parts
from bot.home import configure_logging
from bot.settings import Settings
from domain.ids import BaseId, UserId
from ingestion.records import Batch

HOSTILE = UserId(1)
AT_ONCE = 8  # files of the hostile one in the queue
PAUSE_S = 1.0  # of the other one between two deeds
ATTRIBUTES, HEAVY = 500_000, 8

Times = dict[str, list[float]]


def make_heavy(folder: Path) -> list[Path]:
    """HTML of 4.9 MB, each another."""
    paths = [folder / f"heavy {number}.html" for number in range(HEAVY)]
    for number, path in enumerate(paths):
        attributes = " ".join(f"a{number}{each}=1" for each in range(ATTRIBUTES))
        path.write_text(f"<html><body><p {attributes}>Слова {number}</p></body></html>", encoding="utf-8")
    return paths


async def send_hostile(parts: Parts, base: BaseId, files: list[Path], sent: list[Path]) -> None:
    """Keep the queue full, for ever."""
    for path in cycle(files):
        while (await parts.stores.statistics.queue()).waiting >= AT_ONCE:  # noqa: ASYNC110 - the worker says nothing
            await asyncio.sleep(ASK_EVERY_S)
        await parts.stores.intake.enqueue(Batch(base_id=base, user_id=HOSTILE, sources=(file_source(path),)))
        sent.append(path)


async def live(parts: Parts, base: BaseId, folder: Path, times: Times) -> None:
    """The other one: a note, a small file, a question, again and again."""
    retrieval = parts.retrieval()
    for number in count():
        times["note"].append(await note_ready_in_s(parts, base, f"Заметка {number}: насос стоит в цехе {number}"))
        times["small file"].append(await _file_ready_in_s(parts, base, folder / f"{number}.txt", number))
        began = time.perf_counter()
        await retrieval.rank(base, f"Где стоит насос {number}?")
        times["question"].append(time.perf_counter() - began)
        await asyncio.sleep(PAUSE_S)


async def _file_ready_in_s(parts: Parts, base: BaseId, path: Path, number: int) -> float:
    await asyncio.to_thread(path.write_text, f"Паспорт насоса {number}. Он проверяется весной.", encoding="utf-8")
    began = time.perf_counter()
    batch = Batch(base_id=base, user_id=OTHER, sources=(file_source(path),))
    (document,) = await parts.stores.intake.enqueue(batch)
    await until_ended(parts, base, document.id)
    return time.perf_counter() - began


async def run(files: list[Path], home: Path, minutes: float) -> None:
    """Run both and print."""
    settings = Settings.read({"BAZA_HOME": str(home), "OCR": "off", "LOG_LEVEL": "ERROR"})
    configure_logging(home / "log", level="ERROR", style="text", destination="file")
    times: Times = {"note": [], "small file": [], "question": []}
    sent: list[Path] = []
    async with open_parts(settings) as parts, worker_of(parts):
        bases = [await parts.stores.people.open_named_base(name) for name in ("hostile", "other")]
        people = [
            asyncio.create_task(send_hostile(parts, bases[0], files, sent)),
            asyncio.create_task(live(parts, bases[1], home, times)),
        ]
        await asyncio.wait(people, timeout=60 * minutes)
        failed = [person.exception() for person in people if person.done()]
        for person in people:
            person.cancel()
        await asyncio.gather(*people, return_exceptions=True)
    print(f"{minutes} minutes, {len(sent)} hostile files sent; bot and worker {_peak_mb(os.getpid()):.0f} MB at most")
    for name, seconds in times.items():
        if len(seconds) > 1:
            p95 = quantiles(seconds, n=20)[-1]
            print(f"{name:>10}: {len(seconds)}, median {median(seconds):.2f} s, p95 {p95:.2f}, most {max(seconds):.2f}")
    if failed:
        raise SystemExit(f"somebody stopped: {failed}")


def main() -> None:
    """Make the files in another process, whose memory is not counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", type=float)
    minutes = parser.parse_args().minutes
    with tempfile.TemporaryDirectory(prefix="baza-soak-") as folder:
        Path(folder).chmod(0o711)  # root's server account has to enter it
        made = Path(folder, "files")
        made.mkdir()
        subprocess.run([sys.executable, "-m", "tests.integration.ingestion.hostile_corpus", str(made)], check=True)
        files = [*make_heavy(made), *sorted(made.iterdir())]
        asyncio.run(run(files, Path(folder, "home"), minutes))


if __name__ == "__main__":
    main()
