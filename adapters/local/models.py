"""Embeddings, with late chunking, and reranking by ONNX models on this machine.

In: what the settings name: a folder, a folder in BAZA_HOME/models, or a name on the hub that is fetched once; windows
of documents, a question, passages. Out: a `LocalEncoder` or `LocalReranker`, loaded at the first use; L2-normalised
vectors; (index, relevance from 0 to 1), best first; LocalModelError when there is no such model. They meet
`ingestion.ports.Embedder`, `rag.ports.QueryEmbedder` and `rag.ports.Reranker`. A window that is longer than the context
is encoded in overlapping stretches; of such a passage only the beginning is reranked.
"""

import asyncio
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np
import structlog

from adapters.local.graph import (
    Array,
    Graph,
    Offsets,
    Stretch,
    TokenRow,
    Vocabulary,
    normalise,
    plan_stretches,
    pool_mean,
    token_span,
)
from adapters.local.layout import (
    LONGEST_VECTOR,
    EncoderLayout,
    LocalModelError,
    ModelFiles,
    Pooling,
    Told,
    fetch_from_hub,
    identity_of,
    read_encoder,
    read_files,
)
from ingestion.errors import FailureCode, ServiceError
from ingestion.files import locked
from ingestion.records import Vector, Window
from rag.ports import ModelNonsense, ModelRefused
from rag.records import Passage

OVERLAP_SHARE = 0.25
"""The share of the context that neighbouring stretches have in common; a token sees at least an eighth of the context
on both sides."""
WINDOW_TOKENS = 8000
"""Size of a window, estimated. Far above most contexts, since only a window's edges are embedded twice; its token
vectors, 1,024 numbers each, take 33 MB."""
LATE_FROM_TOKENS = 1024
"""The context from which on late chunking is the default. Encoders with a shorter one were trained on single passages:
with all-MiniLM-L6-v2 it costs more than it brings (docs/chunking.md)."""
SMALLEST_CONTEXT_TOKENS = 64  # below that hardly more than special tokens and a prefix would fit

PAIR_TOKENS = 1024
"""Of a question with its passage: what bge-reranker-v2-m3 and jina-reranker-v2 were trained with."""
PAIRS_A_RUN = 8  # about what the graph takes at once
PATIENCE_S = 10.0  # as estimated, sixty passages take bge-reranker-v2-m3 over a minute on two cores
Fetch = Callable[[str, Path], None]
"""Puts the files of a named model into a folder. Raises LocalModelError."""


@dataclass(frozen=True, kw_only=True)
class TokenizedText:
    """A text as the encoder gets it."""

    rows: list[TokenRow]  # one for each stretch
    stretches: list[Stretch]
    offsets: Offsets
    before: int  # tokens in each row before the text's own: special ones and the prefix
    after: int

    def pool(self, outputs: Sequence[Array], spans: Sequence[tuple[int, int]], *, own: slice) -> Array:
        """The vectors of `spans[own]`, of characters. The first span has the tokens before the text too, from the first
        row, the last those after it: a span that is the whole text gets the vector that the model gives to a text."""
        kept = [
            output[self.before + part.keeps_from - part.start : self.before + part.keeps_to - part.start]
            for output, part in zip(outputs, self.stretches, strict=True)
        ]
        vectors = np.concatenate([outputs[0][: self.before], *kept, outputs[-1][len(outputs[-1]) - self.after :]])
        places = [token_span(self.offsets, start, end) for start, end in spans]
        placed = [(first + self.before, last + self.before) for first, last in places]
        placed[0] = (0, max(placed[0][1], 1))
        placed[-1] = (placed[-1][0], len(vectors))
        return pool_mean(vectors, placed[own])


