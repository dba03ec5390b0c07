"""Confined children for one kind of work, and connections to them.

In: a `Confinement` for each. Out: a `Line` to a process that can do that and no more; closing it ends the process. The
process that they are forked from has an environment without secrets, and is started anew when it has died. For `baza
doctor`: which layers of the confinement a child gets here.
"""

import asyncio
import contextlib
import json
import os
import socket
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Self

import structlog

import sandbox
from sandbox.confinement import Confinement, Layer
from sandbox.forkserver import Ended
from sandbox.records import array_line, from_line, to_line

NAMESPACES = True  # False: for tests of what the other layers hold
START_S = 60  # it imports every parser; this is slow on a machine that swaps
LONGEST_LINE_BYTES = 4 * 1024 * 1024  # when our buffer holds twice this, the process has to wait

KEPT_VARIABLES: tuple[str, ...] = ("PATH", "LANG", "LC_ALL", "TMPDIR")  # tokens and keys stay out

START = "import sys; sys.path.append({folder!r}); from sandbox.forkserver import main; main()"
"""The folder of our own packages comes last, so that nothing in it can shadow the standard library."""

log = structlog.get_logger()


class PoolDied(Exception):
    """The process that children are forked from does not run: our fault, not the file's."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Line:
    """Our end of the connection to one process."""

    socket: socket.socket  # for sending descriptors; reading and writing go through the streams
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def write(self, record: object) -> None:
        """Send a record."""
        self.writer.write(to_line(record))

    async def read(self) -> bytes:
        """The next line; the last may lack its line end. Raises ValueError when it is too long."""
        return await self.reader.readline()

    async def read_end(self) -> Ended | None:
        """How the process ended, after an empty line; None when the whole pool did."""
        line = await self.read()
        return from_line(line, Ended) if line else None

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self.writer.transport.abort()


@dataclass(frozen=True, kw_only=True)
class _Running:
    process: asyncio.subprocess.Process
    control: socket.socket


class Closing(ABC):
    """What owns processes: `async with` or `close` ends them."""

    @abstractmethod
    async def close(self) -> None: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


@dataclass(kw_only=True)
class Pool(Closing):
    """Children that all run the same entry point; `async with` or `close` ends them."""

    entry: str  # "package.module:function", a `forkserver.Serve`
    variables: Mapping[str, str] = field(default_factory=dict)  # further ones of the environment

    _running: _Running | None = None
    _is_closed: bool = False
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    @contextlib.asynccontextmanager
    async def child(self, confinement: Confinement) -> AsyncIterator[Line]:
        """A line to a child of one's own, which ends with the block. Raises PoolDied; a block that raises it has seen
        the process die, and the next child has a new one."""
        line, running = await self._connect()
        try:
            line.write(confinement)
            yield line
        except PoolDied:
            await self._end(running)
            raise
        finally:
            line.close()

    async def start(self, confinement: Confinement) -> Line:
        """The same for a caller that closes the line itself."""
        line, _ = await self._connect()
        line.write(confinement)
        return line

    async def end_process(self) -> None:
        """End the process and its children; the next child has a new one."""
        if self._running is not None:
            await self._end(self._running)

    async def close(self) -> None:
        """End the process and its children, also a process that is just being started, and start no more."""
        self._is_closed = True
        async with self._starting:
            await self.end_process()

    async def _connect(self) -> tuple[Line, _Running]:
        async with self._starting:
            if self._is_closed:
                raise PoolDied("it is closed")
            if self._running is None:
                self._running = await self._start()
            running = self._running
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            try:
                socket.send_fds(running.control, [b"."], [theirs.fileno()])
            except OSError as error:
                ours.close()
                await self._end(running)
                raise PoolDied from error
        try:
            reader, writer = await asyncio.open_connection(sock=ours, limit=LONGEST_LINE_BYTES)
        except BaseException:  # cancelled: the child waits for nobody
            ours.close()
            raise
        return Line(socket=ours, reader=reader, writer=writer), running

    async def _end(self, running: _Running) -> None:
        """End this process, and not one that was started after it."""
        if self._running is running:
            self._running = None
        running.control.close()
        try:
            await asyncio.wait_for(running.process.wait(), timeout=5)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                running.process.kill()
            await running.process.wait()

    async def _start(self) -> _Running:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # a file in the working folder must not shadow a module
                "-c",
                START.format(folder=str(Path(sandbox.__file__).parent.parent)),
                self.entry,
                "namespaces" if NAMESPACES else "",
                stdin=theirs.fileno(),
                stdout=asyncio.subprocess.DEVNULL,
                env={**kept_variables(KEPT_VARIABLES), **self.variables},
                start_new_session=True,  # Ctrl-C is for us, who close what is to be closed
            )
        try:
            async with asyncio.timeout(START_S):
                if not await asyncio.get_running_loop().sock_recv(ours, 1):
                    raise ConnectionError("it ended")
        except BaseException as error:
            ours.close()
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            if isinstance(error, Exception):
                await process.wait()
                raise PoolDied(f"{self.entry} does not start: {error!r}; see standard error") from error
            raise
        return _Running(process=process, control=ours)


class Resting(Closing):
    """One process for many requests, which ends after `idle_s` without any."""

    def __init__(self, pool: Pool, *, idle_s: float) -> None:
        self._pool = pool
        self._idle_s = idle_s
        self._line: Line | None = None  # to the process, while it runs
        self._rest: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """End the process, whatever it is doing."""
        self._wake()
        await self._end()
        await self._pool.close()

    def _wake(self) -> None:
        """There is work: the process is to stay."""
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None

    def _rest_later(self) -> None:
        self._rest = asyncio.create_task(self._end_when_idle())

    async def _end_when_idle(self) -> None:
        await asyncio.sleep(self._idle_s)
        log.info("process_rests", entry=self._pool.entry, idle_s=self._idle_s)
        self._rest = None
        await self._end()

    async def _end(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()
        await self._pool.end_process()


def kept_variables(names: Collection[str]) -> dict[str, str]:
    """Those of our environment that a process is to have: all others stay out of it, keys and tokens among them."""
    return {name: os.environ[name] for name in names if name in os.environ}


def report_layers(connection: socket.socket, _stream: BufferedReader, layers: frozenset[Layer]) -> None:
    """See `sandbox.forkserver.Serve`."""
    connection.sendall(array_line(sorted(layers)))


async def probe_layers() -> Mapping[Layer, bool]:
    """Every layer, and whether it holds; none does where no child could be confined."""
    async with Pool(entry="sandbox.pool:report_layers") as pool:
        try:
            async with pool.child(Confinement(address_bytes=2**30)) as line:
                held = set(json.loads(await line.read()))
        except (PoolDied, ConnectionError, ValueError):
            held = set()
    return {layer: layer in held for layer in Layer}
