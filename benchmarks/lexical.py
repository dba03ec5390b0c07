"""How well and how fast the lexical leg finds: plain BM25 over the terms of `adapters.lexical`, all in memory.

In: the folder of data (`python -m benchmarks.lexical ../shared/data`). Out: a table of nDCG@10, recall@10 and words a
second on standard output. It asks no database: it measures the terms, with the formula that the database uses.
"""

import argparse
import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from adapters.lexical import RussianEnglishAnalyzer

SETS = ("vkcloud/ru", "vkcloud/en", "xquad/ru", "xquad/en")
K1, B = 1.2, 0.75  # as in the table of the data's README.md
DEPTH = 10

Analyze = Callable[[str], Sequence[str]]
Scores = npt.NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Collection:
    """A corpus with questions and what answers them."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]  # title and text as one
    questions: Mapping[str, str]  # id -> text
    relevant: Mapping[str, Mapping[str, int]]  # question id -> document id -> gain


@dataclass(frozen=True, kw_only=True)
class Quality:
    """Means over all questions."""

    ndcg: float
    recall: float


class Bm25:
    """Postings of a corpus in memory; a word of the question that repeats counts each time."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, terms in enumerate(documents):
            for term, count in Counter(terms).items():
                postings[term].append((number, count))
        lengths = np.array([len(terms) for terms in documents], dtype=np.float32)
        self._norms = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
        self._postings = {term: np.array(pairs, dtype=np.int32) for term, pairs in postings.items()}
        self._size = len(documents)

    def scores(self, terms: Sequence[str]) -> Scores:
        """The score of every document, 0 where no term occurs."""
        scores = np.zeros(self._size, dtype=np.float32)
        for term in terms:
            pairs = self._postings.get(term)
            if pairs is None:
                continue
            numbers, counts = pairs[:, 0], pairs[:, 1].astype(np.float32)
            rarity = math.log(1 + (self._size - len(pairs) + 0.5) / (len(pairs) + 0.5))
            scores[numbers] += rarity * counts * (K1 + 1) / (counts + self._norms[numbers])
        return scores


def read_collection(folder: Path) -> Collection:
    """`corpus.jsonl`, `queries.jsonl` and `qrels.tsv` of one set."""
    corpus = [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
    questions = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    relevant: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, document, gain = line.split("\t")
        relevant[question][document] = int(gain)
    return Collection(
        ids=tuple(document["id"] for document in corpus),
        texts=tuple(f"{document.get('title', '')}\n{document['text']}" for document in corpus),
        questions={question["id"]: question["text"] for question in questions if question["id"] in relevant},
        relevant=relevant,
    )


def measure(collection: Collection, score: Callable[[str], Scores]) -> Quality:
    """nDCG@10 (linear gains) and recall@10 of a scoring of all documents by a question's text."""
    ndcg, recall = [], []
    for question, text in collection.questions.items():
        scores = score(text)
        best = [collection.ids[at] for at in np.argsort(-scores, kind="stable")[:DEPTH] if scores[at] > 0]
        gains = collection.relevant[question]
        ndcg.append(_discounted([gains.get(name, 0) for name in best]) / _discounted(sorted(gains.values())[::-1]))
        recall.append(len(gains.keys() & set(best)) / len(gains))
    return Quality(ndcg=float(np.mean(ndcg)), recall=float(np.mean(recall)))


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains[:DEPTH]))


def _report(folder: Path, analyze: Analyze) -> str:
    collection = read_collection(folder)
    words = sum(len(text.split()) for text in collection.texts)
    started = time.perf_counter()
    documents = [analyze(text) for text in collection.texts]
    seconds = time.perf_counter() - started
    index = Bm25(documents)
    quality = measure(collection, lambda text: index.scores(analyze(text)))
    return f"{quality.ndcg:7.3f} {quality.recall:10.3f} {words:9,} {words / seconds:12,.0f}"


def main() -> None:
    """Print one line a set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds vkcloud and xquad")
    data: Path = parser.parse_args().data
    analyzer = RussianEnglishAnalyzer()
    started = time.perf_counter()
    analyzer.terms("первое слово and a word")
    print(f"loading at the first use: {time.perf_counter() - started:.2f} s")
    print(f"{'set':12} {'nDCG@10':>7} {'recall@10':>10} {'words':>9} {'words/s':>12}")
    for name in SETS:
        print(f"{name:12} {_report(data / name, analyzer.terms)}")


if __name__ == "__main__":
    main()
