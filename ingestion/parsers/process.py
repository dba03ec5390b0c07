"""Reads files in separate processes, with limits on memory, time and output.

In: `FetchedFile`. Out: `Document`, or a picture of a page for the recogniser, or a SourceError that concerns only this
file. Files are untrusted and parsers are large: a crash, hang or growth there affects nothing else.
"""

import asyncio
import contextlib
import json
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import structlog

from domain.documents import DocumentStatus
from domain.ids import BaseId
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.children import NurseryDied
from ingestion.parsers.codec import DocumentLines, PagesRead, decode_picture_head
from ingestion.parsers.kept import LONGEST_LINE_BYTES as OUTPUT_LIMIT_BYTES
from ingestion.parsers.kept import KeptChildren, KeptProcessEnded, Line
from ingestion.parsers.request import ParseRequest, Task
from ingestion.progress import Progress
from ingestion.records import Document, FetchedFile

LONG_LINE_BYTES = 16 * 1024  # a longer line is decoded in a thread, so that the event loop stays responsive
MEGABYTE_BYTES = 1024 * 1024
OUT_OF_MEMORY = frozenset({-9, -6})  # killed by the kernel, or aborted by a library that got no memory

log = structlog.get_logger()

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A JPEG, upright, of at most 4,000 pixels a side, and the number of pages of its file."""

    content: bytes
    pages: int


class ParseProcess:
    """Runs each task in a process that serves only one base; `async with` or `close` ends all processes."""

    def __init__(self, *, timeout_s: float, memory_mb: int) -> None:
        """`timeout_s` limits the wall-clock and processor time of one task, `memory_mb` its address space."""
        self._timeout_s = timeout_s
        self._memory_bytes = memory_mb * MEGABYTE_BYTES
        self._children = KeptChildren()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End all processes."""
        await self._children.close()

    async def parse(self, file: FetchedFile, progress: Progress) -> Document:
        """Parse the file, reporting pages as PARSING where the format has them.

        Raises SourceError: the parser's, or FILE_TOO_SLOW, FILE_TOO_HEAVY, FILE_DAMAGED (it crashed). Raises
        NurseryDied when no process can be started. Cancelling kills the process.
        """
        started = time.monotonic()

        async def receive(child: _Child) -> Document | SourceError:
            return await _receive_document(child, progress, file.path.parent)

        document = await self._ask(self._request(file, Task.PARSE), receive, progress.base_id)
        log.debug("file_parsed", bytes=file.size_bytes, seconds=time.monotonic() - started)
        return document

    async def draw_page(self, file: FetchedFile, page: int) -> Picture:
        """Render page `page` of a PDF, from 0. Raises as `parse` does."""
        return await self._ask(self._request(file, Task.DRAW_PAGE, page), _receive_picture)

    async def open_picture(self, file: FetchedFile, page: int) -> Picture:
        """A photo, or page `page` of a TIFF, from 0. Raises as `parse` does."""
        return await self._ask(self._request(file, Task.OPEN_PICTURE, page), _receive_picture)

    async def _ask(self, request: ParseRequest, receive: "Receive[Result]", base: BaseId | None = None) -> Result:
        try:
            return await self._ask_once(request, receive, base)
        except (NurseryDied, KeptProcessEnded):  # once may be bad luck, such as a system short of memory
            return await self._ask_once(request, receive, base=None)

    async def _ask_once(self, request: ParseRequest, receive: "Receive[Result]", base: BaseId | None) -> Result:
        """For `base` None the process is fresh and serves once. A parser's SourceError keeps the process; other errors
        end it.

        Closing the line makes the nursery kill the process, however this ends.
        """
        try:
            async with self._children.lend(base) as line, _talk(line, request, self._timeout_s) as child:
                answer = await receive(child)
        except TimeoutError as error:
            seconds = math.ceil(self._timeout_s)
            raise SourceError(FailureCode.FILE_TOO_SLOW, name=request.name, seconds=seconds) from error
        except NurseryDied:
            await self._children.forget_dead()
            raise
        if isinstance(answer, SourceError):
            raise answer
        return answer

    def _request(self, file: FetchedFile, task: Task, page: int = 0) -> ParseRequest:
        return ParseRequest(
            task=task,
            path=str(file.path.absolute()),
            name=file.name,
            media_type=file.media_type,
            page=page,
            cpu_s=math.ceil(self._timeout_s),
            memory_bytes=self._memory_bytes,
            output_bytes=OUTPUT_LIMIT_BYTES,
        )


