"""Search by vector beside LangChain PGVector, LlamaIndex PGVectorStore and Chroma, each with its filter by owner.

In: how many passages in all (`python -m benchmarks.search_peers --python /tmp/peers/bin/python --size 20000`). Out: for
each owner's size recall@30 against the exact answer, p50 and p95 in ms. All get the same made vectors, owners and
questions, one library after the other, in several rounds (`--rounds`): a question's time is the median, since the speed
of a shared machine changes by the minute. The three that use PostgreSQL use the same server, with the settings that
Baza gives it. From 100,000 passages on filling takes longer than asking: `--home FOLDER` keeps what is made for a
second run, `--fill` ends before the first question. With a million, an exact search takes a peer seconds: `--questions
10`.
"""

import argparse
import asyncio
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, median, quantiles

import numpy as np
import psycopg

from adapters.database.embedded import embedded_database
from adapters.database.migrate import migrate
from adapters.database.postgres import open_postgres
from adapters.database.segments import SegmentMirror, SegmentStore
from adapters.database.stores.search import SearchStore
from benchmarks.scale import COPIES_BYTES
from benchmarks.synthetic import MODEL, MadeBase, make_base, store_base
from domain.ids import BaseId
from rag.records import SearchQuery

K = 30
QUESTIONS = 40
ROUNDS = 3
WARMING = 10  # of them, asked before the clock starts: connections, caches and plans of a server that is in use
SHARES = (0.5, 0.1, 0.02, 0.002, 0.0002)  # of all passages; the others belong to owners with a hundredth each
GRAPH_BYTES = 6_500  # of memory a passage: pgvector's guide wants the graph to fit into maintenance_work_mem
LEAST_INDEX_BYTES = 1 << 30
PEERS = {"langchain": "search_langchain.py", "llamaindex": "search_llamaindex.py", "chroma": "search_chroma.py"}

Answers = Mapping[str, Sequence[tuple[Sequence[str], float]]]  # owner -> for each question ids and milliseconds


