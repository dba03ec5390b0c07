"""Runs an ONNX model on this machine's processors, with the model's own tokenizer.

In: texts, or rows of tokens. Out: token vectors or scores; one vector for each span of characters (late chunking on
tokens: which are encoded together). The work is done in threads, several rows at once. It knows neither documents nor
questions.
"""

import asyncio
import threading
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import structlog

from adapters.local.layout import LocalModelError, ModelFiles

if TYPE_CHECKING:
    import onnxruntime
    from tokenizers import Encoding, Tokenizer


Array = npt.NDArray[np.float32]
Offsets = npt.NDArray[np.int64]  # a row for each token: its characters [start, end)
BATCH_TOKENS = 4096  # of one run, padding included: more brings no speed on a processor
BATCH_SQUARES = 2**22  # sum of squared lengths of one run: attention of 16 heads then takes 270 MB
OUTPUTS = ("last_hidden_state", "token_embeddings", "text_embeds", "logits")
"""Names of outputs, best first; of a model that has none of them the first fitting output is taken."""
INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """Tokens [start, end) are encoded together; the vectors of [keeps_from, keeps_to) are taken from here."""

    start: int
    end: int
    keeps_from: int
    keeps_to: int


def plan_stretches(count: int, *, size: int, overlap: int) -> list[Stretch]:
    """The fewest stretches of at most `size` that cover `count` tokens and overlap by at least `overlap`, evenly
    spread."""
    if count <= size:
        return [Stretch(start=0, end=count, keeps_from=0, keeps_to=count)]
    parts = -(-(count - overlap) // (size - overlap))
    starts = [number * (count - size) // (parts - 1) for number in range(parts)]
    borders = [0, *((later + earlier + size) // 2 for earlier, later in pairwise(starts)), count]
    return [
        Stretch(start=start, end=start + size, keeps_from=borders[number], keeps_to=borders[number + 1])
        for number, start in enumerate(starts)
    ]


def plan_batches(lengths: Sequence[int]) -> list[list[int]]:
    """Numbers of the sequences to run together, like lengths side by side, within the limits above."""
    batches: list[list[int]] = []
    for number in sorted(range(len(lengths)), key=lambda at: -lengths[at]):
        longest = lengths[batches[-1][0]] if batches else 0
        together = len(batches[-1]) + 1 if batches else 1
        if batches and together * longest <= BATCH_TOKENS and together * longest**2 <= BATCH_SQUARES:
            batches[-1].append(number)
        else:
            batches.append([number])
    return batches


def token_span(offsets: Offsets, start: int, end: int) -> tuple[int, int]:
    """Tokens [first, last) that have a character of [start, end); at least one where there are tokens at all."""
    first = int(np.searchsorted(offsets[:, 1], start, side="right"))
    last = int(np.searchsorted(offsets[:, 0], end, side="left"))
    first = min(first, max(len(offsets) - 1, 0))
    return first, min(max(last, first + 1), len(offsets))


def pool_mean(vectors: Array, spans: Sequence[tuple[int, int]]) -> Array:
    """The mean of each span's token vectors, L2-normalised."""
    return normalise(np.stack([vectors[start:end].mean(axis=0, dtype=np.float64) for start, end in spans]))


def normalise(vectors: npt.NDArray[np.floating]) -> Array:
    """Rows of length 1."""
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)  # a vector of length 0 points nowhere
    normalised: Array = (vectors / lengths).astype(np.float32)
    return normalised


@dataclass(frozen=True, kw_only=True)
class TokenRow:
    ids: Sequence[int]
    types: Sequence[int] = ()  # 0, and 1 for the second text of a pair; of one text they may be left out


class Vocabulary:
    """Splits texts as they were split when the model was trained."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def split(self, text: str) -> tuple[list[int], Offsets]:
        """The tokens of `text`, without special ones, and where they stand in it."""
        encoding = self._encode(text)
        return encoding.ids, np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)

    def frame(self, prefix: str) -> tuple[list[int], list[int]]:
        """What goes before and after a text's tokens: special ones, and those of `prefix`."""
        # With a space at its end the prefix would keep a token of its own that it does not have inside a text.
        probe = self._tokenizer.post_process(self._encode(prefix.rstrip() or "a"))
        special = probe.special_tokens_mask
        content = [at for at, is_special in enumerate(special) if not is_special]
        before, after = probe.ids[: content[0]], probe.ids[content[-1] + 1 :]
        return [*before, *(self._encode(prefix.rstrip()).ids if prefix else [])], after

    def pair(self, first: str, second: str, *, limit: int) -> TokenRow:
        """Two texts as one input of at most `limit` tokens: the first may take half of it, the second what is left."""
        room = limit - self._tokenizer.num_special_tokens_to_add(True)
        one, other = self._encode(first), self._encode(second)
        one.truncate(room // 2)
        other.truncate(room - len(one.ids))
        joined = self._tokenizer.post_process(one, other)
        return TokenRow(ids=joined.ids, types=joined.type_ids)

    def _encode(self, text: str) -> "Encoding":
        return self._tokenizer.encode(text, add_special_tokens=False)

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self._path))
        except Exception as error:  # the library raises nothing narrower
            raise LocalModelError(f"{self._path} is no tokenizer that can be read: {error}.") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


class Graph:
    """One model. It is loaded at the first use: most commands of `baza` search nothing."""

    def __init__(self, files: ModelFiles, *, rank: int, threads: int) -> None:
        """`rank`: dimensions of the output for a batch, 3 for vectors of tokens. `threads` 0: one a core."""
        self._files = files
        self._rank = rank
        self._threads = threads
        self._loading = threading.Lock()
        self._session: onnxruntime.InferenceSession | None = None
        self._place = asyncio.Semaphore(1)

    async def run(self, rows: Sequence[TokenRow], *, queues: bool = True) -> list[Array]:
        """The output for each row, without padding. With `queues` False it does not wait for other runs.

        Raises LocalModelError when the model cannot be loaded or run.
        """
        outputs: dict[int, Array] = {}
        for batch in plan_batches([len(row.ids) for row in rows]):
            async with AsyncExitStack() as stack:
                if queues:
                    await stack.enter_async_context(self._place)
                found = await asyncio.to_thread(self._run_batch, [rows[number] for number in batch])
            outputs.update(zip(batch, found, strict=True))
        return [outputs[number] for number in range(len(rows))]

    def _run_batch(self, rows: Sequence[TokenRow]) -> list[Array]:
        from onnxruntime.capi import onnxruntime_pybind11_state as failures

        with self._loading:
            session = self._session = self._session or self._load()
        feeds = _feeds(session, rows, pad_id=self._files.pad_id)
        fitting = [output.name for output in session.get_outputs() if len(output.shape or ()) == self._rank]
        if not fitting:
            wanted = "vectors of tokens" if self._rank == 3 else "score"
            raise LocalModelError(f"{self._files.name} gives no {wanted}: it is a model for something else.")
        try:
            (output,) = session.run([next((name for name in OUTPUTS if name in fitting), fitting[0])], feeds)
        except (failures.Fail, failures.InvalidArgument, failures.RuntimeException, failures.EPFail) as error:
            raise LocalModelError(f"{self._files.name} failed on a batch: {error}.") from error
        found = np.asarray(output, dtype=np.float32)
        if self._rank < 3:
            return list(found)
        return [found[number, : len(row.ids)].copy() for number, row in enumerate(rows)]

    def _load(self) -> "onnxruntime.InferenceSession":
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as failures

        unreadable = (failures.Fail, failures.InvalidGraph, failures.InvalidProtobuf, failures.NoSuchFile)
        unfit = (failures.NoModel, failures.NotImplemented, failures.RuntimeException, failures.InvalidArgument)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # others want the processor too
        options.log_severity_level = 3  # errors: warnings name graph nodes and go to standard error
        options.enable_cpu_mem_arena = False  # it would keep the largest batch's memory for good
        started, path = time.monotonic(), self._files.graph
        try:
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except (*unreadable, *unfit) as error:
            raise LocalModelError(f"{path} cannot be loaded: {error}.") from error
        seconds = round(time.monotonic() - started, 2)
        structlog.get_logger().info("local.loaded", model=self._files.name, seconds=seconds)
        return session


def _feeds(session: "onnxruntime.InferenceSession", rows: Sequence[TokenRow], *, pad_id: int) -> dict[str, np.ndarray]:
    """The inputs that the model asks for, by name, padded to the longest row."""
    longest = max(len(row.ids) for row in rows)
    mask = np.arange(longest)[None, :] < np.array([[len(row.ids)] for row in rows])
    known = {
        "input_ids": np.array([[*row.ids, *([pad_id] * (longest - len(row.ids)))] for row in rows]),
        "attention_mask": mask,
        "token_type_ids": np.array([[*row.types, *([0] * (longest - len(row.types)))] for row in rows]),
        "position_ids": np.broadcast_to(np.arange(longest), mask.shape),
    }
    feeds: dict[str, np.ndarray] = {}
    for wanted in session.get_inputs():
        if wanted.name not in known or wanted.type not in INTEGERS:
            raise LocalModelError(f"the model asks for an input {wanted.name!r} that Baza does not know.")
        feeds[wanted.name] = np.array(known[wanted.name], dtype=INTEGERS[wanted.type], order="C")
    return feeds
