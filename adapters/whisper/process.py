"""The listening process, seen from the worker: start it, ask it, end it.

In: an `Opening` and `Hear` requests. Out: its messages, as they come. `ListenerDied` when it does not run, falls silent
or ends; the caller decides what that means. It is started with a clean environment: tokens and keys stay out of the
process that decodes strangers' files.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Self

import structlog

import adapters
from adapters.whisper.wire import Hear, Message, Opening, Ready, Trouble, decode_message

LINE_LIMIT_BYTES = 1024 * 1024
LOADING_S = 1800.0  # a model that has a name is downloaded first, a gigabyte or two

START = "import sys; sys.path.append({folder!r}); from adapters.whisper.listener import main; main()"
"""The folder of our own packages goes last: nothing in it may shadow the standard library."""

KEPT_VARIABLES = (
    *("PATH", "LANG", "LC_ALL", "TMPDIR", "HOME", "SYSTEMROOT", "OMP_NUM_THREADS"),
    *("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "HF_ENDPOINT", "HF_HUB_OFFLINE"),  # for the download
)
SET_VARIABLES = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}

log = structlog.get_logger()


class ListenerDied(Exception):
    """The process ended or fell silent. `by_signal` is the signal that ended it, when one of the system's did."""

    def __init__(self, reason: str, *, by_signal: int | None = None) -> None:
        super().__init__(reason)
        self.by_signal = by_signal


class ModelRefused(Exception):
    """The process runs, and cannot load the model."""


class ListenerProcess:
    """A running process with its model loaded. Made by `start`; `kill` ends it at once."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        silence_s: float,
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._silence_s = silence_s

    @classmethod
    async def start(cls, opening: Opening, *, silence_s: float) -> Self:
        """Wait until the model is loaded. Raises ListenerDied, ModelRefused.

        `silence_s`: after so long without a message a request is given up.
        """
        began = time.monotonic()
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            try:  # connect before there is a process: if cancelled between the two, nobody would end the process
                reader, writer = await asyncio.open_connection(sock=ours, limit=LINE_LIMIT_BYTES)
            except BaseException:
                ours.close()
                raise
            try:
                process = await _spawn(theirs)
            except BaseException:
                writer.transport.abort()
                raise
        listener = cls(process, reader, writer, silence_s=silence_s)
        try:
            await listener._open(opening)
        except BaseException:  # also when cancelled: it must not go on loading
            await listener.kill()
            raise
        log.info("listener_started", model=opening.model, seconds=round(time.monotonic() - began, 2))
        return listener

    async def ask(self, request: Hear) -> AsyncGenerator[Message, None]:
        """Its messages, without an end: the caller recognises the last one. Raises ListenerDied."""
        self._send(request.to_line())
        while True:
            yield await self._read(self._silence_s)

    async def kill(self) -> None:
        """End it, whatever it is doing."""
        self._writer.transport.abort()
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        await self._process.wait()

    async def _open(self, opening: Opening) -> None:
        self._send(opening.to_line())
        match await self._read(LOADING_S):
            case Ready():
                return
            case Trouble(detail=detail):
                raise ModelRefused(detail)
            case other:
                raise ListenerDied(f"it began with {type(other).__name__}")

    def _send(self, line: bytes) -> None:
        self._writer.write(line)

    async def _read(self, patience_s: float) -> Message:
        try:
            async with asyncio.timeout(patience_s):
                line = await self._reader.readline()
        except TimeoutError as error:
            raise ListenerDied(f"silent for {patience_s:.0f} s") from error
        except ConnectionError as error:
            raise await self._explain_end() from error
        except ValueError as error:
            raise ListenerDied("it said a line beyond the limit") from error
        if not line.endswith(b"\n"):
            raise await self._explain_end()
        try:
            return decode_message(line)
        except ValueError as error:
            raise ListenerDied("it said something unreadable") from error

    async def _explain_end(self) -> ListenerDied:
        status = await self._process.wait()
        name = signal.Signals(-status).name if status < 0 else str(status)
        return ListenerDied(f"it ended by {name}", by_signal=-status if status < 0 else None)


async def _spawn(connection: socket.socket) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # the working folder must not be able to shadow a module
        "-c",
        START.format(folder=str(Path(adapters.__file__).parent.parent)),
        stdin=connection.fileno(),
        stdout=asyncio.subprocess.DEVNULL,
        env=_clean_environment(os.environ),
    )


def _clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[name] for name in KEPT_VARIABLES if name in environ} | SET_VARIABLES
