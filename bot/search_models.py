"""Chooses the search models: Jina's with a key, else the local ones that the settings name, else none.

In: settings. Out: an embedder, a reranker or None, and the weights of lexical and vector search for them. Part of the
composition root (`bot.app`), which opens them; models are loaded at their first use.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from adapters.without_vectors import NoEmbedder
from bot.settings import JinaSettings, LocalModelSettings, Settings
from ingestion.ports import Embedder
from rag.ports import QueryEmbedder, Reranker


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
    from adapters.jina.client import open_jina
    from adapters.jina.embedder import JinaEmbedder
    from adapters.jina.pace import TIERS
    from adapters.jina.reranker import JinaReranker

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
