"""What the offline embedder finds alone, and what it adds to BM25, also when the question is mistyped.

In: the folder of data (`python -m benchmarks.offline ../shared/data`). Out: a table on standard output: nDCG@10 and
recall@10 for the questions as typed, nDCG@10 with a typo in each longer word; then speed. All in memory.
"""

import argparse
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from adapters.lexical import RussianEnglishAnalyzer
from benchmarks.hashed import OfflineEmbedder
from benchmarks.lexical import SETS, Bm25, Collection, Scores, measure, read_collection
from benchmarks.mistyping import mistype

RRF_CONSTANT = 60
CANDIDATES = 30  # of each leg, as SEARCH_CANDIDATES
WEIGHTS = (0.2, 0.3, 0.5, 0.75, 1.0, 1.5)  # of the offline leg; BM25 has 1

Leg = Callable[[str], Scores]


@dataclass(frozen=True, kw_only=True)
class Legs:
    """Both ways to score all documents of a collection."""

    lexical: Leg
    vector: Leg


def build_legs(collection: Collection, analyzer: RussianEnglishAnalyzer) -> Legs:
    """Index a collection both ways."""
    index = Bm25([analyzer.terms(text) for text in collection.texts])
    embedder = OfflineEmbedder(analyzer)
    vectors = np.array([embedder.embed(text) for text in collection.texts], dtype=np.float32)
    return Legs(
        lexical=lambda text: index.scores(analyzer.terms(text)),
        vector=lambda text: vectors @ np.array(embedder.embed(text), dtype=np.float32),
    )


def fuse_scores(legs: Legs, weight: float) -> Leg:
    """As `rag.retrieval.ranking`: BM25 as a share of the best, cosine as a share of the way from the lowest found."""
    return lambda text: (
        _scale(_cut(legs.lexical(text)), low=0.0) + np.float32(weight) * _scale(_cut(legs.vector(text)), low=None)
    )


def fuse_ranks(legs: Legs, weight: float) -> Leg:
    """Reciprocal rank fusion with a weight on the vector leg."""
    return lambda text: _reciprocal(legs.lexical(text)) + np.float32(weight) * _reciprocal(legs.vector(text))


def _cut(scores: Scores) -> Scores:
    """Only the candidates of a leg have a score, as the database returns them."""
    if len(scores) <= CANDIDATES:
        return scores
    least = np.partition(scores, -CANDIDATES)[-CANDIDATES]
    return np.where(scores >= least, scores, np.float32(0))


def _scale(scores: Scores, *, low: float | None) -> Scores:
    """0 to 1 for the candidates; 0 for the others, which `_cut` has set to 0."""
    found = scores > 0
    if not found.any():
        return scores
    top = float(scores.max())
    bottom = float(scores[found].min()) if low is None else low
    return np.where(found, (scores - bottom) / max(top - bottom, 1e-9), 0).astype(np.float32)


def _reciprocal(scores: Scores) -> Scores:
    order = np.argsort(-scores, kind="stable")[:CANDIDATES]
    found = order[scores[order] > 0]
    reciprocal = np.zeros_like(scores)
    reciprocal[found] = 1 / (RRF_CONSTANT + 1 + np.arange(len(found)))
    return reciprocal


def _legs_to_compare(legs: Legs) -> dict[str, Leg]:
    sums = {f"sum {weight}": fuse_scores(legs, weight) for weight in WEIGHTS}
    ranks = {f"rrf {weight}": fuse_ranks(legs, weight) for weight in WEIGHTS}
    return {"bm25": legs.lexical, "offline": legs.vector, **sums, **ranks}


def _report_set(data: Path, name: str, analyzer: RussianEnglishAnalyzer) -> None:
    collection = read_collection(data / name)
    chance = random.Random(1)
    mistyped = {question: mistype(text, chance) for question, text in collection.questions.items()}
    with_typos = replace(collection, questions=mistyped)
    for label, leg in _legs_to_compare(build_legs(collection, analyzer)).items():
        quality, typos = measure(collection, leg), measure(with_typos, leg)
        print(f"{name:12} {label:9} {quality.ndcg:7.3f} {quality.recall:10.3f} {typos.ndcg:13.3f}")


def _report_speed(data: Path, analyzer: RussianEnglishAnalyzer) -> None:
    texts = read_collection(data / SETS[0]).texts
    embedder = OfflineEmbedder(analyzer)
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    for state in ("cold", "warm"):
        started = time.perf_counter()
        for text in texts:
            embedder.embed(text)
        seconds = time.perf_counter() - started
        print(f"speed, {state}: {megabytes / seconds:.1f} MB/s, {len(texts) / seconds:,.0f} sections/s")


def main() -> None:
    """Print the table and the speed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds vkcloud and xquad")
    data: Path = parser.parse_args().data
    analyzer = RussianEnglishAnalyzer()
    print(f"{'set':12} {'leg':9} {'nDCG@10':>7} {'recall@10':>10} {'nDCG@10 typos':>13}")
    for name in SETS:
        _report_set(data, name, analyzer)
    _report_speed(data, analyzer)


if __name__ == "__main__":
    main()
