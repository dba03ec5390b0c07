"""Runs an ONNX model on this machine's processors.

In: rows of token ids. Out: the model's first fitting output for each row. Heavy work happens in threads, batch by
batch, one batch of documents at a time, so that memory is bounded and the event loop stays free. It pools nothing.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import structlog

from adapters.local.errors import LocalModelError
from adapters.local.layout import ModelFiles
from adapters.local.stretches import Array, plan_batches
from adapters.local.tokens import TokenRow

if TYPE_CHECKING:
    import onnxruntime

ERRORS_ONLY = 3  # onnxruntime's warnings name graph nodes and go to standard error
OUTPUTS = ("last_hidden_state", "token_embeddings", "text_embeds", "logits")
"""Names of outputs, best first; of a model that has none of them the first fitting output is taken."""
INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


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

    async def run(self, rows: Sequence[TokenRow], *, task: int | None = None, queues: bool = True) -> list[Array]:
        """The output for each row, without padding. With `queues` False it does not wait for other runs.

        Raises LocalModelError when the model cannot be loaded or run.
        """
        outputs: dict[int, Array] = {}
        for batch in plan_batches([len(row.ids) for row in rows]):
            async with AsyncExitStack() as stack:
                if queues:
                    await stack.enter_async_context(self._place)
                found = await asyncio.to_thread(self._run_batch, [rows[number] for number in batch], task)
            outputs.update(zip(batch, found, strict=True))
        return [outputs[number] for number in range(len(rows))]

    def _run_batch(self, rows: Sequence[TokenRow], task: int | None) -> list[Array]:
        from onnxruntime.capi import onnxruntime_pybind11_state as failures

        session = self._load()
        feeds = _feeds(session, rows, pad_id=self._files.pad_id, task=task)
        try:
            (output,) = session.run([self._output(session)], feeds)
        except (failures.Fail, failures.InvalidArgument, failures.RuntimeException, failures.EPFail) as error:
            raise LocalModelError(f"{self._files.name} failed on a batch: {error}.") from error
        found = np.asarray(output, dtype=np.float32)
        if self._rank < 3:
            return list(found)
        return [found[number, : len(row.ids)].copy() for number, row in enumerate(rows)]

    def _load(self) -> "onnxruntime.InferenceSession":
        with self._loading:
            if self._session is None:
                started = time.monotonic()
                self._session = _open_session(self._files.graph, threads=self._threads)
                seconds = round(time.monotonic() - started, 2)
                structlog.get_logger().info("local.loaded", model=self._files.name, seconds=seconds)
            return self._session

    def _output(self, session: "onnxruntime.InferenceSession") -> str:
        fitting = [output.name for output in session.get_outputs() if len(output.shape or ()) == self._rank]
        named = [name for name in OUTPUTS if name in fitting]
        if not fitting:
            wanted = "vectors of tokens" if self._rank == 3 else "score"
            raise LocalModelError(f"{self._files.name} gives no {wanted}: it is a model for something else.")
        return (named or fitting)[0]


def _open_session(path: Path, *, threads: int) -> "onnxruntime.InferenceSession":
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as failures

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # others want the processor too
    options.log_severity_level = ERRORS_ONLY
    options.enable_cpu_mem_arena = False  # it would keep the largest batch's memory for good
    unreadable = (failures.Fail, failures.InvalidGraph, failures.InvalidProtobuf, failures.NoSuchFile, failures.NoModel)
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except (*unreadable, failures.NotImplemented, failures.RuntimeException, failures.InvalidArgument) as error:
        raise LocalModelError(f"{path} cannot be loaded: {error}.") from error


def _feeds(
    session: "onnxruntime.InferenceSession", rows: Sequence[TokenRow], *, pad_id: int, task: int | None
) -> dict[str, np.ndarray]:
    """The inputs that the model asks for, by name, padded to the longest row."""
    longest = max(len(row.ids) for row in rows)
    lengths = np.array([[len(row.ids)] for row in rows])
    mask = np.arange(longest)[None, :] < lengths
    known: dict[str, Callable[[], np.ndarray]] = {
        "input_ids": lambda: _padded([row.ids for row in rows], longest, pad_id),
        "attention_mask": lambda: mask,
        "token_type_ids": lambda: _padded([row.types for row in rows], longest, 0),
        "position_ids": lambda: np.broadcast_to(np.arange(longest), mask.shape),
    }
    feeds: dict[str, np.ndarray] = {}
    for wanted in session.get_inputs():
        kind = INTEGERS.get(wanted.type)
        if kind is None or (wanted.name not in known and (wanted.name != "task_id" or task is None)):
            raise LocalModelError(f"the model asks for an input {wanted.name!r} that Baza does not know.")
        value = known[wanted.name]() if wanted.name in known else np.full((1,) * len(wanted.shape or ()), task)
        feeds[wanted.name] = np.array(value, dtype=kind, order="C")
    return feeds


def _padded(rows: Sequence[Sequence[int]], longest: int, filler: int) -> np.ndarray:
    return np.array([[*row, *([filler] * (longest - len(row)))] for row in rows], dtype=np.int64)
