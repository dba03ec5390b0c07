"""Embeddings by an ONNX encoder on this machine, with late chunking.

In: windows of documents, or a question. Out: L2-normalised vectors. Meets `ingestion.ports.Embedder` and
`rag.ports.QueryEmbedder`. Windows may be longer than the encoder's context: they are encoded in overlapping stretches,
so that none is ever refused for its length.
"""

import asyncio
from collections.abc import Sequence

import numpy as np

from adapters.local.errors import LocalModelError
from adapters.local.graph import Graph
from adapters.local.identity import identity_of
from adapters.local.late import Reading, own_slice, plain_row, read_text, window_text
from adapters.local.layout import LONGEST_VECTOR, EncoderLayout, Pooling
from adapters.local.stretches import Array, normalise
from adapters.local.tokens import TokenRow, Vocabulary
from ingestion.errors import FailureCode, ServiceError
from ingestion.records import Vector, Window
from rag.errors import ModelRefused

WINDOW_TOKENS = 8000
"""Size of a window, estimated. Far above most contexts, since only a window's edges are embedded twice; its token
vectors, 1,024 numbers each, take 33 MB."""

LATE_FROM_TOKENS = 1024
"""The context from which on late chunking is the default. Encoders with a shorter one were trained on single passages:
with all-MiniLM-L6-v2 it costs more than it brings (docs/chunking.md)."""

SMALLEST_CONTEXT_TOKENS = 64  # below that hardly more than special tokens and a prefix would fit


class LocalEncoder:
    """One encoder. It sees at most `context_tokens` at once, even if the model allows more.

    `late`: whether passages are embedded in the context of their neighbours; None: if the model is made for it. A
    model that is pooled by its first token embeds every passage alone, since its other tokens' vectors are not made to
    be compared with a question's.
    """

    def __init__(self, layout: EncoderLayout, *, context_tokens: int, threads: int, late: bool | None = None) -> None:
        self._context_tokens = min(context_tokens, layout.files.context_tokens)
        if self._context_tokens < SMALLEST_CONTEXT_TOKENS:
            raise LocalModelError(f"{layout.files.name} must see at least {SMALLEST_CONTEXT_TOKENS} tokens at once.")
        wanted = self._context_tokens >= LATE_FROM_TOKENS if late is None else late
        self._late = wanted and layout.pooling is Pooling.MEAN
        self._layout = layout
        self._identity = identity_of(layout)
        self._graph = Graph(layout.files, rank=3, threads=threads)
        self._vocabulary = Vocabulary(layout.files.tokenizer)

    @property
    def model(self) -> str:
        """Name under which the vectors are stored; another model in a folder of this name has another."""
        return f"{self._service}@{self._identity}"

    @property
    def _service(self) -> str:
        """The name by which people are told that it has failed."""
        return f"local/{self._layout.files.name}"

    @property
    def window_tokens(self) -> int:
        """How many tokens one window may hold at the most."""
        return WINDOW_TOKENS

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        """For each window the vectors of its own chunks. Raises ServiceError."""
        embed = self._embed_together if self._late else self._embed_alone
        try:
            return [self._usable(await embed(window)) for window in windows]
        except LocalModelError as error:
            # Somebody has to mend the model or its folder; until then the document is kept.
            raise ServiceError(FailureCode.SERVICE_REFUSED, detail=str(error), service=self._service) from error

    async def embed_query(self, text: str) -> Vector:
        """The question's vector; what is beyond the model's context is left out. Raises ModelError."""
        side = self._layout.question
        try:
            row = await asyncio.to_thread(self._question_row, text, side.prefix)
            (vectors,) = await self._graph.run([row], task=side.task, queues=False)
            (question,) = self._usable(normalise(self._pool_whole(vectors)[None, :]))
        except LocalModelError as error:
            raise ModelRefused(str(error)) from error
        return question

    def _usable(self, vectors: Array) -> list[Vector]:
        """Checks what the graph computed: quantised and half-precision ones may overflow."""
        if vectors.shape[-1] > LONGEST_VECTOR or not np.isfinite(vectors).all():
            raise LocalModelError(
                f"{self._layout.files.name} makes vectors that cannot be kept: not numbers, or too many."
            )
        usable: list[Vector] = vectors.tolist()
        return usable

    async def _embed_together(self, window: Window) -> Array:
        """Late chunking: every own chunk is the mean of its tokens, which have seen what stands around them."""
        text, spans = window_text(window.chunks)
        reading = await asyncio.to_thread(self._read, text)
        outputs = await self._graph.run(reading.rows, task=self._layout.passage.task)
        return await asyncio.to_thread(reading.pool, outputs, spans, own=own_slice(window))

    async def _embed_alone(self, window: Window) -> Array:
        """One vector for each chunk by itself, under its headings."""
        readings = await asyncio.to_thread(lambda: [self._read(chunk.text_under_headings) for chunk in window.own])
        rows = [row for reading in readings for row in reading.rows]
        outputs = iter(await self._graph.run(rows, task=self._layout.passage.task))
        means = [np.mean([self._pool_whole(next(outputs)) for _ in reading.rows], axis=0) for reading in readings]
        return normalise(np.stack(means))

    def _pool_whole(self, vectors: Array) -> Array:
        """One row's vector, not normalised."""
        pooled: Array = vectors[0] if self._layout.pooling is Pooling.CLS else vectors.mean(axis=0)
        return pooled

    def _read(self, text: str) -> Reading:
        return read_text(
            text,
            vocabulary=self._vocabulary,
            prefix=self._layout.passage.prefix,
            context_tokens=self._context_tokens,
        )

    def _question_row(self, text: str, prefix: str) -> TokenRow:
        before, after = self._vocabulary.frame(prefix)
        room = self._layout.files.context_tokens - len(before) - len(after)
        return plain_row([*before, *self._vocabulary.split(text).ids[:room], *after])
