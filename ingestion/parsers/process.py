"""Reads files in confined processes, with limits on memory, time and output.

In: `FetchedFile`. Out: `Document`, a picture of a page for the recogniser, the files in an archive, or a SourceError
that concerns only this file: a crash, hang or growth there affects nothing else.
"""

import asyncio
import contextlib
import math
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import structlog

from domain.documents import DocumentStatus
from domain.ending import end
from ingestion.chunking.passages import CutBlocks, PassageLines, Passages, PassageSizes
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.codec import (
    LARGEST_MEMBER_BYTES,
    RECORD,
    DocumentLines,
    Listing,
    PagesRead,
    Picture,
    PictureHead,
    Request,
    Task,
    block_lines,
    decode_answer,
)
from ingestion.progress import Progress
from ingestion.records import Block, Document, FetchedFile
from sandbox.confinement import Confinement
from sandbox.pool import Closing, Line, Pool, PoolDied

ENTRY = "ingestion.parsers.registry:serve"
OUTPUT_LIMIT_BYTES = 50 * 1024 * 1024
CUT_PATIENCE = 10  # times the limit of parsing: 50 million characters take minutes on a busy machine
CUT_LIMIT_BYTES = 4 * OUTPUT_LIMIT_BYTES  # passages overlap, and repeat the headers of tables
LONG_LINE_BYTES = 16 * 1024  # a longer line is decoded in a thread, so that the event loop stays responsive
OUT_OF_MEMORY = frozenset({-9, -6})  # killed by the kernel, or aborted by a library that got no memory
SMALL_S = 5.0  # of a small file that shares a process, and of such a process; most take some milliseconds

log = structlog.get_logger()

Result = TypeVar("Result")


class FileParser(ABC):
    """Reads files and cuts texts in a confined process."""

    async def parse(self, file: FetchedFile, progress: Progress, sizes: PassageSizes | None = None) -> Document:
        """Parse the file, reporting pages as PARSING where the format has them. With `sizes` the same process cuts a
        text of usual length, too: the blocks are `CutBlocks`, unless that fails.

        Raises SourceError: the parser's, or FILE_TOO_SLOW, FILE_TOO_HEAVY, FILE_DAMAGED (it crashed). Raises
        PoolDied when no process can be started. Cancelling kills the process.
        """
        folder = file.path.parent
        document: Document | None = None

        async def receive(child: _Child) -> Document:
            nonlocal document
            document = await _receive_document(child, progress, folder)
            passages = await _receive_passages(child, folder) if sizes else None
            if sizes and passages and passages.chunks:
                document = replace(document, blocks=CutBlocks(document.blocks, passages, sizes))
            return document

        started = time.monotonic()
        try:
            parsed = await self._ask(_request(file, Task.PARSE, sizes=sizes), receive)
        except SourceError:
            if document is None:
                raise
            parsed = document  # whoever needs its passages has it cut once more, in a process for that alone
        log.debug("file_parsed", bytes=file.size_bytes, seconds=time.monotonic() - started)
        return parsed

    async def cut(self, blocks: Sequence[Block], sizes: PassageSizes, folder: Path) -> Passages:
        """Cut a text into passages, as `parse` reads a file; many passages are spooled to `folder`."""

        async def receive(child: _Child) -> Passages:
            sending = asyncio.create_task(child.send(block_lines(blocks)))
            try:
                return await _receive_passages(child, folder)
            finally:
                await end(sending)

        request = Request(task=Task.CUT, path="", name="", output_bytes=CUT_LIMIT_BYTES, sizes=sizes)
        return await self._ask(request, receive)

    @abstractmethod
    async def _ask(self, request: Request, receive: "Receive[Result]") -> Result:
        """What the process answers."""


