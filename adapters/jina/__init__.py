"""Jina's API: embeddings with late chunking, and reranking.

In: calls of `ingestion.ports.Embedder`, `rag.ports.QueryEmbedder` and `rag.ports.Reranker`. Out: their records, or the
errors of the package that asked. `client` speaks HTTP and retries; `models` knows what is asked.
"""
