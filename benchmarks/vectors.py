"""Vectors of a corpus's passages by the models that need no key, kept on disk because making them takes minutes.

In: passages and a question. Out: their similarities.
"""

import asyncio
from collections.abc import Mapping
from functools import cache
from itertools import groupby
from pathlib import Path

import numpy as np

from adapters.lexical import RussianEnglishAnalyzer
from adapters.local.opening import open_encoder
from benchmarks.hashed import OfflineEmbedder
from benchmarks.material import Corpus
from benchmarks.replica import Scores
from bot.search_models import TextEmbedder
from ingestion.chunking.windows import split_into_windows

CONTEXT_TOKENS = 512  # all that MiniLM has positions for


class Vectors:
    """Of one corpus; made and opened when they are first asked for."""

    def __init__(self, corpus: Corpus, *, kept: Path, models: Mapping[str, Path | None]) -> None:
        self._corpus = corpus
        self._kept = kept
        self._models = models
        self._rows = cache(self._load)
        self._embedder = cache(self._open)

    def similarities(self, model: str, question: str) -> Scores:
        """The cosine of every passage."""
        vector = asyncio.run(self._embedder(model).embed_query(question))
        similarities: Scores = self._rows(model) @ np.array(vector, dtype=np.float32)
        return similarities

    def _open(self, model: str) -> TextEmbedder:
        folder = self._models.get(model)
        if folder is None:
            return OfflineEmbedder(RussianEnglishAnalyzer())
        return open_encoder(str(folder), models=folder, context_tokens=CONTEXT_TOKENS, threads=0, late=None)

    def _load(self, model: str) -> Scores:
        path = self._kept / f"{model}.npy"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, asyncio.run(self._embed(model)))
        rows: Scores = np.load(path)
        return rows

    async def _embed(self, model: str) -> Scores:
        """As a worker does: window by window, each document by itself."""
        embedder = self._embedder(model)
        numbered = zip(self._corpus.passages, self._corpus.chunks, strict=True)
        rows: list[list[float]] = []
        for _, pairs in groupby(numbered, key=lambda pair: pair[0].document_id):
            windows = split_into_windows([chunk for _, chunk in pairs], window_tokens=embedder.window_tokens)
            rows += [vector for own in await embedder.embed_windows(windows) for vector in own]
        return np.array(rows, dtype=np.float32)
