"""Reads files in confined processes, with limits on memory, time and output.

In: `FetchedFile`. Out: `Document`, a picture of a page for the recogniser, the files in an archive, or a SourceError
that concerns only this file: a crash, hang or growth there affects nothing else.
"""

import asyncio
import contextlib
import math
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from domain.documents import DocumentStatus
from domain.ending import end
from ingestion.chunking import passages
from ingestion.chunking.passages import CutBlocks, Passages, PassageSizes
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers import codec
from ingestion.parsers.codec import Listing, Picture, Request, Task
from ingestion.progress import Progress
from ingestion.records import Block, Document, FetchedFile
from ingestion.spool import Spool
from sandbox.confinement import Confinement
from sandbox.pool import Closing, Line, Pool, PoolDied

ENTRY = "ingestion.parsers.registry:serve"
OUTPUT_LIMIT_BYTES = 50 * 1024 * 1024
CUT_PATIENCE = 10  # times the limit of parsing: 50 million characters take minutes on a busy machine
CUT_LIMIT_BYTES = 4 * OUTPUT_LIMIT_BYTES  # passages overlap, and repeat the headers of tables
LONG_LINE_BYTES = 64 * 1024  # a longer line is decoded in a thread, so that the event loop stays responsive
ENDS = {
    -signal.SIGKILL: FailureCode.FILE_TOO_HEAVY,  # by the kernel, which had no memory left
    -signal.SIGABRT: FailureCode.FILE_TOO_HEAVY,  # by a library that got no memory
    -signal.SIGXCPU: FailureCode.FILE_TOO_SLOW,
}
"""What the end of a process without an answer says of its file."""
REFUSALS = frozenset(
    {
        *(FailureCode.FILE_UNSUPPORTED, FailureCode.FILE_EMPTY, FailureCode.FILE_ENCRYPTED),
        *(FailureCode.FILE_WITHOUT_TEXT, FailureCode.FILE_NEEDS_SCRIPT, FailureCode.FILE_NEEDS_LOGIN),
    }
)
"""What a reader says of a file in its own words: the process is as good as before."""
SMALL_S = 5.0  # of a small file that shares a process, and of such a process; most take some milliseconds

Result = TypeVar("Result")
T = TypeVar("T")


class FileParser(ABC):
    """Reads files and cuts texts in a confined process."""

    async def parse(self, file: FetchedFile, progress: Progress, sizes: PassageSizes | None = None) -> Document:
        """Parse the file, reporting pages as PARSING where the format has them. With `sizes` the same process cuts a
        text of usual length, too: the blocks are `CutBlocks`, unless that fails. Many blocks are spooled beside it.

        Raises SourceError: the parser's, or FILE_TOO_SLOW, FILE_TOO_HEAVY, FILE_DAMAGED (it crashed). Raises
        PoolDied when no process can be started. Cancelling kills the process.
        """
        folder = file.path.parent
        document: Document | None = None

        async def receive(child: _Child) -> Document:
            nonlocal document
            spool = Spool(folder, codec.BLOCKS)
            document = await child.batches(spool, codec.decode_blocks, Document, progress)
            document = replace(document, blocks=spool.finish(), names=())
            cut = await _receive_passages(child, folder) if sizes else None
            if sizes and cut and cut.chunks:
                document = replace(document, blocks=CutBlocks(document.blocks, cut, sizes))
            return document

        try:
            return await self._ask(_request(file, Task.PARSE, sizes=sizes), receive)
        except SourceError:
            if document is None:
                raise
            return document  # whoever needs its passages has it cut once more, in a process for that alone

    async def cut(self, blocks: Sequence[Block], sizes: PassageSizes, folder: Path) -> Passages:
        """Cut a text into passages, as `parse` reads a file; many passages are spooled to `folder`."""

        async def receive(child: _Child) -> Passages:
            sending = asyncio.create_task(child.send(codec.block_lines(blocks)))
            try:
                return await _receive_passages(child, folder)
            finally:
                await end(sending)

        return await self._ask(Request(task=Task.CUT, path="", name="", sizes=sizes), receive)

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
        limits = {"folder": str(folder), "members": members, "total_bytes": total_bytes}
        return await self._ask(_request(file, Task.UNPACK, **limits), lambda child: child.record(Listing))

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
            file_bytes=codec.LARGEST_MEMBER_BYTES if writes else 0,
            niceness=5,  # answering people has priority; at 10, a busy machine hardly reads at all
        )


