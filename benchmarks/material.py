"""Corpora of the data folder as the product would store them: passages of notes, with questions and their answers.

In: a folder with corpus.jsonl, queries.jsonl and qrels.tsv. Out: passages, each with the row that it is a part of.
The database is not used; the product's own code reads and cuts.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.replica import Written
from bot.settings import Settings, WorkerSettings
from domain.documents import SourceType
from domain.ids import ChunkId, DocumentId
from ingestion.chunking.chunker import chunk_document
from ingestion.note import read_note
from ingestion.records import Chunk, Source
from rag.records import Passage


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """What can be found; document ids are the rows' ids."""

    passages: tuple[Passage, ...]  # chunk ids count from 0
    written: tuple[Written, ...]  # the same as the index sees them
    chunks: tuple[Chunk, ...]  # and as an embedder does


@dataclass(frozen=True, kw_only=True)
class Questions:
    """What is asked: id -> text, and id -> document id -> gain."""

    texts: Mapping[str, str]
    judged: Mapping[str, Mapping[str, float]]


def read_corpus(folder: Path) -> Corpus:
    """Every row is a note, cut as `CHUNK_TOKENS` and `CHUNK_OVERLAP_TOKENS` have it."""
    limits = Settings.read({}).worker
    cut = [piece for row in _rows(folder / "corpus.jsonl") for piece in _pieces(row, limits)]
    passages = tuple(_passage(number, row, title, chunk) for number, (row, title, chunk) in enumerate(cut))
    written = tuple(Written(text=each.text, above="" if each.title in each.text else each.title) for each in passages)
    return Corpus(passages=passages, written=written, chunks=tuple(chunk for _, _, chunk in cut))


def read_questions(folder: Path) -> Questions:
    """Those that are judged."""
    judged: dict[str, dict[str, float]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, document, gain = line.split("\t")
        judged.setdefault(question, {})[document] = float(gain)
    texts = {row["id"]: row["text"] for row in _rows(folder / "queries.jsonl") if row["id"] in judged}
    return Questions(texts=texts, judged=judged)


def _rows(path: Path) -> Sequence[Mapping[str, str]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _pieces(row: Mapping[str, str], limits: WorkerSettings) -> Iterator[tuple[Mapping[str, str], str, Chunk]]:
    """The row, the title that the note gets, and a chunk of it."""
    note = read_note(Source(type=SourceType.NOTE, identifier=row["id"], title=row.get("title"), text=row["text"]))
    chunks = chunk_document(note, chunk_tokens=limits.chunk_tokens, overlap_tokens=limits.overlap_tokens)
    return ((row, row.get("title") or note.title, chunk) for chunk in chunks)


def _passage(number: int, row: Mapping[str, str], title: str, chunk: Chunk) -> Passage:
    return Passage(
        chunk_id=ChunkId(number),
        document_id=DocumentId(row["id"]),
        ordinal=chunk.ordinal,
        title=title,
        source_type=SourceType.NOTE,
        source_identifier=row["id"],
        text=chunk.text,
        locator=chunk.locator,
    )