class ParseProcess(FileParser, Closing):
    """Runs each task in a process of its own; `async with` or `close` ends all processes."""

    def __init__(self, *, timeout_s: float, memory_mb: int) -> None:
        """`timeout_s` limits the wall-clock and processor time of a task (of cutting: ten times that), `memory_mb` its
        address space."""
        self._timeout_s = timeout_s
        self._memory_bytes = memory_mb * 2**20
        self._pool = Pool(entry=ENTRY)

    async def close(self) -> None:
        """End all processes."""
        await self._pool.close()

    async def draw_page(self, file: FetchedFile, page: int) -> Picture:
        """Render page `page` of a PDF, from 0. Raises as `parse` does."""
        return await self._ask(_request(file, Task.DRAW_PAGE, page=page), _receive_picture)

    async def open_picture(self, file: FetchedFile, page: int) -> Picture:
        """A photo, or page `page` of a TIFF, from 0. Raises as `parse` does."""
        return await self._ask(_request(file, Task.OPEN_PICTURE, page=page), _receive_picture)

    async def unpack(self, file: FetchedFile, folder: Path, *, members: int, total_bytes: int) -> Listing:
        """Write the files inside to the empty `folder` (its whole path), named by numbers. Raises as `parse` does."""

        async def receive(child: _Child) -> Listing:
            listing: Listing = decode_answer(await child.line(), Listing)
            return listing

        limits = {"folder": str(folder), "members": members, "total_bytes": total_bytes}
        return await self._ask(_request(file, Task.UNPACK, **limits), receive)

    @contextlib.asynccontextmanager
    async def shared(self, folder: Path) -> AsyncIterator[FileParser]:
        """One process for several small files, all in `folder` (its whole path) and of one base."""
        shared = SharedProcess(self._pool, self._confinement(reads=str(folder)))
        try:
            yield shared
        finally:
            shared.drop()

    async def _ask(self, request: Request, receive: "Receive[Result]") -> Result:
        try:
            return await self._ask_once(request, receive)
        except PoolDied:  # once may be bad luck, such as a system short of memory
            return await self._ask_once(request, receive)

    async def _ask_once(self, request: Request, receive: "Receive[Result]") -> Result:
        """Closing the line makes the pool kill the process, however this ends."""
        seconds = self._timeout_s * (CUT_PATIENCE if request.task is Task.CUT else 1)
        confinement = self._confinement(reads=request.path, writes=request.folder, cpu_s=math.ceil(seconds))
        async with self._pool.child(confinement) as line:
            return await _answered(line, request, receive, timeout_s=seconds)

    def _confinement(self, *, reads: str, writes: str = "", cpu_s: int | None = None) -> Confinement:
        return Confinement(
            reads=(reads,) if reads else (),
            writes=(writes,) if writes else (),
            address_bytes=self._memory_bytes,
            cpu_s=cpu_s or math.ceil(self._timeout_s),
            cpu_grace_s=5,
            file_bytes=LARGEST_MEMBER_BYTES if writes else 0,
            niceness=5,  # answering people has priority; at 10, a busy machine hardly reads at all
        )


class SharedProcess(FileParser):
    """Reads and cuts small files, one after the other and within SMALL_S, in a process that can open no others.

    Starting a process costs more than reading a small file. The files are of one base: a file that took the process
    over could only lie about its own. After a failure, and after a while, it is replaced. Whatever fails here is to be
    tried alone.
    """

    def __init__(self, pool: Pool, confinement: Confinement) -> None:
        self._pool = pool
        self._confinement = confinement
        self._line: Line | None = None
        self._spent_s = 0.0

    def drop(self) -> None:
        """End the process."""
        if self._line is not None:
            self._line.close()
            self._line = None

    async def _ask(self, request: Request, receive: "Receive[Result]") -> Result:
        if self._spent_s > SMALL_S:
            self.drop()
        if self._line is None:
            self._line, self._spent_s = await self._pool.start(self._confinement), 0.0
        started = time.monotonic()
        try:
            return await _answered(self._line, request, receive, timeout_s=SMALL_S)
        except BaseException as error:
            if not (isinstance(error, SourceError) and error.code in REFUSALS):
                self.drop()
            raise
        finally:
            self._spent_s += time.monotonic() - started


