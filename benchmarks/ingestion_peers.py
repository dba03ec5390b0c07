"""Ingestion beside its peers: the same files, the same PostgreSQL, the same instant vectors, in one run.

In: the interpreter of the peers' environment and files (`python -m benchmarks.ingestion_peers /tmp/peers/bin/python
../shared/data/pdf/…`). Out: files, MB and pages a second of Baza, LangChain and LlamaIndex, and how many times faster
Baza is than the better one. Each does its whole usual path: load or fetch and parse, split, embed, store. Baza also
makes its lexical index, which the others do not.
"""

import argparse
import asyncio
import gc
import json
import socket
import subprocess
import tempfile
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from adapters.database.embedded import embedded_database
from bot.app import open_parts
from bot.cli import OBJECTS_A_COLLECTION
from bot.cli.content import add_sources, for_adding
from bot.home import configure_logging
from bot.settings import Settings
from domain.documents import DocumentCard, DocumentStatus
from ingestion.records import Vector, Window

SUFFIXES = frozenset({".pdf", ".docx", ".html", ".md", ".txt"})  # what all three read without further programs
DIMENSIONS = 1024
MEGABYTE = 1e6
GOAL = 3.5  # times the better one, for mixed files
PEERS = Path(__file__).parent / "peers"


class InstantEmbedder:
    """Meets `ingestion.ports.Embedder`: vectors that cost nothing, as the peers get them."""

    model = "instant"
    window_tokens = 8000

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        """As long as the text is, modulo a prime."""
        return [
            [array("f", [1.0 / (1 + len(chunk.text) % 97)]) * DIMENSIONS for chunk in window.own] for window in windows
        ]

    async def embed_query(self, text: str) -> list[float]:
        """The same for a question."""
        return [1.0 / (1 + len(text) % 97)] * DIMENSIONS


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one of them did."""

    name: str
    documents: int
    failed: int
    chunks: int
    seconds: float
    pages: int = 0  # of the files that have pages


def ask_peer(python: Path, script: str, url: str, warm: Path, paths: Sequence[Path]) -> Outcome:
    """Run a peer's script in its own environment; `warm` is read before its clock starts."""
    command = [str(python), str(PEERS / f"{script}_ingestion.py"), url, str(warm), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said = json.loads(done.stdout.splitlines()[-1])
    return Outcome(
        name=script,
        documents=said["documents"],
        failed=said["failed"],
        chunks=said["chunks"],
        seconds=said["seconds"],
    )


def _begin_as_a_command(settings: Settings) -> None:
    """What `bot.cli` does first: otherwise each event is written to the screen in colours, and objects are collected
    seventy times as often."""
    gc.set_threshold(OBJECTS_A_COLLECTION)
    log = settings.log
    configure_logging(settings.home / "log", level=log.level, style=log.format, destination=log.destination)


async def ask_baza(home: Path, warm: Path, paths: Sequence[Path]) -> Outcome:
    """The worker that `baza add` uses, as it is set by itself; pictures of pages are not read, as by the peers."""
    settings = Settings.read({"BAZA_HOME": str(home), "MAX_FILE_MB": "100", "OCR": "off"})
    _begin_as_a_command(settings)
    async with open_parts(for_adding(settings)) as opened:
        # The record is frozen; a benchmark may put another embedder into it.
        object.__setattr__(opened, "embedder", InstantEmbedder())
        base = await opened.stores.people.open_named_base("peers")
        async with opened.open_worker() as worker:
            _ = [each async for each in add_sources(opened, worker, base, [str(warm)])]
            began = time.perf_counter()
            outcomes = [each async for _, each in add_sources(opened, worker, base, [str(path) for path in paths])]
            seconds = time.perf_counter() - began
    cards = [each for each in outcomes if isinstance(each, DocumentCard)]
    ready = [card for card in cards if card.status in (DocumentStatus.READY, DocumentStatus.DUPLICATE)]
    return Outcome(
        name="baza",
        documents=len(ready),
        failed=len(paths) - len(ready),
        chunks=sum(card.chunks for card in ready),
        seconds=seconds,
        pages=sum(card.pages or 0 for card in ready),
    )


async def open_peers_database(url: str) -> str:
    """A database of their own on the same server, with pgvector where they look for it."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("create database peers")
    theirs = urlunsplit(urlsplit(url)._replace(path="/peers"))
    async with await psycopg.AsyncConnection.connect(theirs, autocommit=True) as connection:
        await connection.execute("create extension vector")
    return theirs


async def run(python: Path, paths: Sequence[Path]) -> None:
    """Measure all three and print."""
    megabytes = sum(path.stat().st_size for path in paths) / MEGABYTE
    with tempfile.TemporaryDirectory(prefix="baza-peers-", dir="/tmp") as folder:
        home = Path(folder)
        warm = home / "warm.txt"
        warm.write_text("Что читается до начала: здесь и загружается всё, что нужно.", encoding="utf-8")
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        async with embedded_database(home, tcp_port=port) as url:  # the superuser's: a database for the others is made
            baza = await ask_baza(home, warm, paths)
            theirs = await open_peers_database(url)
            peers = [
                await asyncio.to_thread(ask_peer, python, name, theirs, warm, paths)
                for name in ("langchain", "llamaindex")
            ]
    print(f"{len(paths)} files, {megabytes:.1f} MB, {baza.pages} pages in files that have pages")
    for each in (baza, *peers):
        print(
            f"{each.name:>10}: {each.seconds:6.1f} s, {megabytes / each.seconds:6.2f} MB/s, "
            f"{baza.pages / each.seconds:5.1f} pages/s, "
            f"{each.documents} ready, {each.failed} failed, {each.chunks} passages"
        )
    times = min(peer.seconds for peer in peers) / baza.seconds
    print(f"baza is {times:.1f} times as fast as the better one (goal {GOAL})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", type=Path, help="the interpreter of the peers' environment")
    parser.add_argument("paths", nargs="+", type=Path, help="files, or folders with files")
    arguments = parser.parse_args()
    named = [path for given in arguments.paths for path in ([given] if given.is_file() else sorted(given.rglob("*")))]
    asyncio.run(run(arguments.python, [path for path in named if path.suffix.lower() in SUFFIXES]))