class SharedProcess(FileParser):
    """Reads and cuts small files, one after the other and within SMALL_S, in a process that can open no others.

    Starting a process costs more than reading a small file. The files are of one base: a file that took the process
    over could only lie about its own. After a failure, and after a while, it is replaced. A file is damaged when a
    process says so that has read no other before; whatever else fails here is to be tried alone.
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
        is_first = self._line is None
        try:
            return await self._ask_once(request, receive)
        except SourceError as error:
            if is_first or error.code is not FailureCode.FILE_DAMAGED:
                raise
        return await self._ask_once(request, receive)  # what was read before may have changed the process

    async def _ask_once(self, request: Request, receive: "Receive[Result]") -> Result:
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


def _request(file: FetchedFile, task: Task, **more: Any) -> Request:
    path = str(file.path.absolute())
    return Request(task=task, path=path, name=file.name, media_type=file.media_type, **more)


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
        self._timeout_s = timeout_s
        self._deadline = self._clock() + timeout_s
        self._bytes_left = CUT_LIMIT_BYTES if request.task is Task.CUT else OUTPUT_LIMIT_BYTES
        self._name = request.name

    async def record(self, kind: type[Result]) -> Result:
        """The next line. Raises the SourceError in it, and as `content`; PoolDied when there is none."""
        found: Result = codec.decode_answer(await self._next_line(), kind, name=self._name)
        return found

    async def batches(
        self, spool: Spool[T], read: Callable[[bytes], Sequence[T]], end: type[Result], progress: Progress | None = None
    ) -> Result:
        """Fill the spool with lines of batches; returns the record after the last. Raises as `record`."""
        while True:
            line = await self._next_line()
            if line.startswith(b"["):
                is_long = len(line) > LONG_LINE_BYTES
                spool.add(await asyncio.to_thread(read, line) if is_long else read(line), line)
                continue
            found: Result | codec.PagesRead = codec.decode_answer(line, codec.PagesRead, end, name=self._name)
            if not isinstance(found, codec.PagesRead):
                return found
            if progress is not None:  # our own work does not count against the file's time
                began = self._clock()
                await progress.report(DocumentStatus.PARSING, done=found.done, total=found.total)
                self._deadline += self._clock() - began

    async def content(self, size_bytes: int) -> bytes:
        """The next `size_bytes` raw bytes. Raises TimeoutError, SourceError."""
        self._count(size_bytes)
        async with asyncio.timeout_at(self._deadline):
            return await self._line.reader.readexactly(size_bytes)

    async def send(self, lines: Iterator[bytes]) -> None:
        """Write lines, as fast as they are taken, and an empty one; each takes a millisecond or two to make."""
        while line := await asyncio.to_thread(next, lines, b""):
            self._line.writer.write(line)
            await self._line.writer.drain()
        self._line.writer.write(b"\n")

    async def _next_line(self) -> bytes:
        async with asyncio.timeout_at(self._deadline):
            line = await self._line.read()
            if not line.strip():
                ended = await self._line.read_end()
                if ended is None:
                    raise PoolDied
                detail = f"the parser ended without an answer: {ended.status}"
                code = ENDS.get(ended.status, FailureCode.FILE_DAMAGED)
                raise SourceError(code, name=self._name, detail=detail, seconds=math.ceil(self._timeout_s))
        self._count(len(line))
        return line

    def _count(self, size_bytes: int) -> None:
        self._bytes_left -= size_bytes
        if self._bytes_left < 0 or size_bytes < 0:
            raise SourceError(FailureCode.FILE_TOO_HEAVY, name=self._name, detail="output limit")


Receive = Callable[[_Child], Awaitable[Result]]
"""Receives an answer. Raises the parser's own SourceError, too."""


async def _receive_passages(child: _Child, folder: Path) -> Passages:
    spool, ordinals = Spool(folder, passages.CHUNKS), count()
    windows = await child.batches(spool, lambda line: passages.read_chunks(line, ordinals), passages.Windows)
    return passages.checked_passages(spool.finish(), windows)


async def _receive_picture(child: _Child) -> Picture:
    head = await child.record(codec.PictureHead)
    return Picture(content=await child.content(head.size_bytes), pages=head.pages)
