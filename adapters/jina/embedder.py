"""Embeddings by Jina: windows of documents with late chunking, and questions.

In: windows (one request each: the API joins all inputs of a request into one text, so documents are never mixed), or a
question. Out: L2-normalised vectors. Meets `ingestion.ports.Embedder` and `rag.ports.QueryEmbedder`.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

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
from adapters.jina.models import Vectors, read_embeddings
from ingestion.records import Vector, Window
from rag.metering import ask_leave, note_cost

PATH = "embeddings"
DIMENSIONS = 1024  # what jina-embeddings-v3 makes and the database keeps
WINDOW_TOKENS = 7500  # of the API's 8192 for all inputs of a request; our count is an estimate and needs room
CACHED_QUESTIONS = 256  # asked again when a turn searches twice or an answer is retried; 8 kB each


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
        texts = [chunk.text_under_headings for chunk in window.chunks]
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
            PATH,
            body,
            lambda content: read_embeddings(content, count=count, dimensions=dimensions),
            patience=patience,
            tokens=tokens,
        )
        note_cost(tokens * self._million_cost / 1e6)
        return vectors
