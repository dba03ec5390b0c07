"""Stands in for an embedder where no model is configured: passages are found by their words alone.

In: windows, or a question. Out: empty vectors, which stores keep as none. Hashed vectors (`benchmarks.hashed`) were
measured beside the words: what they add does not pay for keeping and comparing them (docs/retrieval.md).
"""

from collections.abc import Sequence

from ingestion.records import Vector, Window

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