class LocalEncoder:
    """One encoder. It sees at most `context_tokens` at once, even if the model allows more.

    `late`: whether passages are embedded in the context of their neighbours; None: if the model is made for it. A
    model that is pooled by its first token embeds every passage alone, since its other tokens' vectors are not made to
    be compared with a question's.
    """

    window_tokens = WINDOW_TOKENS

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
        return f"{self._service}@{self._identity}"  # another model in a folder of this name has another

    @property
    def _service(self) -> str:
        """The name by which people are told that it has failed."""
        return f"local/{self._layout.files.name}"

    async def embed_windows(self, windows: Sequence[Window]) -> list[list[Vector]]:
        """For each window the vectors of its own chunks. Raises ServiceError."""
        embed = self._embed_together if self._late else self._embed_alone
        try:
            return [
                [array("f", vector.tobytes()) for vector in self._usable(await embed(window))] for window in windows
            ]
        except LocalModelError as error:
            # Somebody has to mend the model or its folder; until then the document is kept.
            raise ServiceError(FailureCode.SERVICE_REFUSED, detail=str(error), service=self._service) from error

    async def embed_query(self, text: str) -> list[float]:
        """The question's vector; what is beyond the model's context is left out. Raises ModelError."""
        try:
            row = await asyncio.to_thread(self._question_row, text)
            (vectors,) = await self._graph.run([row], queues=False)
            question: list[float] = self._usable(normalise(self._pool_whole(vectors)[None, :]))[0].tolist()
        except LocalModelError as error:
            raise ModelRefused(str(error)) from error
        return question

    def _usable(self, vectors: Array) -> Array:
        """Checks what the graph computed: quantised and half-precision ones may overflow."""
        if vectors.shape[-1] > LONGEST_VECTOR or not np.isfinite(vectors).all():
            raise LocalModelError(
                f"{self._layout.files.name} makes vectors that cannot be kept: not numbers, or too many."
            )
        return vectors

    async def _embed_together(self, window: Window) -> Array:
        """Late chunking: every own chunk is the mean of its tokens, which have seen what stands around them."""
        texts = window.texts_together
        ends = [*accumulate(len(text) + 1 for text in texts)]  # with a line break after each
        spans = [(end - 1 - len(text), end - 1) for text, end in zip(texts, ends, strict=True)]
        reading = await asyncio.to_thread(self._read, "\n".join(texts))
        outputs = await self._graph.run(reading.rows)
        return await asyncio.to_thread(reading.pool, outputs, spans, own=slice(window.own_start, window.own_end))

    async def _embed_alone(self, window: Window) -> Array:
        """One vector for each chunk by itself, under its headings and the line that says whose it is."""
        readings = await asyncio.to_thread(lambda: [self._read(text) for text in window.texts_alone])
        rows = [row for reading in readings for row in reading.rows]
        outputs = iter(await self._graph.run(rows))
        means = [np.mean([self._pool_whole(next(outputs)) for _ in reading.rows], axis=0) for reading in readings]
        return normalise(np.stack(means))

    def _pool_whole(self, vectors: Array) -> Array:
        pooled: Array = vectors[0] if self._layout.pooling is Pooling.CLS else vectors.mean(axis=0)
        return pooled

    def _read(self, text: str) -> TokenizedText:
        """The rows for a passage: one, or overlapping stretches when it is longer than the context."""
        before, after = self._vocabulary.frame(self._layout.passage)
        ids, offsets = self._vocabulary.split(text)
        size = self._context_tokens - len(before) - len(after)
        stretches = plan_stretches(len(ids), size=size, overlap=int(size * OVERLAP_SHARE))
        rows = [TokenRow(ids=[*before, *ids[part.start : part.end], *after]) for part in stretches]
        return TokenizedText(rows=rows, stretches=stretches, offsets=offsets, before=len(before), after=len(after))

    def _question_row(self, text: str) -> TokenRow:
        before, after = self._vocabulary.frame(self._layout.question)
        room = self._layout.files.context_tokens - len(before) - len(after)
        return TokenRow(ids=[*before, *self._vocabulary.split(text)[0][:room], *after])


class LocalReranker:
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
        scores: list[float] = []
        ends = time.monotonic() + PATIENCE_S
        try:
            while len(scores) < len(passages) and (not scores or time.monotonic() < ends):
                some = passages[len(scores) : len(scores) + PAIRS_A_RUN]
                pairs = (self._vocabulary.pair(query, passage.under_title, limit=self._limit) for passage in some)
                rows = await asyncio.to_thread(list, pairs)
                scores += map(_relevance, await self._graph.run(rows, queues=False))
        except LocalModelError as error:
            raise ModelRefused(str(error)) from error
        if len(scores) < len(passages):
            judged, name = len(scores), self._files.name
            structlog.get_logger().warning("local.judged_in_part", model=name, judged=judged, of=len(passages))
        if not np.isfinite(scores).all():
            raise ModelNonsense(f"{self._files.name}: a relevance that is not a finite number")
        scores += [0.0] * (len(passages) - len(scores))
        order = sorted(range(len(scores)), key=lambda index: -scores[index])
        return [(index, scores[index]) for index in order[:top_n]]


def _relevance(logits: Array) -> float:
    """Of one score its sigmoid; of two («does not answer», «answers») the share of the second."""
    if len(logits) > 2:
        raise ModelRefused(f"a model with {len(logits)} classes does not rerank")
    margin = float(logits[-1] - (logits[0] if len(logits) == 2 else 0.0))
    return float(1 / (1 + np.exp(-np.clip(margin, -60, 60))))


def open_encoder(
    name: str, *, models: Path, context_tokens: int, threads: int, late: bool | None = None
) -> LocalEncoder:
    """The encoder `name`; see `LocalEncoder` for the rest. Raises LocalModelError."""
    layout = read_encoder(find_model(name, models))
    return LocalEncoder(layout, context_tokens=context_tokens, threads=threads, late=late)


def open_reranker(name: str, *, models: Path, threads: int) -> LocalReranker:
    """Raises LocalModelError."""
    return LocalReranker(read_files(find_model(name, models)), threads=threads)


def find_model(name: str, models: Path, fetch: Fetch | None = None) -> Path:
    """The folder of the model `name`. Raises LocalModelError."""
    given, kept = Path(name).expanduser(), models / name
    for folder in (given, kept):
        if folder.is_dir():
            return folder.resolve()
    if name.count("/") != 1 or name.startswith((".", "/", "~")):
        raise LocalModelError(f"There is no model {name}: neither a folder of that name, nor one in {models}.")
    unfinished = models / ".unfinished" / name
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    with locked(unfinished.with_name(f"{unfinished.name}.lock")):
        if kept.is_dir():  # another process, a worker beside the bot, has just fetched it
            return kept.resolve()
        unfinished.mkdir(parents=True, exist_ok=True)
        structlog.get_logger().info("local.fetching", model=name)
        (fetch or fetch_from_hub)(name, unfinished)
        kept.parent.mkdir(parents=True, exist_ok=True)
        return unfinished.rename(kept)


async def fetched_model(
    name: str, models: Path, fetch: Callable[[str, Path, Told], None], told: Told = lambda done, total: None
) -> Path:
    """`find_model` in a thread. A download that is cancelled stops, and goes on the next time. Raises
    LocalModelError."""
    stopped = threading.Event()

    def heard(done: int, total: int) -> None:
        if stopped.is_set():  # else cancelling would wait for the last byte: a thread cannot be cancelled
            raise LocalModelError("stopped")
        told(done, total)

    try:
        return await asyncio.to_thread(find_model, name, models, lambda name, folder: fetch(name, folder, heard))
    finally:
        stopped.set()
