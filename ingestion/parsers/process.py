"""Parses a file in a process of its own, with limits on memory, time and output.

In: `FetchedFile`. Out: `Document`, or a SourceError that concerns this file alone. Files come from strangers and
parsers are large: what crashes, hangs or grows there takes nothing else with it. The result crosses as JSON.
"""

import asyncio
import json
import math
import os
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog

import ingestion
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import decode_result
from ingestion.parsers.request import ParseRequest
from ingestion.records import Document, FetchedFile

OUTPUT_LIMIT_BYTES = 50 * 1024 * 1024
CLOSING_S = 5
MEGABYTE_BYTES = 1024 * 1024
KILLED = -9  # by the kernel, for want of memory

KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
"""Of the environment: tokens and keys stay out of the process that reads strangers' files."""

START_NURSERY = "import sys; sys.path.append({folder!r}); from ingestion.parsers.nursery import main; main()"
"""The folder of our own packages goes last: nothing in it may stand in for the standard library."""

log = structlog.get_logger()


class NurseryDied(Exception):
    """The process that parsers are forked from does not run: our own trouble, not the file's."""


@dataclass(frozen=True, kw_only=True)
class _Nursery:
    process: asyncio.subprocess.Process
    control: socket.socket


class ParseProcess:
    """A nursery of parsing processes, started with the first file; `async with` or `close` ends it."""

    def __init__(self, *, timeout_s: float, memory_mb: int) -> None:
        """`timeout_s` bounds the wall clock and the processor time of one file, `memory_mb` its address space."""
        self._timeout_s = timeout_s
        self._memory_bytes = memory_mb * MEGABYTE_BYTES
        self._nursery: _Nursery | None = None
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def parse(self, file: FetchedFile) -> Document:
        """Raises SourceError: what the parser says, or FILE_TOO_SLOW, FILE_TOO_HEAVY, FILE_DAMAGED (it crashed).

        Cancelling kills the process that parses. Raises NurseryDied when none can be started.
        """
        started = time.monotonic()
        try:
            line = await self._ask(file)
        except NurseryDied:  # once is bad luck, as when the system was short of memory
            line = await self._ask(file)
        log.debug("file_parsed", bytes=file.size_bytes, output_bytes=len(line), seconds=time.monotonic() - started)
        return await _decode(line, file.name)

    async def close(self) -> None:
        """End the nursery and whatever it still runs."""
        if self._nursery is not None:
            await self._forget(self._nursery)

    async def _forget(self, nursery: _Nursery) -> None:
        if self._nursery is nursery:
            self._nursery = None
        nursery.control.close()
        try:
            await asyncio.wait_for(nursery.process.wait(), CLOSING_S)
        except TimeoutError:
            nursery.process.kill()
            await nursery.process.wait()

    async def _running_nursery(self) -> _Nursery:
        async with self._starting:
            if self._nursery is None:
                self._nursery = await _start_nursery()
            return self._nursery

    async def _ask(self, file: FetchedFile) -> bytes:
        """The child's line. The nursery kills the child when our socket is closed, however this ends."""
        nursery = await self._running_nursery()
        try:
            with _send_socket(nursery) as ours:
                async with asyncio.timeout(self._timeout_s):
                    return await _converse(ours, self._request(file), file.name)
        except TimeoutError as error:
            seconds = math.ceil(self._timeout_s)
            raise SourceError(FailureCode.FILE_TOO_SLOW, name=file.name, seconds=seconds) from error
        except NurseryDied:
            await self._forget(nursery)
            raise

    def _request(self, file: FetchedFile) -> ParseRequest:
        return ParseRequest(
            path=str(file.path.resolve()),
            name=file.name,
            media_type=file.media_type,
            cpu_s=math.ceil(self._timeout_s),
            memory_bytes=self._memory_bytes,
            output_bytes=OUTPUT_LIMIT_BYTES,
        )


def _send_socket(nursery: _Nursery) -> socket.socket:
    """Our end of a pair whose other end is a new child's."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with theirs:
        try:
            socket.send_fds(nursery.control, [b"."], [theirs.fileno()])
        except OSError as error:
            ours.close()
            raise NurseryDied from error
    return ours


async def _converse(ours: socket.socket, request: ParseRequest, name: str) -> bytes:
    reader, writer = await asyncio.open_connection(sock=ours, limit=OUTPUT_LIMIT_BYTES)
    try:
        writer.write(request.to_line())
        line = await reader.readline()
        if not line.strip():
            raise _explain_end(await reader.readline(), name)
        return line
    except ConnectionError as error:
        raise NurseryDied from error
    except ValueError as error:  # a line beyond the limit
        raise SourceError(FailureCode.FILE_TOO_HEAVY, name=name, detail="output limit") from error
    finally:
        writer.transport.abort()


def _explain_end(line: bytes, name: str) -> SourceError | NurseryDied:
    """Why a child ended without an answer, from the line {"exit": status} that the nursery adds."""
    if not line:
        return NurseryDied()
    code = FailureCode.FILE_TOO_HEAVY if json.loads(line)["exit"] == KILLED else FailureCode.FILE_DAMAGED
    return SourceError(code, name=name, detail=f"the parser ended without an answer: {line.decode().strip()}")


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
    nursery = _Nursery(process=process, control=ours)
    ready = await asyncio.get_running_loop().sock_recv(ours, 1)
    if not ready:
        ours.close()
        message = f"exit status {await process.wait()}; its own words are on standard error"
        raise NurseryDied(message)
    return nursery


def _clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[name] for name in KEPT_VARIABLES if name in environ}


async def _decode(line: bytes, name: str) -> Document:
    """In a thread: a book takes a tenth of a second, in which others want to be answered."""
    try:
        return await asyncio.to_thread(decode_result, line)
    except ValueError as error:
        raise SourceError(FailureCode.FILE_DAMAGED, name=name, detail=f"unreadable result: {error}") from error