REFUSALS = frozenset(
    {
        FailureCode.FILE_UNSUPPORTED,
        FailureCode.FILE_EMPTY,
        FailureCode.FILE_ENCRYPTED,
        FailureCode.FILE_WITHOUT_TEXT,
        FailureCode.FILE_NEEDS_SCRIPT,
        FailureCode.FILE_NEEDS_LOGIN,
    }
)
"""What a reader says of a file in its own words: the process is as good as before."""


def _request(file: FetchedFile, task: Task, **more: Any) -> Request:
    return Request(
        task=task,
        path=str(file.path.absolute()),
        name=file.name,
        media_type=file.media_type,
        output_bytes=OUTPUT_LIMIT_BYTES,
        **more,
    )


async def _answered(line: Line, request: Request, receive: "Receive[Result]", *, timeout_s: float) -> Result:
    """The answer; troubles of the line as what they mean for the file."""
    try:
        line.write(request)
        return await receive(_Child(line, request, timeout_s=timeout_s))
    except TimeoutError as error:
        raise SourceError(FailureCode.FILE_TOO_SLOW, name=request.name, seconds=math.ceil(timeout_s)) from error
    except ConnectionError as error:
        raise PoolDied from error
    except (ValueError, asyncio.IncompleteReadError) as error:  # a line that is too long or malformed
        detail = f"unreadable result: {error}"
        raise SourceError(FailureCode.FILE_DAMAGED, name=request.name, detail=detail) from error


class _Child:
    """Reads what a child sends, within its time and byte limits."""

    def __init__(self, line: Line, request: Request, *, timeout_s: float) -> None:
        self._line = line
        self._clock = asyncio.get_running_loop().time
        self._deadline = self._clock() + timeout_s
        self._bytes_left = 2 * request.output_bytes  # the child counts its own output, unless a file has taken it over
        self.name = request.name

    async def line(self) -> bytes:
        """The next line. Raises TimeoutError, SourceError or PoolDied when there is none."""
        async with asyncio.timeout_at(self._deadline):
            line = await self._line.read()
            if not line.strip():
                ended = await self._line.read_end()
                if ended is None:
                    raise PoolDied
                code = FailureCode.FILE_TOO_HEAVY if ended.status in OUT_OF_MEMORY else FailureCode.FILE_DAMAGED
                raise SourceError(code, name=self.name, detail=f"the parser ended without an answer: {ended.status}")
        self._count(len(line))
        return line

    async def send(self, lines: Iterator[bytes]) -> None:
        """Write lines, as fast as they are taken, and an empty one; each takes a millisecond or two to make."""
        while line := await asyncio.to_thread(next, lines, b""):
            self._line.writer.write(line)
            await self._line.writer.drain()
        self._line.writer.write(b"\n")

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


Receive = Callable[[_Child], Awaitable[Result]]
"""Receives an answer. Raises the parser's own SourceError, too."""


async def _receive_document(child: _Child, progress: Progress, folder: Path) -> Document:
    """Receive a document; many blocks are spooled to `folder`."""
    lines = DocumentLines(folder)
    while True:
        got = await _taken(lines.add, await child.line())
        if isinstance(got, Document):
            return got
        if isinstance(got, PagesRead):
            await child.wait_for_us(progress.report(DocumentStatus.PARSING, done=got.done, total=got.total))


async def _receive_passages(child: _Child, folder: Path) -> Passages:
    lines = PassageLines(folder)
    while True:
        line = await child.line()
        if line.startswith(RECORD):
            decode_answer(line)
        if (passages := await _taken(lines.add, line)) is not None:
            return passages


async def _taken(add: Callable[[bytes], Result], line: bytes) -> Result:
    return await asyncio.to_thread(add, line) if len(line) > LONG_LINE_BYTES else add(line)


async def _receive_picture(child: _Child) -> Picture:
    head: PictureHead = decode_answer(await child.line(), PictureHead)
    return Picture(content=await child.content(head.size_bytes), pages=head.pages)
