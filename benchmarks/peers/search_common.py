"""What the three peers' scripts share: the vectors and questions of a run, and the form of their answers.

In: a folder with owners.npz (made by benchmarks/search_peers.py). Out: answers.json: for each owner the ids found for
each question and the milliseconds it took. Runs in the peers' own environment and imports nothing of Baza.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

K = 30
BATCH = 500

Vector = list[float]


def folder_and_url() -> tuple[Path, str]:
    """The arguments of the script."""
    return Path(sys.argv[1]), sys.argv[2]


def rows(folder: Path) -> Iterator[tuple[list[str], list[str], list[Vector]]]:
    """Ids, owners and vectors of all passages, in batches."""
    data = np.load(folder / "owners.npz")
    for owner in sorted(name for name in data.files if name.startswith("p")):
        vectors = data[owner]
        for first in range(0, len(vectors), BATCH):
            some = vectors[first : first + BATCH]
            ids = [f"{owner[1:]}-{place}" for place in range(first, first + len(some))]
            yield ids, [owner[1:]] * len(some), some.tolist()


def ask(folder: Path, name: str, search: Callable[[str, Vector], list[str]]) -> None:
    """Put all questions, and write what came down under `name`."""
    data = np.load(folder / "owners.npz")
    answers = {}
    for questions in sorted(each for each in data.files if each.startswith("q")):
        owner = questions[1:]
        search(owner, data[questions][0].tolist())  # warm
        answers[owner] = [_timed(search, owner, question.tolist()) for question in data[questions]]
    path = folder / "answers.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**known, name: answers}))


def _timed(search: Callable[[str, Vector], list[str]], owner: str, question: Vector) -> tuple[list[str], float]:
    began = time.perf_counter()
    found = search(owner, question)
    return found, (time.perf_counter() - began) * 1000
