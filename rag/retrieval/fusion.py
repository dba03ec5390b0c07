"""Fuses the scores of the two legs into one order.

In: candidates with a similarity, a BM25 score, or both. Out: ranked passages, best first, whatever order the
candidates came in. Pure; the weights are measured elsewhere and passed in.
"""

from collections.abc import Sequence

from rag.records import Candidate, RankedPassage


def fuse(candidates: Sequence[Candidate], *, lexical_weight: float, vector_weight: float) -> list[RankedPassage]:
    """Weighted sum of both legs' scores, each scaled to 0..1 within this result.

    BM25 is scaled from zero, where a passage without a query word stands. Similarity is scaled from the lowest one
    found: a passage that the vector leg did not return is at most as similar as that. Scores, unlike ranks, keep how
    far the best is ahead (Bruch et al. 2023, "An Analysis of Fusion Functions for Hybrid Retrieval").
    """
    bm25 = _scale([c.bm25 for c in candidates], low=0.0)
    similarity = _scale([c.similarity for c in candidates], low=None)
    ranked = [
        RankedPassage(passage=candidate.passage, score=lexical_weight * lexical + vector_weight * vector)
        for candidate, lexical, vector in zip(candidates, bm25, similarity, strict=True)
    ]
    return sorted(ranked, key=best_first)


def best_first(ranked: RankedPassage) -> tuple[float, str, int, int]:
    """The sort key: score, then the passage's place, so that ties have a stable order."""
    passage = ranked.passage
    return (-ranked.score, passage.document_id, passage.ordinal, passage.chunk_id)


def _scale(scores: Sequence[float | None], *, low: float | None) -> list[float]:
    """Min-max scaling from `low` (None: the lowest score) to the highest; None becomes 0, a lone score 1."""
    known = [score for score in scores if score is not None]
    if not known:
        return [0.0] * len(scores)
    bottom, top = min(known) if low is None else low, max(known)
    if top <= bottom:
        return [0.0 if score is None else 1.0 for score in scores]
    return [0.0 if score is None else (score - bottom) / (top - bottom) for score in scores]
