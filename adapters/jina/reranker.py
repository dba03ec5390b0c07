"""Reranking by Jina.

In: a question and passages. Out: (index, relevance), best first. Meets `rag.ports.Reranker`. The search decides how
many passages go in, and what is done when the model is away.
"""

from collections.abc import Sequence

from adapters.jina.client import QUESTION_PATIENCE, Body, JinaClient
from adapters.jina.faults import JinaFault, as_model_error
from adapters.jina.pace import estimate_cost
from adapters.jina.replies import read_relevances
from rag.records import Passage

PATH = "rerank"


class JinaReranker:
    """One reranking model of Jina."""

    def __init__(self, client: JinaClient, *, model: str) -> None:
        self._client = client
        self._model = model

    async def rerank(self, query: str, passages: Sequence[Passage], *, top_n: int) -> list[tuple[int, float]]:
        """(index into `passages`, relevance) of the best `top_n`, best first. Raises ModelError."""
        if not passages or top_n < 1:
            return []
        texts = [passage.under_title for passage in passages]
        body: Body = {
            "model": self._model,
            "query": query,
            "documents": list(texts),
            "top_n": min(top_n, len(passages)),
            "return_documents": False,  # the default sends every passage back
        }
        count = len(passages)
        try:
            pairs = await self._client.ask(
                PATH,
                body,
                lambda content: read_relevances(content, count=count),
                patience=QUESTION_PATIENCE,
                tokens=estimate_cost([query + text for text in texts]),  # the question is read with each
            )
        except JinaFault as fault:
            raise as_model_error(fault) from fault
        return pairs[:top_n]
