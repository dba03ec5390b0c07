"""Fetches a video's captions or sound, with yt-dlp in a limited process of its own.

In: a LINK source whose host is in `video_hosts`. Out: a `FetchedFile` with the host's metadata, or the reason why there
is none. `video_choice` decides what to fetch, `video_guard` what the process may do.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import structlog

import ingestion
from domain.documents import DocumentStatus, Medium
from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.fetch.files import hash_file, megabytes
from ingestion.fetch.guard import AddressGuard
from ingestion.fetch.video_wire import Fetched, Got, Message, Refused, Wanted, decode_message
from ingestion.progress import Progress
from ingestion.records import About, FetchedFile, Source

MEMORY_BYTES = 1 << 30
LINE_LIMIT_BYTES = 1 << 20
MEDIA_TYPES = {".vtt": "text/vtt", ".srt": "application/x-subrip"}
SOUND_TYPE = "audio/mp4"  # a declared type; the content decides

START = "import sys; sys.path.append({folder!r}); from ingestion.fetch.video_child import main; main()"
"""The folder of our own packages comes last, so that nothing in it can shadow the standard library."""

KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "SSL_CERT_FILE")
"""Environment variables that the process keeps: no tokens and keys, and no HOME with somebody's yt-dlp settings."""

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class VideoLimits:
    """Limits for a video."""

    total_s: float  # for the whole fetch
    size_bytes: int  # of the sound
    sound_s: float  # longest sound to be transcribed
    allow_hosts: frozenset[str] = frozenset()  # "127.0.0.1:8000": inside addresses that tests may reach


class VideoFetcher:
    """Fetches videos of the known hosts."""

    def __init__(self, limits: VideoLimits, *, may_listen: bool) -> None:
        """`may_listen`: recordings can be transcribed here; otherwise only captions are of use."""
        self._limits = limits
        self._may_listen = may_listen
        self._guard = AddressGuard(allow_hosts=limits.allow_hosts)

    async def fetch(self, source: Source, folder: Path, progress: Progress) -> FetchedFile:
        """Raises SourceError (VIDEO_*, FILE_NEEDS_HEARING, FILE_TOO_LONG, FILE_TOO_LARGE, PAGE_TOO_SLOW), ServiceError
        when the host does not answer, LeaseLost. Cancelling ends the process at once."""
        url = str(self._guard.check_url(source.identifier))
        host = urlsplit(url).hostname or ""
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._limits.total_s):
                message = await self._run(url, folder, progress)
        except TimeoutError as error:
            raise SourceError(FailureCode.PAGE_TOO_SLOW, host=host, seconds=round(self._limits.total_s)) from error
        log.info("video_fetched", host=host, outcome=type(message).__name__, seconds=round(time.monotonic() - began, 1))
        if isinstance(message, Got):
            return await _fetched_file(message, folder, url, host)
        raise self._explain(message, host)

    async def _run(self, url: str, folder: Path, progress: Progress) -> Got | Refused:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # a file in the working folder must not shadow a module
            "-c",
            START.format(folder=str(Path(ingestion.__file__).parent.parent)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LINE_LIMIT_BYTES,
            env=_clean_environment(os.environ),
            cwd=folder,
            start_new_session=True,  # so that its children can be killed with it
        )
        try:
            return await self._converse(process, self._wanted(url, folder), progress)
        finally:
            await _end(process)

    async def _converse(self, process: asyncio.subprocess.Process, wanted: Wanted, progress: Progress) -> Got | Refused:
        if process.stdin is None or process.stdout is None:
            raise AssertionError("both are pipes")
        process.stdin.write(wanted.to_line())  # stdin stays open: the process dies when it closes
        while True:
            message = await _read(process.stdout)
            if not isinstance(message, Fetched):
                return message
            await progress.report(DocumentStatus.FETCHING, done=message.done_bytes, total=message.total_bytes)

    def _wanted(self, url: str, folder: Path) -> Wanted:
        return Wanted(
            url=url,
            folder=str(folder.resolve()),
            may_listen=self._may_listen,
            limit_s=self._limits.sound_s,
            size_bytes=self._limits.size_bytes,
            memory_bytes=MEMORY_BYTES,
            cpu_s=max(1, round(self._limits.total_s)),
            allow_hosts=tuple(sorted(self._limits.allow_hosts)),
        )

    def _explain(self, refused: Refused, host: str) -> SourceError | ServiceError:
        name = refused.title or host
        match refused.code:
            case None:
                return ServiceError(FailureCode.PAGE_UNREACHABLE, host=host, detail=refused.detail)
            case FailureCode.FILE_TOO_LONG:
                minutes = round(self._limits.sound_s / 60)
                return SourceError(refused.code, name=name, minutes=minutes, detail=refused.detail)
            case FailureCode.FILE_TOO_LARGE:
                limit_mb = megabytes(self._limits.size_bytes)
                return SourceError(refused.code, name=name, limit_mb=limit_mb, detail=refused.detail)
            case FailureCode.FILE_NEEDS_HEARING:
                return SourceError(refused.code, name=name, detail=refused.detail)
            case _:
                return SourceError(refused.code, host=host, detail=refused.detail)


async def _read(stream: asyncio.StreamReader) -> Message:
    """The process's next message. If it ended without one, it could not do what the host demanded: VIDEO_REFUSED."""
    try:
        line = await stream.readline()
        if line:
            return decode_message(line)
        detail = "the process ended without an answer"
    except ValueError as error:
        detail = f"unreadable: {error}"
    return Refused(code=FailureCode.VIDEO_REFUSED, title="", detail=detail)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the process group: children may outlive a process that ended by itself at one of its limits."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


async def _fetched_file(got: Got, folder: Path, url: str, host: str) -> FetchedFile:
    path = folder / got.file
    if path.is_symlink() or not path.is_file():
        raise SourceError(FailureCode.VIDEO_REFUSED, host=host, detail="no such file")
    return FetchedFile(
        path=path,
        name=f"{got.title.replace('/', ' ') or host}{path.suffix}",
        media_type=MEDIA_TYPES.get(path.suffix, SOUND_TYPE),
        size_bytes=path.stat().st_size,
        sha256=await asyncio.to_thread(hash_file, path),
        url=url,
        about=About(
            title=got.title or None,
            author=got.author,
            published_at=datetime.fromisoformat(got.published_at) if got.published_at else None,
            site=host.removeprefix("www."),
            medium=Medium.VIDEO,
            duration_s=got.duration_s,
        ),
    )


def _clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[name] for name in KEPT_VARIABLES if name in environ}
