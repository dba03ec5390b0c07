"""`baza eval retrieval`: builds a temporary base from a corpus, asks its questions, prints the measures.

In: JSON lines and a TSV (DESIGN, section 5). Out: nDCG@10, recall@10, recall@100, MRR@10, queries, seconds. The base
is emptied afterwards. It uses the same search as questions do, only with more candidates.
"""

import asyncio
import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bot.app import Parts, open_parts
from bot.cli.adding import COMMAND_LINE_USER, HOLD_S
from bot.cli.errors import CommandError
from bot.cli.output import Bar, print_json, print_line
from bot.settings import Settings
from domain.documents import SourceType
from domain.ids import BaseId, DocumentId
from ingestion.records import Batch, Source
from ingestion.worker import Worker
from rag.evaluation import Measures, evaluate, retrieve
from rag.records import RankedPassage

CANDIDATES = 200  # passages per kind of search: leaves 100 documents even when several passages of one are found
BATCH = 200  # documents enqueued per call
QUESTIONS_AT_ONCE = 3  # the database searches for some while this process fuses the results of another
DOCUMENTS_AT_ONCE = 8  # so that the database and this process need not wait for each other


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
            run = await _ask_all(parts, base, asked, names)
            search_s = time.perf_counter() - begun
        finally:
            await parts.stores.library.clean_base(base)
    _print(evaluate(run, judged), build_s=build_s, search_s=search_s, as_json=as_json)
    return 0


def read_rows(path: Path) -> Iterator[Mapping[str, str]]:
    """The JSON lines of a corpus or of queries: `id`, `text` and perhaps `title`. Raises CommandError."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                yield _row(line, where=f"{path}, line {number}")
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error


def _row(line: str, *, where: str) -> Mapping[str, str]:
    row = json.loads(line)
    if not isinstance(row, dict) or not {"id", "text"} <= row.keys():
        raise CommandError(f"{where}: an object with `id` and `text` is needed.")
    return {name: str(value) for name, value in row.items() if value is not None}


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
            await worker.run_one(document)
            shown.advance()

    with Bar(len(rows), corpus.name) as shown:
        async with parts.open_worker() as worker:
            for start in range(0, len(rows), BATCH):
                part = rows[start : start + BATCH]
                sources = tuple(_note(row) for row in part)
                enqueued = await parts.stores.intake.enqueue(
                    Batch(base_id=base, user_id=COMMAND_LINE_USER, sources=sources), hold_s=HOLD_S
                )
                names.update({document.id: row["id"] for document, row in zip(enqueued, part, strict=True)})
                await asyncio.gather(*(work(worker, document.id) for document in enqueued))
    return names


def _note(row: Mapping[str, str]) -> Source:
    return Source(type=SourceType.NOTE, identifier=row["id"], title=row.get("title"), text=row["text"])


async def _ask_all(
    parts: Parts, base: BaseId, asked: Mapping[str, str], names: Mapping[DocumentId, str]
) -> dict[str, list[str]]:
    """Query id -> row ids of the corpus, best first; each row once, by its best passage."""
    retrieval = parts.retrieval(candidates=CANDIDATES, passages=CANDIDATES)

    async def rank(text: str) -> Sequence[RankedPassage]:
        found = await retrieval.rank(base, text)
        shown.advance()
        return found

    with Bar(len(asked), "queries") as shown:
        return await retrieve(rank, asked, lambda ranked: names[ranked.passage.document_id], at_once=QUESTIONS_AT_ONCE)


def _print(measures: Measures, *, build_s: float, search_s: float, as_json: bool) -> None:
    figures = {
        **{name: round(value, 4) for name, value in measures.to_json().items()},
        "seconds": round(build_s + search_s, 2),
        "build_seconds": round(build_s, 2),
        "search_seconds": round(search_s, 2),
    }
    if as_json:
        print_json(figures)
        return
    for name, value in figures.items():
        print_line(f"{name:>15}  {value}")
