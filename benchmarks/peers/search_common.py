"""What the three peers' scripts share: the vectors and questions of a run, and the form of their answers.

In: a folder with owners.npz and questions.npz (made by benchmarks/search_peers.py). Out: answers.json: for each owner
the ids found for each question and the milliseconds it took. Runs in the peers' own environment and imports nothing of
Baza.
"""

import json
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import psycopg

K = 30
BATCH = 1000
WARMING = 10  # questions before the clock starts, as in benchmarks/search_peers.py

Vector = list[float]
Batch = tuple[list[str], list[str], np.ndarray]  # ids, owners, a row of the vectors each


def folder_and_url() -> tuple[Path, str]:
    """The arguments of the script."""
    return Path(sys.argv[1]), sys.argv[2]


def only_fills() -> bool:
    """Whether nothing is asked in this run."""
    return "fill" in sys.argv[3:]


def fill_once(folder: Path, name: str, fill: Callable[[Iterator[Batch]], None]) -> None:
    """Give `fill` all passages, unless an earlier run over the same folder has."""
    done = folder / f"{name}.filled"
    if not done.exists():
        began = time.perf_counter()
        fill(rows(folder))
        done.touch()
        print(f"{name} filled in {time.perf_counter() - began:.0f} s", flush=True)


def rows(folder: Path) -> Iterator[Batch]:
    """Ids, owners and vectors of all passages, in batches."""
    data = np.load(folder / "owners.npz")
    for number, vectors in enumerate(data.values()):
        for first in range(0, len(vectors), BATCH):
            some = vectors[first : first + BATCH]
            ids = [f"{number}-{place}" for place in range(first, first + len(some))]
            yield ids, [str(number)] * len(some), some


def copy_rows(url: str, columns: str, batches: Iterable[Batch], fields: Callable[[str, str], Sequence[bytes]]) -> None:
    """Rows as the store writes them, by COPY: one at a time takes minutes. `columns`: table and columns, the vector's
    last; `fields` gives the others of an id and an owner in PostgreSQL's binary form."""
    copying = f"copy {columns} from stdin with (format binary)"
    with psycopg.connect(url) as connection, connection.cursor() as cursor, cursor.copy(copying.encode()) as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        for ids, owners, vectors in batches:
            packed = [struct.pack(">hh", len(vector), 0) + vector.tobytes() for vector in vectors.astype(">f4")]
            for one, owner, vector in zip(ids, owners, packed, strict=True):
                copy.write(_row([*fields(one, owner), vector]))
        copy.write(b"\xff\xff")


def _row(fields: Sequence[bytes]) -> bytes:
    return struct.pack(">h", len(fields)) + b"".join(struct.pack(">i", len(one)) + one for one in fields)


def ask(folder: Path, name: str, search: Callable[[str, Vector], list[str]]) -> None:
    """Put all questions, and write what came down under `name`."""
    data = np.load(folder / "questions.npz")
    answers = {}
    for number, questions in enumerate(data.values()):
        for question in questions[:WARMING]:
            search(str(number), question.tolist())
        answers[str(number)] = [_timed(search, str(number), question.tolist()) for question in questions]
    path = folder / "answers.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**known, name: answers}))


def _timed(search: Callable[[str, Vector], list[str]], owner: str, question: Vector) -> tuple[list[str], float]:
    began = time.perf_counter()
    found = search(owner, question)
    return found, (time.perf_counter() - began) * 1000
