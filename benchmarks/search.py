"""Our own time of one search, at 1,000 and at 10,000 passages in one base of an embedded PostgreSQL.

In: a folder with corpus.jsonl and queries.jsonl (`python -m benchmarks.search ../shared/data/vkcloud/ru`). Out: p50 and
p95 in ms of the database's call for each leg and for both, and of the whole search (the question's vector and terms,
the call, fusion, near-duplicates), without a reranker. The corpus is repeated until the base is large enough.
"""

import argparse
import asyncio
import itertools
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles

from bot.app import Parts, open_parts
from bot.home import configure_logging
from bot.settings import Settings
from domain.documents import SourceType
from domain.ids import BaseId, UserId
from domain.locator import Locator
from ingestion.records import Batch, Chunk, IndexedChunk, Source, Span
from rag.records import SearchQuery

SIZES = (1_000, 10_000)  # passages
PASSAGES_A_DOCUMENT = 50
QUESTIONS = 100
LIMIT_MS = 15.0  # DESIGN, section 7: an exact scan of 9,155 vectors alone


def read_texts(folder: Path, name: str) -> list[str]:
    """Each line of a corpus or of its questions, under its title where it has one."""
    with (folder / name).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [f"{row.get('title') or ''}\n{row['text']}".strip() for row in rows]


async def _indexed(parts: Parts, ordinal: int, text: str) -> IndexedChunk:
    terms = parts.analyzer.terms(text)
    return IndexedChunk(
        chunk=Chunk(ordinal=ordinal, text=text, span=Span(start=0, end=len(text)), locator=Locator()),
        terms=Counter(terms),
        length=len(terms),
        vector=await parts.embedder.embed_query(text),
        model=parts.embedder.model,
    )


async def add_document(parts: Parts, base: BaseId, number: int, texts: Sequence[str]) -> None:
    """One document of ready-made passages, by the calls that a worker makes."""
    source = Source(type=SourceType.NOTE, identifier=f"{number}", title=f"Документ {number}", text="")
    batch = Batch(base_id=base, user_id=UserId(0), sources=(source,))
    (enqueued,) = await parts.stores.intake.enqueue(batch, hold_s=60)
    work = parts.stores.work
    (document,) = await work.claim(worker="benchmark", lease_s=3600, only=[enqueued.id])
    await work.record_content(document, content_hash=f"{number:064x}")
    await work.add_chunks(document, chunks=[await _indexed(parts, place, text) for place, text in enumerate(texts)])
    await work.publish(document, chunks=len(texts))


async def measure(parts: Parts, base: BaseId, questions: Sequence[str]) -> None:
    """Print a line for the database's call and one for the whole search."""
    answer = parts.settings.answer
    queries = [
        SearchQuery(
            base_id=base,
            vector=await parts.embedder.embed_query(question),
            model=parts.embedder.model,
            terms=parts.analyzer.terms(question),
            limit=answer.candidates,
        )
        for question in questions
    ]
    retrieval, search = parts.retrieval(), parts.stores.search.search
    await _report("vectors", lambda at: search(replace(queries[at], terms=())), len(queries))
    await _report("words", lambda at: search(replace(queries[at], vector=None)), len(queries))
    await _report("both", lambda at: search(queries[at]), len(queries))
    await _report("whole", lambda at: retrieval.find(base, questions[at]), len(queries))


async def _report(name: str, ask: Callable[[int], Awaitable[object]], count: int) -> None:
    await ask(0)  # warm: the connection is open, the plans are made
    taken: list[float] = []
    for at in range(count):
        began = time.perf_counter()
        await ask(at)
        taken.append((time.perf_counter() - began) * 1000)
    p95 = quantiles(taken, n=20)[-1]
    print(f"  {name:9} p50 {median(taken):6.1f} ms  p95 {p95:6.1f} ms  p50 of limit {median(taken) / LIMIT_MS:5.0%}")


async def run(settings: Settings, folder: Path) -> None:
    """Fill one base step by step, measuring at each size."""
    questions = read_texts(folder, "queries.jsonl")[:QUESTIONS]
    passages = itertools.cycle(read_texts(folder, "corpus.jsonl"))
    async with open_parts(settings) as parts:
        base = await parts.stores.people.open_named_base("benchmark")
        held = 0
        for size in SIZES:
            while held < size:
                await add_document(parts, base, held, list(itertools.islice(passages, PASSAGES_A_DOCUMENT)))
                held += PASSAGES_A_DOCUMENT
            print(f"{held:,} passages, {len(questions)} questions, load {os.getloadavg()[0]:.1f}", flush=True)
            await measure(parts, base, questions)


def main() -> None:
    """Measure in a throw-away folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with corpus.jsonl and queries.jsonl")
    corpus: Path = parser.parse_args().folder
    with tempfile.TemporaryDirectory(prefix="baza-benchmark-") as folder:
        settings = Settings.read({"BAZA_HOME": folder})
        configure_logging(settings.home / "log", level="WARNING", style="text", destination="file")
        asyncio.run(run(settings, corpus))


if __name__ == "__main__":
    main()
