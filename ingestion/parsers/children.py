"""Starts the nursery and gives whoever asks a line to a fresh child of it.

In: nothing. Out: sockets, each with a limited process at its other end that does one thing and ends (`child`). Closing
a socket ends its process. What is said over the sockets is `process`' affair.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import ingestion

START_S = 60  # it imports every parser; on a machine that swaps that takes its time
CLOSING_S = 5

KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
"""Of the environment: tokens and keys stay out of the process that reads strangers' files."""

START_NURSERY = "import sys; sys.path.append({folder!r}); from ingestion.parsers.nursery import main; main()"
"""The folder of our own packages goes last: nothing in it may stand in for the standard library."""


class NurseryDied(Exception):
    """The process that parsers are forked from does not run: our own trouble, not the file's."""


@dataclass(frozen=True, kw_only=True)
class _Nursery:
    process: asyncio.subprocess.Process
    control: socket.socket


class Children:
    """One nursery, started with the first child and started anew when it has died."""

    def __init__(self) -> None:
        self._nursery: _Nursery | None = None
        self._starting = asyncio.Lock()

    async def connect(self) -> socket.socket:
        """Our end of a pair whose other end is a new child's. Raises NurseryDied."""
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
        """Start anew with the next child; for who has seen the nursery die."""
        if self._nursery is not None:
            await self._forget(self._nursery)

    async def close(self) -> None:
        """End the nursery and whatever it still runs."""
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
            "-P",  # the working folder must not be able to stand in for a module
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
