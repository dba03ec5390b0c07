"""`baza eval retrieval`: builds a temporary base from a corpus, asks its questions, measures the search.

In: JSON lines and a TSV (DESIGN, section 5); which documents each question got, in order, and the judgements. Out:
nDCG@10, recall@10, recall@100, MRR@10, queries, seconds. The base is emptied afterwards. It uses the same search as
questions do, only with more candidates.
"""

import asyncio
import json
import math
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from bot.app import Parts, open_parts
from bot.cli.content import COMMAND_LINE_USER, HOLD_S
from bot.cli.output import Bar, CommandError, print_json, print_line
from bot.settings import Settings
from domain.documents import SourceType
from domain.ids import BaseId, DocumentId
from ingestion.records import Batch, Source
from ingestion.worker import Worker
from rag.records import RankedPassage

FIGURES = ("ndcg@10", "recall@10", "recall@100", "mrr@10")
_TOP = 10
_DEEP = 100

CANDIDATES = 200  # passages per kind of search: leaves 100 documents even when several passages of one are found
BATCH = 200  # documents enqueued per call
QUESTIONS_AT_ONCE = 3  # the database searches for some while this process fuses the results of another
DOCUMENTS_AT_ONCE = 8  # so that the database and this process need not wait for each other


def evaluate(run: Mapping[str, Sequence[str]], judgements: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The figures that DESIGN section 5 promises: means, 0 to 1, over every question that has a relevant document; one
    that the run does not name counts as 0. The run has the documents of each query, best first; the judgements the gain
    of each, 0 where it is not named.

    Gains are the judgements' scores as they are (linear), discounts log2(rank + 1), as in trec_eval's ndcg_cut.
    """
    judged = {query: gains for query, gains in judgements.items() if any(gain > 0 for gain in gains.values())}
    rows = []
    for query, gains in judged.items():
        ranked = list(dict.fromkeys(run.get(query, ())))
        relevant = {document for document, gain in gains.items() if gain > 0}
        found, best = [gains.get(document, 0.0) for document in ranked[:_TOP]], sorted(gains.values(), reverse=True)
        recalls = [len(relevant.intersection(ranked[:depth])) / len(relevant) for depth in (_TOP, _DEEP)]
        reciprocal = next((1 / rank for rank, gain in enumerate(found, start=1) if gain > 0), 0.0)
        rows.append((_dcg(found) / _dcg(best[:_TOP]), *recalls, reciprocal))
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)] or [0.0] * len(FIGURES)
    return {**dict(zip(FIGURES, means, strict=True)), "queries": len(rows)}


async def retrieve(
    find: Callable[[str], Awaitable[Sequence[RankedPassage]]],
    queries: Mapping[str, str],
    name: Callable[[RankedPassage], str],
    *,
    at_once: int = 1,
) -> dict[str, list[str]]:
    """Run every query, `at_once` at a time: document ids, which `name` gives, in the order of their best passages."""
    slots = asyncio.Semaphore(at_once)

    async def ask(text: str) -> list[str]:
        async with slots:
            return list(dict.fromkeys(map(name, await find(text))))

    return dict(zip(queries, await asyncio.gather(*map(ask, queries.values())), strict=True))


def _dcg(gains: Sequence[float]) -> float:
    return sum(max(gain, 0.0) / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


async def measure_retrieval(settings: Settings, *, corpus: Path, queries: Path, qrels: Path, as_json: bool) -> int:
    """`baza eval retrieval`. Raises CommandError when a file cannot be read."""
    judged = read_qrels(qrels)
    asked = {row["id"]: row["text"] for row in read_rows(queries) if row["id"] in judged}
    async with open_parts(settings) as parts:
        base = await parts.stores.people.open_named_base(f"eval-{uuid.uuid4()}")
        try:
            begun = time.perf_counter()
            names = await fill_base(parts, base, corpus)
            build_s = time.perf_counter() - begun
            begun = time.perf_counter()
            rank = parts.retrieval(candidates=CANDIDATES, passages=CANDIDATES).rank
            run = await retrieve(
                partial(rank, base), asked, lambda ranked: names[ranked.passage.document_id], at_once=QUESTIONS_AT_ONCE
            )
            search_s = time.perf_counter() - begun
        finally:
            await parts.stores.library.clean_base(base)
    figures = {name: round(value, 4) for name, value in evaluate(run, judged).items()}
    times = {"seconds": build_s + search_s, "build_seconds": build_s, "search_seconds": search_s}
    figures |= {name: round(seconds, 2) for name, seconds in times.items()}
    if as_json:
        print_json(figures)
    else:
        print_line("\n".join(f"{name:>15}  {value}" for name, value in figures.items()))
    return 0


def read_rows(path: Path) -> Iterator[Mapping[str, str]]:
    """The JSON lines of a corpus or of queries: `id`, `text` and perhaps `title`. Raises CommandError."""
    try:
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            row = json.loads(line)
            if not isinstance(row, dict) or not {"id", "text"} <= row.keys():
                raise CommandError(f"{path}, line {number}: an object with `id` and `text` is needed.")
            yield {name: str(value) for name, value in row.items() if value is not None}
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error


def read_qrels(path: Path) -> dict[str, dict[str, float]]:
    """Query id -> document id -> gain, from a TSV with a header line. Raises CommandError."""
    judged: dict[str, dict[str, float]] = {}
    try:
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            query, document, score = line.split("\t")[:3]
            judged.setdefault(query, {})[document] = float(score)
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error
    return judged


async def fill_base(parts: Parts, base: BaseId, corpus: Path) -> Mapping[DocumentId, str]:
    """Add every row of the corpus as a note; returns document id -> row id."""
    names: dict[DocumentId, str] = {}
    rows = list(read_rows(corpus))
    slots = asyncio.Semaphore(DOCUMENTS_AT_ONCE)

    async def work(worker: Worker, document: DocumentId) -> None:
        async with slots:
            await worker.run_only([document])
            shown.advance()

    with Bar(len(rows), corpus.name) as shown:
        async with parts.open_worker() as worker:
            for start in range(0, len(rows), BATCH):
                part = rows[start : start + BATCH]
                sources = tuple(
                    Source(type=SourceType.NOTE, identifier=row["id"], title=row.get("title"), text=row["text"])
                    for row in part
                )
                enqueued = await parts.stores.intake.enqueue(
                    Batch(base_id=base, user_id=COMMAND_LINE_USER, sources=sources), hold_s=HOLD_S
                )
                names.update({document.id: row["id"] for document, row in zip(enqueued, part, strict=True)})
                await asyncio.gather(*(work(worker, document.id) for document in enqueued))
    return names
