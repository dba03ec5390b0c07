"""Lends connections to parsing processes, and keeps used processes for the next file of the same base.

In: the base whose file is to be read. Out: a `Line` that nobody else uses. A process never serves two bases, so
whatever a file may have done to it reaches no other person. Processes are kept because forking one costs as much as
reading a small file.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from domain.ids import BaseId
from ingestion.parsers.children import Children
from ingestion.parsers.request import AGAIN

LONGEST_LINE_BYTES = 50 * 1024 * 1024
IDLE_S = 2.0  # the next file of a batch comes sooner, or never
MOST_IDLE = 4  # each holds some 20 MB of its own
WILLING_S = 1.0
BUFFERED_BYTES = 256 * 1024  # a usual line; when our buffer holds twice this, the process has to wait


class KeptProcessEnded(Exception):
    """A process that had read another file ended without an answer: this file need not be the cause."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Line:
    """Our end of the connection to one process; closing it ends the process."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    fresh: bool = True  # the process has read no file yet

    async def read(self) -> bytes:
        """The next line; the last may lack its line end. Raises ValueError when it is too long."""
        pieces: list[bytes] = []
        while sum(map(len, pieces)) <= LONGEST_LINE_BYTES:
            try:
                return b"".join([*pieces, await self.reader.readuntil()])
            except asyncio.LimitOverrunError as error:
                pieces.append(await self.reader.readexactly(error.consumed))
            except asyncio.IncompleteReadError as error:
                return b"".join([*pieces, error.partial])
        message = f"a line of more than {LONGEST_LINE_BYTES} bytes"
        raise ValueError(message)

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self.writer.transport.abort()


class KeptChildren:
    """Fresh processes of a nursery, and idle ones that wait for another file."""

    def __init__(self) -> None:
        self._children = Children()
        self._idle: dict[Line, BaseId] = {}  # the longest-waiting first

    @contextlib.asynccontextmanager
    async def lend(self, base: BaseId | None) -> AsyncIterator[Line]:
        """A line to a process that has served only `base`; for None, one that serves a single file.

        The process is kept if the block ends well, and ended otherwise. Raises NurseryDied.
        """
        line = await self._take(base)
        try:
            yield line
        except BaseException:
            line.close()
            raise
        if base is None:
            line.close()
        else:
            self._keep(replace(line, fresh=False), base)

    async def forget_dead(self) -> None:
        """Start a new nursery with the next process; for callers that saw the old one die with all its processes."""
        self._end_all()
        await self._children.forget_dead()

    async def close(self) -> None:
        """End the nursery and its processes."""
        self._end_all()
        await self._children.close()

    async def _take(self, base: BaseId | None) -> Line:
        while (line := self._idle_of(base)) is not None:
            if await _is_willing(line):
                return line
            line.close()
        ours = await self._children.connect()
        reader, writer = await asyncio.open_connection(sock=ours, limit=BUFFERED_BYTES)
        return Line(reader=reader, writer=writer)

    def _keep(self, line: Line, base: BaseId) -> None:
        self._idle[line] = base
        asyncio.get_running_loop().call_later(IDLE_S, self._end_idle, line)
        if len(self._idle) > MOST_IDLE:
            self._end_idle(next(iter(self._idle)))

    def _idle_of(self, base: BaseId | None) -> Line | None:
        line = next((line for line, its_base in self._idle.items() if its_base == base), None)
        if line is not None:
            del self._idle[line]
        return line

    def _end_idle(self, line: Line) -> None:
        if self._idle.pop(line, None) is not None:
            line.close()

    def _end_all(self) -> None:
        for line in list(self._idle):
            self._end_idle(line)


async def _is_willing(line: Line) -> bool:
    """Whether the process has said AGAIN: one that has grown or worked for long ends instead."""
    try:
        async with asyncio.timeout(WILLING_S):
            return await line.read() == AGAIN
    except (TimeoutError, ConnectionError, ValueError):
        return False
