"""Reranking by an ONNX cross-encoder on this machine.

In: a question and passages. Out: (index, relevance from 0 to 1), best first. Meets `rag.ports.Reranker`. Of a passage
that is longer than the model's context only the beginning is read. A person waits: the last passages are not judged
when the model is too slow for all.
"""

import asyncio
import time
from collections.abc import Sequence

import numpy as np
import structlog

from adapters.local.fetching import LocalModelError
from adapters.local.graph import Array, Graph, TokenRow, Vocabulary
from adapters.local.layout import ModelFiles
from rag.errors import ModelNonsense, ModelRefused
from rag.records import Passage

log = structlog.get_logger()

PAIR_TOKENS = 1024
"""Of a question with its passage: what bge-reranker-v2-m3 and jina-reranker-v2 were trained with."""
PAIRS_A_RUN = 8  # about what the graph takes at once
PATIENCE_S = 10.0  # as estimated, sixty passages take bge-reranker-v2-m3 over a minute on two cores


class LocalReranker:
    """One cross-encoder."""

    def __init__(self, files: ModelFiles, *, threads: int) -> None:
        self._files = files
        self._limit = min(PAIR_TOKENS, files.context_tokens)
        self._graph = Graph(files, rank=2, threads=threads)
        self._vocabulary = Vocabulary(files.tokenizer)

    async def rerank(self, query: str, passages: Sequence[Passage], *, top_n: int) -> list[tuple[int, float]]:
        """(index into `passages`, relevance) of the best `top_n`, best first. Raises ModelError.

        Passages come best first; what is not judged in time stands behind the others, with a relevance of 0.
        """
        if not passages or top_n < 1:
            return []
        try:
            scores = await self._judge(query, passages)
        except LocalModelError as error:
            raise ModelRefused(str(error)) from error
        if not np.isfinite(scores).all():
            raise ModelNonsense(f"{self._files.name}: a relevance that is not a finite number")
        scores += [0.0] * (len(passages) - len(scores))
        order = sorted(range(len(scores)), key=lambda index: -scores[index])
        return [(index, scores[index]) for index in order[:top_n]]

    async def _judge(self, query: str, passages: Sequence[Passage]) -> list[float]:
        """The relevance of the first passages, as many as there is time for."""
        scores: list[float] = []
        ends = time.monotonic() + PATIENCE_S
        while len(scores) < len(passages) and (not scores or time.monotonic() < ends):
            some = passages[len(scores) : len(scores) + PAIRS_A_RUN]
            rows = await asyncio.to_thread(self._pairs, query, some)
            scores += map(_relevance, await self._graph.run(rows, queues=False))
        if len(scores) < len(passages):
            log.warning("local.judged_in_part", model=self._files.name, judged=len(scores), of=len(passages))
        return scores

    def _pairs(self, query: str, passages: Sequence[Passage]) -> list[TokenRow]:
        texts = [passage.under_title for passage in passages]
        return [self._vocabulary.pair(query, text, limit=self._limit) for text in texts]


def _relevance(logits: Array) -> float:
    """Of one score its sigmoid; of two («does not answer», «answers») the share of the second."""
    if len(logits) > 2:
        raise ModelRefused(f"a model with {len(logits)} classes does not rerank")
    margin = float(logits[-1] - (logits[0] if len(logits) == 2 else 0.0))
    return float(1 / (1 + np.exp(-np.clip(margin, -60, 60))))
