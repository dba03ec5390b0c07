"""Starts the nursery and connects callers to freshly forked processes.

In: nothing. Out: sockets, each with a limited process at its other end (`child`). Closing a socket ends its process.
`process` knows what is said over the sockets.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import ingestion

START_S = 60  # it imports every parser; this is slow on a machine that swaps
CLOSING_S = 5

KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
"""Environment variables that the process keeps: tokens and keys stay out of a process that reads strangers' files."""

START_NURSERY = "import sys; sys.path.append({folder!r}); from ingestion.parsers.nursery import main; main()"
"""The folder of our own packages comes last, so that nothing in it can shadow the standard library."""


class NurseryDied(Exception):
    """The process that parsers are forked from does not run: our fault, not the file's."""


@dataclass(frozen=True, kw_only=True)
class _Nursery:
    process: asyncio.subprocess.Process
    control: socket.socket


class Children:
    """One nursery, started with the first child and restarted when it has died."""

    def __init__(self) -> None:
        self._nursery: _Nursery | None = None
        self._starting = asyncio.Lock()

    async def connect(self) -> socket.socket:
        """Our end of a socket pair whose other end is given to a new child. Raises NurseryDied."""
        async with self._starting:
            if self._nursery is None:
                self._nursery = await _start_nursery()
            nursery = self._nursery
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            try:
                socket.send_fds(nursery.control, [b"."], [theirs.fileno()])
            except OSError as error:
                ours.close()
                await self._forget(nursery)
                raise NurseryDied from error
        return ours

    async def forget_dead(self) -> None:
        """Drop the nursery, so that the next child starts a new one; for callers that saw the nursery die."""
        if self._nursery is not None:
            await self._forget(self._nursery)

    async def close(self) -> None:
        """End the nursery and its children."""
        await self.forget_dead()

    async def _forget(self, nursery: _Nursery) -> None:
        if self._nursery is nursery:
            self._nursery = None
        nursery.control.close()
        await _end(nursery.process)


async def _start_nursery() -> _Nursery:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with theirs:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # a file in the working folder must not shadow a module
            "-c",
            START_NURSERY.format(folder=str(Path(ingestion.__file__).parent.parent)),
            stdin=theirs.fileno(),
            stdout=asyncio.subprocess.DEVNULL,
            env=_clean_environment(os.environ),
        )
    try:
        async with asyncio.timeout(START_S):
            ready = await asyncio.get_running_loop().sock_recv(ours, 1)
    except TimeoutError as error:
        ours.close()
        await _end(process)
        message = f"it said nothing for {START_S} s"
        raise NurseryDied(message) from error
    except asyncio.CancelledError:
        ours.close()
        process.kill()
        raise
    if not ready:
        ours.close()
        message = f"exit status {await process.wait()}; its own words are on standard error"
        raise NurseryDied(message)
    return _Nursery(process=process, control=ours)


async def _end(process: asyncio.subprocess.Process) -> None:
    try:
        await asyncio.wait_for(process.wait(), CLOSING_S)
    except TimeoutError:
        process.kill()
        await process.wait()


def _clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[name] for name in KEPT_VARIABLES if name in environ}
