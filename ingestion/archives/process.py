"""Unpacks a file in a separate process, with limits on memory, time and output.

In: a file and an empty folder. Out: a `Listing` of what the folder holds afterwards. A crash, hang or growth there
affects nothing else.
"""

import asyncio
import math
import os
import sys
from pathlib import Path

import ingestion
from ingestion.archives.records import Listing, UnpackRequest, read_answer
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.children import KEPT_VARIABLES
from ingestion.parsers.process import MEGABYTE_BYTES
from ingestion.records import FetchedFile

START = "import sys; sys.path.append({folder!r}); from ingestion.archives.child import main; main()"
"""The folder of our own packages comes last, so that nothing in it can shadow the standard library."""


class UnpackProcess:
    """Starts a process for each file."""

    def __init__(self, *, timeout_s: float, memory_mb: int) -> None:
        """`timeout_s` limits the wall-clock and processor time of one file, `memory_mb` its address space."""
        self._timeout_s = timeout_s
        self._memory_bytes = memory_mb * MEGABYTE_BYTES

    async def unpack(self, file: FetchedFile, folder: Path, *, members: int, total_bytes: int) -> Listing:
        """Raises SourceError: FILE_DAMAGED, FILE_TOO_HEAVY, FILE_TOO_SLOW. Cancelling kills the process."""
        request = self._request(file, folder, members=members, total_bytes=total_bytes)
        try:
            async with asyncio.timeout(self._timeout_s):
                line = await _run(request)
        except TimeoutError as error:
            seconds = math.ceil(self._timeout_s)
            raise SourceError(FailureCode.FILE_TOO_SLOW, name=file.name, seconds=seconds) from error
        return read_answer(line, name=file.name)

    def _request(self, file: FetchedFile, folder: Path, *, members: int, total_bytes: int) -> UnpackRequest:
        return UnpackRequest(
            path=str(file.path.absolute()),
            name=file.name,
            folder=str(folder.absolute()),
            members=members,
            total_bytes=total_bytes,
            memory_bytes=self._memory_bytes,
            cpu_s=math.ceil(self._timeout_s),
        )


async def _run(request: UnpackRequest) -> bytes:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # a file in the working folder must not shadow a module
        "-c",
        START.format(folder=str(Path(ingestion.__file__).parent.parent)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,  # a traceback may quote the file
        env={name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ},
    )
    try:
        line, _ = await process.communicate(request.to_line())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return line
