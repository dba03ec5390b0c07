"""Chooses the search models: Jina's with a key, else the local ones that the settings name, else none.

In: settings. Out: an embedder, a reranker or None, and the weights of lexical and vector search for them. Part of the
composition root (`bot.app`), which opens them; models are loaded at their first use.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bot.settings import JinaSettings, LocalModelSettings, Settings
from ingestion.ports import Embedder
from ingestion.records import Vector, Window
from rag.ports import QueryEmbedder, Reranker

MODEL = "none"
WINDOW_TOKENS = 7500  # nothing limits it; the same as Jina's, so that progress is reported in similar steps


class NoEmbedder:
    """Meets `ingestion.ports.Embedder` and `rag.ports.QueryEmbedder`."""

    @property
    def model(self) -> str:
        """What passages without a vector are marked with."""
        return MODEL

    @property
    def window_tokens(self) -> int:
        """How many tokens one window may hold at the most."""
        return WINDOW_TOKENS

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        """An empty vector for each of a window's own chunks."""
        return [[[] for _ in window.own] for window in windows]

    async def embed_query(self, text: str) -> Vector:
        """Nothing to compare."""
        return []


class TextEmbedder(Embedder, QueryEmbedder, Protocol):
    """One model for passages and questions: vectors of different models cannot be compared."""


@dataclass(frozen=True, kw_only=True)
class Fusion:
    """The weights of lexical and vector search; measured in benchmarks, see docs/decisions.md."""

    lexical_weight: float
    vector_weight: float


WITHOUT_VECTORS = Fusion(lexical_weight=1.0, vector_weight=0.0)
WITH_LOCAL_VECTORS = Fusion(lexical_weight=1.0, vector_weight=1.5)
WITH_JINA_VECTORS = Fusion(lexical_weight=0.4, vector_weight=0.6)


@dataclass(frozen=True, kw_only=True)
class SearchModels:
    """What `rag.retrieval` is given."""

    embedder: TextEmbedder
    reranker: Reranker | None
    fusion: Fusion


async def open_search_models(settings: Settings, stack: AsyncExitStack) -> SearchModels:
    """The models that are configured. Raises LocalModelError for a local one that cannot be used."""
    if settings.jina.api_key is not None:
        return await _open_jina_models(settings.jina, settings.jina.api_key.get_secret_value(), stack)
    # In a thread: a model given by its name is downloaded, which may take minutes.
    return await asyncio.to_thread(_open_local_models, settings.local, settings.home / "models")


async def _open_jina_models(jina: JinaSettings, key: str, stack: AsyncExitStack) -> SearchModels:
    from adapters.jina.client import TIERS, open_jina
    from adapters.jina.models import JinaEmbedder, JinaReranker

    client = await stack.enter_async_context(
        open_jina(
            base_url=jina.base_url,
            api_key=key,
            timeout_s=jina.timeout_s,
            tier=TIERS[jina.tier],
            concurrency=jina.concurrency,
        )
    )
    return SearchModels(
        embedder=JinaEmbedder(client, model=jina.embedding_model, million_cost=jina.million_cost),
        reranker=JinaReranker(client, model=jina.reranker_model),
        fusion=WITH_JINA_VECTORS,
    )


def _open_local_models(local: LocalModelSettings, models: Path) -> SearchModels:
    embedder: TextEmbedder = NoEmbedder()
    reranker: Reranker | None = None
    if local.embedding_model or local.reranker_model:
        from adapters.local.opening import open_encoder, open_reranker

        if local.embedding_model:
            embedder = open_encoder(
                local.embedding_model,
                models=models,
                context_tokens=local.context_tokens,
                threads=local.threads,
                late=local.late_chunking,
            )
        if local.reranker_model:
            reranker = open_reranker(local.reranker_model, models=models, threads=local.threads)
    fusion = WITH_LOCAL_VECTORS if local.embedding_model else WITHOUT_VECTORS
    return SearchModels(embedder=embedder, reranker=reranker, fusion=fusion)