def make_owners(size: int, *, questions: int = QUESTIONS) -> list[MadeBase]:
    """Owners of very different size, and those around them."""
    sizes = [max(1, round(share * size)) for share in SHARES]
    around = max(1, size // 100)
    sizes += [around] * ((size - sum(sizes)) // around)
    return [make_base(number, one, questions=questions) for number, one in enumerate(sizes)]


async def ask_baza(url: str, owners: Sequence[MadeBase], *, asks: bool) -> Answers:
    """Our own answers, through the store that a turn uses."""
    await migrate(url)
    with psycopg.connect(url) as connection:  # all owners or none: a run that was broken off leaves no half
        is_empty = connection.execute("select from bases limit 1").fetchone() is None
        for owner in owners if is_empty else ():
            store_base(connection, owner)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")
    async with open_postgres(url, pool_size=1, timeout_s=60, prepares=True) as transport:
        mirror = SegmentMirror(SegmentStore(transport), size=COPIES_BYTES)
        search = SearchStore(transport, mirror)
        await search.ensure_index()
        await mirror.refresh()
        return {str(number): await _ask_base(search, owners[number]) for number in range(len(SHARES) if asks else 0)}


async def _ask_base(search: SearchStore, owner: MadeBase) -> list[tuple[list[str], float]]:
    answers: list[tuple[list[str], float]] = []
    for question in (*owner.questions[:WARMING], *owner.questions):
        query = SearchQuery(base_id=BaseId(str(owner.id)), vector=question.tolist(), model=MODEL, terms=(), limit=K)
        began = time.perf_counter()
        found = await search.search(query)
        taken = (time.perf_counter() - began) * 1000
        best = sorted(found, key=lambda each: -(each.similarity or 0))
        answers.append(([each.passage.text for each in best], taken))
    return answers[WARMING:]


def ask_peer(python: Path, peer: str, home: Path, url: str, *, size: int, asks: bool) -> None:
    """The peer's script adds its answers to answers.json in `home`. What an earlier run began to fill is made anew."""
    if not (home / f"{peer}.filled").exists():
        shutil.rmtree(home / peer, ignore_errors=True)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"drop database if exists {peer}".encode())
            connection.execute(f"create database {peer}".encode())
            memory = max(LEAST_INDEX_BYTES, size * GRAPH_BYTES) >> 10
            connection.execute(f"alter database {peer} set maintenance_work_mem = '{memory}kB'".encode())
    path = Path(__file__).parent / "peers" / PEERS[peer]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONWARNINGS": "ignore"}
    address = f"{url.rpartition('/')[0]}/{peer}"
    subprocess.run([python, path, home, address, "ask" if asks else "fill"], check=True, env=environment)


def report(name: str, answers: Answers, owners: Sequence[MadeBase]) -> None:
    """A line for each owner that is asked about."""
    for number in range(len(SHARES)):
        exact = owners[number].nearest(K)
        asked = answers[str(number)]
        recall = mean(
            len(set(_places(ids, owners[number])) & set(best)) / len(best)
            for (ids, _), best in zip(asked, exact, strict=True)
        )
        taken = [milliseconds for _, milliseconds in asked]
        print(
            f"{name:16} {owners[number].size:>9,} passages  recall@30 {recall:.3f}  "
            f"p50 {median(taken):7.1f} ms  p95 {quantiles(taken, n=20)[-1]:7.1f} ms",
            flush=True,
        )


def _places(ids: Sequence[str], owner: MadeBase) -> list[int]:
    """Ours are the numbers in the base, the peers' have the owner before them."""
    return [int(one.rpartition("-")[2]) for one in ids[:K]]


def save_owners(owners: Sequence[MadeBase], home: Path) -> None:
    """For the peers' scripts. Passages stay as an earlier run over the same folder made them, questions are its own."""
    if not (home / "owners.npz").exists():
        np.savez(home / "owners.npz", *(owner.vectors for owner in owners))
    np.savez(home / "questions.npz", *(owner.questions for owner in owners[: len(SHARES)]))


def middle(rounds: Sequence[Answers]) -> Answers:
    """The ids of the first round, and of each question's times the middle one."""
    return {
        owner: [
            (ids, median(each[owner][place][1] for each in rounds)) for place, (ids, _) in enumerate(rounds[0][owner])
        ]
        for owner in rounds[0]
    }


async def run(python: Path, owners: Sequence[MadeBase], home: Path, *, rounds: int) -> None:
    """Everybody in turn; in no round, they are only filled."""
    save_owners(owners, home)
    size = sum(owner.size for owner in owners)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    async with embedded_database(home / "baza", tcp_port=port) as url:
        print(f"{size:,} passages of {len(owners)} owners, load {os.getloadavg()[0]:.1f}", flush=True)
        asked = [await _ask_all(python, home, url, owners, asks=asks) for asks in [True] * rounds or [False]]
        for name in asked[0] if rounds else ():
            report(name, middle([answers[name] for answers in asked]), owners)
        print(f"load {os.getloadavg()[0]:.1f}")


async def _ask_all(
    python: Path, home: Path, url: str, owners: Sequence[MadeBase], *, asks: bool
) -> Mapping[str, Answers]:
    ours = await ask_baza(url, owners, asks=asks)
    size = sum(owner.size for owner in owners)
    for peer in PEERS:
        await asyncio.to_thread(ask_peer, python, peer, home, url, size=size, asks=asks)
    return {"Baza": ours, **(json.loads((home / "answers.json").read_text()) if asks else {})}


@contextmanager
def kept_or_thrown_away(home: Path | None) -> Iterator[Path]:
    """`home`, or a folder that goes."""
    if home is not None:
        home.mkdir(mode=0o711, parents=True, exist_ok=True)
        yield home
        return
    with tempfile.TemporaryDirectory(prefix="baza-peers-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, required=True, help="of the environment with the peers")
    parser.add_argument("--size", type=int, default=20_000, help="passages in all")
    parser.add_argument("--home", type=Path, help="a folder of its own for this size, which stays")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often everybody is asked")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="put to each owner asked about")
    parser.add_argument("--fill", action="store_true", help="ask nobody")
    given = parser.parse_args()
    with kept_or_thrown_away(given.home) as home:
        owners = make_owners(given.size, questions=given.questions)
        asyncio.run(run(given.python, owners, home, rounds=0 if given.fill else given.rounds))


if __name__ == "__main__":
    main()