class _Child:
    """Reads what a child sends, within its time and byte limits."""

    def __init__(self, line: Line, *, name: str, timeout_s: float) -> None:
        self._line = line
        self._clock = asyncio.get_running_loop().time
        self._deadline = self._clock() + timeout_s
        self._bytes_left = 2 * OUTPUT_LIMIT_BYTES  # the child counts its own output, unless a file has taken it over
        self.name = name

    async def line(self) -> bytes:
        """The next line. Raises TimeoutError, SourceError, NurseryDied or KeptProcessEnded when there is none."""
        async with asyncio.timeout_at(self._deadline):
            line = await self._line.read()
            if not line.strip():
                raise _explain_end(await self._line.read(), self.name) if self._line.fresh else KeptProcessEnded
        self._count(len(line))
        return line

    async def content(self, size_bytes: int) -> bytes:
        """The next `size_bytes` raw bytes."""
        self._count(size_bytes)
        async with asyncio.timeout_at(self._deadline):
            return await self._line.reader.readexactly(size_bytes)

    async def wait_for_us(self, work: Awaitable[None]) -> None:
        """Await our own work between two lines; it does not count against the file's time."""
        began = self._clock()
        await work
        self._deadline += self._clock() - began

    def _count(self, size_bytes: int) -> None:
        self._bytes_left -= size_bytes
        if self._bytes_left < 0 or size_bytes < 0:
            raise SourceError(FailureCode.FILE_TOO_HEAVY, name=self.name, detail="output limit")


@contextlib.asynccontextmanager
async def _talk(line: Line, request: ParseRequest, timeout_s: float) -> AsyncIterator[_Child]:
    """Send the request, and translate errors of the connection into what they mean for the file."""
    try:
        line.writer.write(request.to_line())
        yield _Child(line, name=request.name, timeout_s=timeout_s)
    except ConnectionError as error:
        raise (NurseryDied if line.fresh else KeptProcessEnded) from error
    except (ValueError, asyncio.IncompleteReadError) as error:  # a line that is too long or malformed
        detail = f"unreadable result: {error}"
        raise SourceError(FailureCode.FILE_DAMAGED, name=request.name, detail=detail) from error


Receive = Callable[[_Child], Awaitable[Result | SourceError]]
"""Receives an answer: a returned error is the parser's own reason, all others are raised."""


async def _receive_document(child: _Child, progress: Progress, folder: Path) -> Document | SourceError:
    """Receive a document; many blocks are spooled to `folder`."""
    lines = DocumentLines(folder)
    while True:
        line = await child.line()
        try:
            got = await asyncio.to_thread(lines.add, line) if len(line) > LONG_LINE_BYTES else lines.add(line)
        except SourceError as reason:
            return reason
        if isinstance(got, Document):
            return got
        if isinstance(got, PagesRead):
            await child.wait_for_us(progress.report(DocumentStatus.PARSING, done=got.done, total=got.total))


async def _receive_picture(child: _Child) -> Picture:
    head = decode_picture_head(await child.line())
    return Picture(content=await child.content(head.size_bytes), pages=head.frames)


def _explain_end(line: bytes, name: str) -> SourceError | NurseryDied:
    """Why a child ended without an answer, by the line {"exit": status} that the nursery adds."""
    if not line:
        return NurseryDied()
    code = FailureCode.FILE_TOO_HEAVY if json.loads(line)["exit"] in OUT_OF_MEMORY else FailureCode.FILE_DAMAGED
    return SourceError(code, name=name, detail=f"the parser ended without an answer: {line.decode().strip()}")
