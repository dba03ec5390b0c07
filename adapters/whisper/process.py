"""The listening process, seen from the worker: start it, ask it, end it.

In: an `Opening` and `Hear` requests. Out: its messages, as they come. `ListenerDied` when it does not run, falls silent
or ends; the caller decides what that means. It can read its model and the recordings that are handed to it open, and
reach nothing else; a model that has a name is downloaded before, by a process that sees no recording.
"""

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

import structlog

from adapters.whisper.wire import Hear, Message, Opening, Ready, Trouble, read_message
from sandbox.confinement import Confinement
from sandbox.forkserver import Ended
from sandbox.pool import Line, Pool, PoolDied
from sandbox.records import to_line

ENTRY = "adapters.whisper.listener:serve"
LOADING_S = 1800.0  # a download of a gigabyte or two

KEPT_VARIABLES = ("HOME", "OMP_NUM_THREADS")
DOWNLOAD_VARIABLES = (
    *("PATH", "LANG", "LC_ALL", "TMPDIR", "HOME", "SYSTEMROOT"),
    *("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "HF_ENDPOINT", "HF_HUB_OFFLINE"),
)
SET_VARIABLES = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
DOWNLOAD = (
    "import sys; from faster_whisper.utils import download_model as d; print(d(sys.argv[1], cache_dir=sys.argv[2]))"
)

log = structlog.get_logger()


class ListenerDied(Exception):
    """The process ended or fell silent. `by_signal` is the signal that ended it, when one of the system's did."""

    def __init__(self, reason: str, *, by_signal: int | None = None) -> None:
        super().__init__(reason)
        self.by_signal = by_signal


class ModelRefused(Exception):
    """The model is not there, or the process cannot load it."""


class ListenerProcess:
    """A running process with its model loaded. Made by `start`; `kill` ends it at once."""

    def __init__(self, pool: Pool, line: Line, *, silence_s: float) -> None:
        self._pool = pool
        self._line = line
        self._silence_s = silence_s

    @classmethod
    async def start(cls, opening: Opening, *, models_folder: Path, memory_bytes: int, silence_s: float) -> Self:
        """Wait until the model is loaded. Raises ListenerDied, ModelRefused.

        `models_folder` keeps models that have a name; `silence_s`: after so long without a message a request is given
        up.
        """
        began = time.monotonic()
        folder = await _model_folder(opening.model, models_folder)
        pool = Pool(entry=ENTRY, variables=_kept(KEPT_VARIABLES, os.environ))
        try:
            line = await pool.start(Confinement(reads=(folder,), data_bytes=memory_bytes))
        except BaseException as error:
            await pool.close()
            if isinstance(error, PoolDied):
                raise ListenerDied(str(error)) from error
            raise
        listener = cls(pool, line, silence_s=silence_s)
        try:
            await listener._open(replace(opening, model=folder))
        except BaseException:  # also when cancelled: it must not go on loading
            await listener.kill()
            raise
        log.info("listener_started", model=opening.model, seconds=round(time.monotonic() - began, 2))
        return listener

    async def ask(self, request: Hear, path: Path) -> AsyncGenerator[Message, None]:
        """Its messages about the recording at `path`, without an end: the caller recognises the last one. Raises
        ListenerDied."""
        recording = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            socket.send_fds(self._line.socket, [to_line(request)], [recording])
        except OSError as error:
            raise await self._explain_end() from error
        finally:
            os.close(recording)
        while True:
            yield await self._read(self._silence_s)

    async def kill(self) -> None:
        """End it, whatever it is doing."""
        self._line.close()
        await self._pool.close()

    async def _open(self, opening: Opening) -> None:
        self._line.write(opening)
        match await self._read(LOADING_S):
            case Ready():
                return
            case Trouble(detail=detail):
                raise ModelRefused(detail)
            case other:
                raise ListenerDied(f"it began with {type(other).__name__}")

    async def _read(self, patience_s: float) -> Message:
        try:
            async with asyncio.timeout(patience_s):
                line = await self._line.read()
        except TimeoutError as error:
            raise ListenerDied(f"silent for {patience_s:.0f} s") from error
        except ConnectionError as error:
            raise await self._explain_end() from error
        except ValueError as error:
            raise ListenerDied("it said a line beyond the limit") from error
        if not line.strip():
            raise await self._explain_end()
        try:
            return read_message(line)
        except ValueError as error:
            raise ListenerDied("it said something unreadable") from error

    async def _explain_end(self) -> ListenerDied:
        try:
            ended = await self._line.read_end()
        except (ValueError, ConnectionError):
            ended = None
        status = (ended or Ended(status=1)).status
        name = signal.Signals(-status).name if status < 0 else str(status)
        return ListenerDied(f"it ended by {name}", by_signal=-status if status < 0 else None)


async def _model_folder(model: str, models_folder: Path) -> str:
    """The model's folder; one that has a name is downloaded unless it is there. Raises ModelRefused."""
    if await asyncio.to_thread(Path(model).is_dir):
        return str(Path(model).absolute())  # noqa: ASYNC240 - it asks for the working folder alone
    if Path(model).is_absolute():
        raise ModelRefused(f"no folder {model}")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", DOWNLOAD, model, str(models_folder)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=_kept(DOWNLOAD_VARIABLES, os.environ) | SET_VARIABLES,
    )
    try:
        async with asyncio.timeout(LOADING_S):
            said, trouble = await process.communicate()
    except BaseException:  # also when cancelled: it must not go on loading
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise ModelRefused(trouble.decode(errors="replace").strip().rpartition("\n")[2][:500])
    return said.decode().strip().rpartition("\n")[2]


def _kept(names: tuple[str, ...], environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[name] for name in names if name in environ}
