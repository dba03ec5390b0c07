"""Measures a search against judged questions.

In: which documents each question got, in order, and the judgements. Out: the figures of `baza eval retrieval`.
Pure but for `retrieve`, which asks a search. It builds no base and prints nothing.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from rag.records import RankedPassage

Run = Mapping[str, Sequence[str]]  # query id -> document ids, best first
Judgements = Mapping[str, Mapping[str, float]]  # query id -> document id -> gain; not named means 0
Find = Callable[[str], Awaitable[Sequence[RankedPassage]]]

_TOP = 10
_DEEP = 100


@dataclass(frozen=True, kw_only=True)
class Measures:
    """Means over the judged questions, 0 to 1."""

    ndcg_10: float
    recall_10: float
    recall_100: float
    mrr_10: float
    queries: int

    def to_json(self) -> dict[str, float | int]:
        """With the names that DESIGN section 5 promises; the caller adds "seconds"."""
        return {
            "ndcg@10": self.ndcg_10,
            "recall@10": self.recall_10,
            "recall@100": self.recall_100,
            "mrr@10": self.mrr_10,
            "queries": self.queries,
        }


def evaluate(run: Run, judgements: Judgements) -> Measures:
    """Figures over every question that has a relevant document; one that the run does not name counts as 0.

    Gains are the judgements' scores as they are (linear), discounts log2(rank + 1), as in trec_eval's ndcg_cut.
    """
    judged = {query: gains for query, gains in judgements.items() if any(gain > 0 for gain in gains.values())}
    rows = [(list(dict.fromkeys(run.get(query, ()))), gains) for query, gains in judged.items()]
    return Measures(
        ndcg_10=_mean([_ndcg(ranked, gains, _TOP) for ranked, gains in rows]),
        recall_10=_mean([_recall(ranked, gains, _TOP) for ranked, gains in rows]),
        recall_100=_mean([_recall(ranked, gains, _DEEP) for ranked, gains in rows]),
        mrr_10=_mean([_reciprocal_rank(ranked, gains, _TOP) for ranked, gains in rows]),
        queries=len(rows),
    )


async def retrieve(
    find: Find, queries: Mapping[str, str], name: Callable[[RankedPassage], str], *, at_once: int = 1
) -> dict[str, list[str]]:
    """Run every query, `at_once` at a time; `name` gives a passage's document id, see `documents`."""
    slots = asyncio.Semaphore(at_once)

    async def ask(text: str) -> list[str]:
        async with slots:
            return documents(await find(text), name)

    return dict(zip(queries, await asyncio.gather(*map(ask, queries.values())), strict=True))


def documents(passages: Sequence[RankedPassage], name: Callable[[RankedPassage], str]) -> list[str]:
    """Document ids in the order of their best passages, each once."""
    return list(dict.fromkeys(map(name, passages)))


def _ndcg(ranked: Sequence[str], gains: Mapping[str, float], depth: int) -> float:
    ideal = _dcg(sorted(gains.values(), reverse=True)[:depth])
    return _dcg([gains.get(document, 0.0) for document in ranked[:depth]]) / ideal


def _dcg(gains: Sequence[float]) -> float:
    return sum(max(gain, 0.0) / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _recall(ranked: Sequence[str], gains: Mapping[str, float], depth: int) -> float:
    relevant = {document for document, gain in gains.items() if gain > 0}
    return len(relevant.intersection(ranked[:depth])) / len(relevant)


def _reciprocal_rank(ranked: Sequence[str], gains: Mapping[str, float], depth: int) -> float:
    hits = (1 / rank for rank, document in enumerate(ranked[:depth], start=1) if gains.get(document, 0.0) > 0)
    return next(hits, 0.0)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
