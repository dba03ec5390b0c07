"""Our own time of a turn, with models that answer at once and a base of the size that is asked for.

In: the data folder (`python -m benchmarks.turns ../shared/data`), and how many passages the base is to hold. Out: for
each kind of question p50 and p95 in ms until the first visible text and until the end, our process' own processor time,
and how many models were asked. The chat server is a process of its own on loopback: its HTTP is in the figures, its
work is not. The base is that of `growing`, whose rare words stay rare; with --repeated it is one corpus repeated, where
every word is frequent.
"""

import argparse
import asyncio
import gc
import json
import logging
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median, quantiles
from uuid import uuid4

import psycopg
import structlog

from adapters.database.embedded import embedded_database
from adapters.database.migrate import migrate
from benchmarks.growing import grown, known_texts
from benchmarks.search import PASSAGES_A_DOCUMENT, add_document, read_texts
from bot.app import Parts, open_parts
from bot.cli import OBJECTS_A_COLLECTION
from bot.settings import Settings
from domain.ids import BaseId, SessionId, UserId
from rag.conversation import Conversation
from rag.records import Answered, Question, TextGrew
from tests.servers.llm import ChatRequest, plan_search, serve_llm

LIMIT_MS = 40.0  # issue 5: p95 at 100,000 passages on the PostgreSQL transport
TURNS = 60
WARMING = 5  # turns
ASKED = "vkcloud/ru"  # whose questions, and the corpus that --repeated repeats
USER = UserId(1)
PATIENCE_S = 600


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of question, by the plan that it gets."""

    name: str
    planner: Callable[[ChatRequest], str]


def _no_search(request: ChatRequest) -> str:
    plan = json.loads(plan_search(request))
    return json.dumps({**plan, "intents": ["CONVERSATION"], "tool_calls": []})


def _other_words(request: ChatRequest) -> str:
    """A reformulated query: the early search cannot be used."""
    plan = json.loads(plan_search(request))
    query = " ".join(plan["question"].split()[1:]) or plan["question"]
    return json.dumps({**plan, "tool_calls": [{"tool": "rag_db_query", "args": {"query": query}}]})


def _two_searches(request: ChatRequest) -> str:
    plan = json.loads(plan_search(request))
    words = plan["question"].split()
    halves = [" ".join(words[: len(words) // 2]) or "диск", " ".join(words[len(words) // 2 :])]
    return json.dumps({**plan, "tool_calls": [{"tool": "rag_db_query", "args": {"query": half}} for half in halves]})


KINDS = (
    Kind(name="small talk, no search", planner=_no_search),
    Kind(name="search in the question's own words", planner=plan_search),
    Kind(name="search in other words", planner=_other_words),
    Kind(name="two searches", planner=_two_searches),
)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """Milliseconds, and model calls."""

    first_text: float
    whole: float
    calls: int


async def take_turn(conversation: Conversation, base: BaseId, text: str) -> Turn:
    """One question of a dialogue of its own."""
    question = Question(text=text, user_id=USER, session_id=SessionId(str(uuid4())), base_id=base)
    began = time.perf_counter()
    first, calls = None, 0
    async for event in conversation.answer(question):
        if isinstance(event, TextGrew | Answered) and first is None:
            first = time.perf_counter() - began
        if isinstance(event, Answered):
            calls = event.answer.turn.usage.calls
    whole = time.perf_counter() - began
    return Turn(first_text=1000 * (first or whole), whole=1000 * whole, calls=calls)


async def fill(parts: Parts, base: BaseId, texts: Iterable[str]) -> None:
    """Documents of passages."""
    rest = iter(texts)
    number = 0
    while part := tuple(islice(rest, PASSAGES_A_DOCUMENT)):
        await add_document(parts, base, number, part)
        number += 1


async def measure(kind: Kind, parts: Parts, base: BaseId, questions: Sequence[str]) -> None:
    """Print a line."""
    conversation = parts.conversation()
    for text in questions[:WARMING]:  # connections and dictionaries are opened by the first
        await take_turn(conversation, base, text)
    gc.freeze()  # as `baza run` does when it is ready
    began = time.process_time()
    turns = [await take_turn(conversation, base, text) for text in islice(cycle(questions), TURNS)]
    own = 1000 * (time.process_time() - began) / TURNS
    first, whole = [turn.first_text for turn in turns], [turn.whole for turn in turns]
    print(
        f"{kind.name}: first text p50 {median(first):.1f} p95 {quantiles(first, n=20)[-1]:.1f} ms; "
        f"whole p50 {median(whole):.1f} p95 {quantiles(whole, n=20)[-1]:.1f} ms (limit {LIMIT_MS:.0f}); "
        f"{own:.1f} ms of our processor; {turns[-1].calls} model calls, one after the other; "
        f"load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


@contextmanager
def serving(kind: Kind) -> Iterator[str]:
    """The address of a chat server in a process of its own."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(KINDS.index(kind), there), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


def _serve(kind: int, told: Connection) -> None:
    gc.set_threshold(OBJECTS_A_COLLECTION)  # it shares the processor with us, and keeps all that it was asked

    async def serve() -> None:
        async with serve_llm(reply=lambda _: "[+] Ответ из базы [1].") as server:
            server.planner = KINDS[kind].planner
            gc.freeze()
            told.send(server.url)
            await asyncio.Event().wait()

    asyncio.run(serve())


async def run(data: Path, passages: int, home: Path, *, repeated: bool) -> None:
    """Build the base once, and measure each kind."""
    folder = data / ASKED
    texts = (
        islice(cycle(read_texts(folder, "corpus.jsonl")), passages) if repeated else grown(known_texts(data), passages)
    )
    async with embedded_database(home) as url:
        await migrate(url)
        given = {"BAZA_HOME": str(home), "DATABASE_URL": url}
        async with open_parts(Settings.read(given)) as parts:
            base = await parts.stores.people.open_named_base("turns")
            await fill(parts, base, texts)
            await parts.stores.search.ensure_index()
        settled_s = await settle(url)
        print(f"{passages} passages, settled after {settled_s:.0f} s, {TURNS} turns of each kind:")
        for kind in KINDS:
            await run_kind(kind, given, base, read_texts(folder, "queries.jsonl"))


async def settle(url: str) -> float:
    """Wait, as after any load of documents, until autovacuum has seen the postings (000100_tables.sql): seconds. Raises
    TimeoutError."""
    began = time.monotonic()
    seen = "select relallvisible >= 0.95 * nullif(relpages, 0) from pg_class where oid = 'posting_lists'::regclass"
    async with asyncio.timeout(PATIENCE_S), await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        while True:
            cursor = await connection.execute(seen)
            if await cursor.fetchone() == (True,):
                return time.monotonic() - began
            await asyncio.sleep(1)


async def run_kind(kind: Kind, given: Mapping[str, str], base: BaseId, questions: Sequence[str]) -> None:
    """With a chat server of its own."""
    with serving(kind) as url:
        settings = Settings.read({**given, "LLM_BASE_URL": url, "ANSWER_MODEL": "test-model"})
        async with open_parts(settings) as parts:
            await parts.mirror.refresh()
            await measure(kind, parts, base, questions)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--repeated", action="store_true", help=f"{ASKED} alone, again and again")
    arguments = parser.parse_args()
    gc.set_threshold(OBJECTS_A_COLLECTION)  # as `baza` does
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with tempfile.TemporaryDirectory(prefix="baza-turns-") as folder:
        Path(folder).chmod(0o711)
        asyncio.run(run(arguments.data, arguments.passages, Path(folder) / "home", repeated=arguments.repeated))
