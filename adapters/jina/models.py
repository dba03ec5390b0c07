"""Embeddings (windows of documents with late chunking, and questions) and reranking by Jina.

In: windows, a question, passages. Out: a vector for each chunk and question, scores. Of Jina's replies nothing is
believed: count, order, size and finite numbers are checked. Sending, waiting and trying again are in `client`.
"""

import asyncio
import base64
import math
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from adapters.jina.client import (
    DOCUMENT_PATIENCE,
    QUESTION_PATIENCE,
    Body,
    JinaClient,
    JinaFault,
    Patience,
    as_ingestion_error,
    as_model_error,
    estimate_cost,
)
from ingestion.records import Vector, Window
from rag.metering import ask_leave, note_cost
from rag.records import Passage

Vectors = npt.NDArray[np.float64]
_SHORTEST_LENGTH = 1e-6  # a vector of length 0 points nowhere
EMBEDDINGS = "embeddings"
DIMENSIONS = 1024  # what jina-embeddings-v3 makes and the database keeps
WINDOW_TOKENS = 7500  # of the API's 8192 for all inputs of a request; our count is an estimate and needs room
CACHED_QUESTIONS = 256  # asked again when a turn searches twice or an answer is retried; 8 kB each
RERANKING = "rerank"


class _Embedding(BaseModel):
    index: int
    embedding: str | list[float]  # base64 of little-endian float32, or numbers


class _Embeddings(BaseModel):
    data: list[_Embedding]


class _Relevance(BaseModel):
    index: int
    relevance_score: float


class _Relevances(BaseModel):
    results: list[_Relevance]


def read_embeddings(content: bytes, *, count: int, dimensions: int) -> Vectors:
    """`count` L2-normalised vectors in the order of the inputs, a row each. Raises ValueError."""
    found = sorted(_Embeddings.model_validate_json(content).data, key=lambda item: item.index)
    if [item.index for item in found] != list(range(count)):
        raise ValueError(f"{len(found)} vectors for {count} texts, or wrongly numbered")
    vectors = [_decode(item.embedding) for item in found]
    if any(len(vector) != dimensions for vector in vectors):
        raise ValueError(f"a vector that does not have {dimensions} numbers")
    return _normalise(np.stack(vectors))


def _decode(embedding: str | list[float]) -> Vectors:
    if isinstance(embedding, list):
        return np.array(embedding, dtype=np.float64)
    return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float64)


def _normalise(vectors: Vectors) -> Vectors:
    """Length 1 to the last digit; float32 and servers that do not honour `normalized` leave it elsewhere."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths < _SHORTEST_LENGTH).any():
        raise ValueError("a vector that is not finite, or has no length")
    normalised: Vectors = vectors / lengths
    return normalised


def read_relevances(content: bytes, *, count: int) -> list[tuple[int, float]]:
    """(index, relevance), best first, each index of `count` passages at most once. Raises ValueError."""
    results = _Relevances.model_validate_json(content).results
    pairs = [(result.index, result.relevance_score) for result in results]
    indices = {index for index, _ in pairs}
    if not pairs or len(indices) != len(pairs) or not indices <= set(range(count)):
        raise ValueError(f"indices that are not those of {count} passages")
    if not all(math.isfinite(score) for _, score in pairs):
        raise ValueError("a relevance that is not a finite number")
    return sorted(pairs, key=lambda pair: -pair[1])


class JinaEmbedder:
    """One model of Jina. `dimensions` is for models that make shorter vectors."""

    def __init__(
        self, client: JinaClient, *, model: str, dimensions: int = DIMENSIONS, million_cost: float = 0.0
    ) -> None:
        """`million_cost` is what a million tokens cost, in US dollars."""
        self._client = client
        self._model = model
        self._dimensions = dimensions
        self._million_cost = million_cost
        self._questions: OrderedDict[str, Vector] = OrderedDict()

    @property
    def model(self) -> str:
        """Name under which the vectors are stored."""
        return self._model

    @property
    def window_tokens(self) -> int:
        """How many tokens one window may hold at the most."""
        return WINDOW_TOKENS

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        """For each window the vectors of its own chunks. Raises WindowTooLarge, ServiceError."""
        if self._million_cost:
            await ask_leave()
        tasks = [asyncio.create_task(self._embed_window(window)) for window in windows]
        try:
            return list(await asyncio.gather(*tasks))
        except JinaFault as fault:
            raise as_ingestion_error(fault) from fault
        finally:  # the first fault decides; what the others would still bring is thrown away anyway
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _embed_window(self, window: Window) -> list[Vector]:
        texts = window.texts_together
        vectors = await self._embed(texts, "retrieval.passage", late_chunking=True, patience=DOCUMENT_PATIENCE)
        own: list[Vector] = vectors[window.own_start : window.own_end].tolist()
        return own

    async def embed_query(self, text: str) -> Vector:
        """The question's vector. Raises ModelError."""
        if text in self._questions:
            self._questions.move_to_end(text)
            return list(self._questions[text])
        try:
            vectors = await self._embed([text], "retrieval.query", late_chunking=False, patience=QUESTION_PATIENCE)
        except JinaFault as fault:
            raise as_model_error(fault) from fault
        return self._remember(text, vectors[0].tolist())

    def _remember(self, text: str, vector: Vector) -> Vector:
        self._questions[text] = vector
        if len(self._questions) > CACHED_QUESTIONS:
            self._questions.popitem(last=False)
        return list(vector)

    async def _embed(self, texts: Sequence[str], task: str, *, late_chunking: bool, patience: Patience) -> Vectors:
        body: Body = {
            "model": self._model,
            "task": task,
            "late_chunking": late_chunking,
            "normalized": True,
            "dimensions": self._dimensions,
            "embedding_type": "base64",  # a third of the bytes and a tenth of the parsing of numbers
            "input": list(texts),
        }
        count, dimensions, tokens = len(texts), self._dimensions, estimate_cost(texts)
        vectors = await self._client.ask(
            EMBEDDINGS,
            body,
            lambda content: read_embeddings(content, count=count, dimensions=dimensions),
            patience=patience,
            tokens=tokens,
        )
        note_cost(tokens * self._million_cost / 1e6)
        return vectors


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
                RERANKING,
                body,
                lambda content: read_relevances(content, count=count),
                patience=QUESTION_PATIENCE,
                tokens=estimate_cost([query + text for text in texts]),  # the question is read with each
            )
        except JinaFault as fault:
            raise as_model_error(fault) from fault
        return pairs[:top_n]
