"""Search by vector in bases of any size side by side: its time, and how much of the exact answer it finds.

In: sizes of bases (`python -m benchmarks.scale 1000 100000`; `500000 --among 1000000` adds bases of others, up to so
many passages in all). Out: for each base p50 and p95 in ms of one whole search in the database, how that grew,
recall@30, and how often fewer rows came than there are; how long storing and segments took. All bases are in one
embedded PostgreSQL. A million passages need 8 GB of disk and, beside the server's, 3 GB of memory.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, quantiles

import psycopg

from adapters.database.embedded import embedded_database
from adapters.database.migrate import migrate
from adapters.database.postgres import open_postgres
from adapters.database.segments import SegmentMirror, SegmentStore
from adapters.database.stores.search import SearchStore
from benchmarks.synthetic import MODEL, MadeBase, make_base, store_base
from domain.ids import BaseId
from rag.records import SearchQuery

SIZES = (1, 10, 100, 1_000, 10_000, 20_000)  # passages; a minute or two
K = 30
QUESTIONS = 100
PATIENCE_S = 600
COPIES_BYTES = 256 * 2**20  # as a bot has them by itself
LARGEST_BESIDE = 50_000  # passages of a base that only stands beside the others


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One base."""

    size: int
    times_ms: Sequence[float]
    recalls: Sequence[float]
    short: int  # questions that were given fewer rows than there are

    def line(self, before: "Measured | None") -> str:
        """For the table; `before` is the next smaller base."""
        grown = "" if before is None else f"  x{median(self.times_ms) / median(before.times_ms):.1f}"
        p95 = quantiles(self.times_ms, n=20)[-1]
        return (
            f"{self.size:>9,} passages  p50 {median(self.times_ms):7.1f} ms  p95 {p95:7.1f}"
            f" ms  recall@{K} {mean(self.recalls):.4f} (least {min(self.recalls):.2f})  short {self.short}{grown}"
        )


async def measure(search: SearchStore, base: MadeBase) -> Measured:
    """Each question once, after one to warm."""
    times_ms: list[float] = []
    recalls: list[float] = []
    short = 0
    exact = base.nearest(K)
    await _ask(search, base, 0)
    for number, best in enumerate(exact):
        began = time.perf_counter()
        found = await _ask(search, base, number)
        times_ms.append((time.perf_counter() - began) * 1000)
        recalls.append(len(found & set(best)) / len(best))
        short += len(found) < len(best)
    return Measured(size=base.size, times_ms=times_ms, recalls=recalls, short=short)


async def _ask(search: SearchStore, base: MadeBase, number: int) -> set[int]:
    vector = base.questions[number].tolist()
    query = SearchQuery(base_id=BaseId(str(base.id)), vector=vector, model=MODEL, terms=(), limit=K)
    return {int(each.passage.text) for each in await search.search(query)}


def fill(url: str, sizes: Sequence[int], among: int) -> None:
    """The bases to be asked, then others until there are `among` passages in all."""
    beside = [min(LARGEST_BESIDE, among - stored) for stored in range(sum(sizes), among, LARGEST_BESIDE)]
    with psycopg.connect(url, autocommit=True) as connection:
        for number, size in enumerate([*sizes, *beside]):
            store_base(connection, make_base(number, size, questions=QUESTIONS))
        connection.execute("vacuum analyze")


async def run(sizes: Sequence[int], among: int, home: Path, *, copies: bool) -> None:
    """All bases first, then all measurements, smallest first."""
    async with embedded_database(home) as url:
        await migrate(url)
        began = time.monotonic()
        await asyncio.to_thread(fill, url, sizes, among)
        filled = time.monotonic()
        async with open_postgres(url, pool_size=1, timeout_s=PATIENCE_S, prepares=True) as transport:
            mirror = SegmentMirror(SegmentStore(transport), size=COPIES_BYTES if copies else 0)
            search = SearchStore(transport, mirror)
            await search.ensure_index()
            in_segment = time.monotonic()
            await mirror.refresh()
            print(
                f"{max(among, sum(sizes)):,} passages stored in {filled - began:.0f} s, segments made in"
                f" {in_segment - filled:.0f} s, copied in {time.monotonic() - in_segment:.1f} s",
                flush=True,
            )
            before: Measured | None = None
            for number, size in enumerate(sizes):
                measured = await measure(search, make_base(number, size, questions=QUESTIONS))
                print(measured.line(before), f" load {os.getloadavg()[0]:.1f}", flush=True)
                before = measured


def main() -> None:
    """Measure in a throw-away folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=int, nargs="*", default=list(SIZES), help="passages of each base, ascending")
    parser.add_argument("--among", type=int, default=0, help="passages of all bases together")
    parser.add_argument("--without-copies", action="store_true", help="vectors are compared in the database alone")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="baza-scale-") as folder:
        Path(folder).chmod(0o711)
        asyncio.run(run(given.sizes, given.among, Path(folder) / "home", copies=not given.without_copies))


if __name__ == "__main__":
    main()
