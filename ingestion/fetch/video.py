"""Fetches a video's captions or sound, with yt-dlp in a limited process of its own.

In: a LINK source to a known host (`urls.is_video_host`). Out: a `FetchedFile` with the host's metadata, or the reason
why there is none. `video_child` decides what to fetch. The process has no network: what it wants to connect to, the
guard checks here, as for the crawler, and the open connection is handed over. So not even hostile code there reaches an
address inside.
"""

import asyncio
import contextlib
import os
import shutil
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import structlog

from domain.documents import DocumentStatus
from ingestion.errors import FailureCode, ServiceError, SourceError
from ingestion.fetch.guard import AddressGuard
from ingestion.fetch.video_child import Connect, Connected, Fetched, Got, Refused, Wanted, read_message
from ingestion.files import hash_file, megabytes
from ingestion.progress import Progress
from ingestion.records import FetchedFile, Source
from sandbox.confinement import Confinement
from sandbox.pool import Line, Pool, PoolDied, kept_variables
from sandbox.records import to_line

MEMORY_BYTES = 1 << 30
FILE_SLACK_BYTES = 1 << 20  # yt-dlp stops at the limit itself; the kernel's limit is a backstop
MEDIA_TYPES = {".vtt": "text/vtt", ".srt": "application/x-subrip"}
SOUND_TYPE = "audio/mp4"  # a declared type; the content decides

ENTRY = "ingestion.fetch.video_child:serve"
CERTIFICATES = "SSL_CERT_FILE"  # no HOME with somebody's yt-dlp settings
CERTIFICATE_FOLDERS = ("/etc/ssl", "/etc/pki", "/usr/share/ca-certificates")
ENGINE = "deno"  # runs a host's JavaScript; yt-dlp gives it no access to files and network
CONNECTING_S = 10

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class VideoFetcher:
    may_listen: bool  # recordings can be transcribed here; otherwise only captions are of use
    total_s: float  # for the whole fetch
    size_bytes: int  # of the sound
    sound_s: float  # longest sound to be transcribed
    guard: AddressGuard = field(default_factory=AddressGuard)

    async def fetch(self, source: Source, folder: Path, progress: Progress) -> FetchedFile:
        """Raises SourceError (VIDEO_*, FILE_NEEDS_HEARING, FILE_TOO_LONG, FILE_TOO_LARGE, PAGE_TOO_SLOW), ServiceError
        when the host does not answer, LeaseLost. Cancelling ends the process at once."""
        url = str(self.guard.check_url(source.identifier))
        host = urlsplit(url).hostname or ""
        began = time.monotonic()
        try:
            async with asyncio.timeout(self.total_s):
                message = await self._run(url, folder, progress)
        except TimeoutError as error:
            raise SourceError(FailureCode.PAGE_TOO_SLOW, host=host, seconds=round(self.total_s)) from error
        log.info("video_fetched", host=host, outcome=type(message).__name__, seconds=round(time.monotonic() - began, 1))
        if isinstance(message, Refused):
            if message.code is None:
                raise ServiceError(FailureCode.PAGE_UNREACHABLE, host=host, detail=message.detail)
            named = {"host": host, "name": message.title or host}
            limits = {"minutes": round(self.sound_s / 60), "limit_mb": megabytes(self.size_bytes)}
            raise SourceError(message.code, detail=message.detail, **named, **limits)
        path = folder / message.file
        if path.is_symlink() or not path.is_file():
            raise SourceError(FailureCode.VIDEO_REFUSED, host=host, detail="no such file")
        return FetchedFile(
            path=path,
            name=f"{(message.about.title or host).replace('/', ' ')}{path.suffix}",
            media_type=MEDIA_TYPES.get(path.suffix, SOUND_TYPE),
            size_bytes=path.stat().st_size,
            sha256=await asyncio.to_thread(hash_file, path),
            url=url,
            about=message.about,
        )

    async def _run(self, url: str, folder: Path, progress: Progress) -> Got | Refused:
        """In a pool of its own, so that what it may have started ends with it."""
        engine = shutil.which(ENGINE)
        wanted = Wanted(
            url=url,
            folder=str(folder.resolve()),  # noqa: ASYNC240 - one look at a local folder
            may_listen=self.may_listen,
            limit_s=self.sound_s,
            size_bytes=self.size_bytes,
            allow_hosts=tuple(sorted(self.guard.allow_hosts)),
        )
        confinement = Confinement(
            reads=(*CERTIFICATE_FOLDERS, *filter(None, [os.environ.get(CERTIFICATES)])),
            writes=(wanted.folder,),
            runs=(engine,) if engine else (),
            may_fork=engine is not None,
            data_bytes=MEMORY_BYTES,  # and not of address space, of which a JavaScript engine reserves gigabytes
            cpu_s=max(1, round(self.total_s)),
            file_bytes=self.size_bytes + FILE_SLACK_BYTES,
            open_files=256,
        )
        async with Pool(entry=ENTRY, variables=kept_variables((CERTIFICATES,))) as pool:
            try:
                async with pool.child(confinement) as line:
                    line.write(wanted)
                    return await self._converse(line, progress)
            except PoolDied as error:
                return Refused(code=None, title="", detail=str(error))
            except (ValueError, ConnectionError) as error:
                return Refused(code=FailureCode.VIDEO_REFUSED, title="", detail=f"unreadable: {error}")

    async def _converse(self, line: Line, progress: Progress) -> Got | Refused:
        """The last message. If the process ended without one, it could not do what the host demanded: VIDEO_REFUSED."""
        while read := (await line.read()).strip():
            match read_message(read):
                case Connect(host=host, port=port):
                    await self._connect(line, host, port)
                case Fetched(done_bytes=done, total_bytes=total):
                    await progress.report(DocumentStatus.FETCHING, done=done, total=total)
                case message:
                    return message
        raise ValueError("the process ended without an answer")

    async def _connect(self, line: Line, host: str, port: int) -> None:
        """Hand over a connection, or say why there is none, in words that `video_choice` knows."""
        try:
            connection = await _open_first(await self.guard.addresses(host, port), port)
        except (SourceError, ServiceError) as error:
            is_closed = error.code in (FailureCode.PAGE_ADDRESS_FORBIDDEN, FailureCode.PAGE_ADDRESS_INVALID)
            line.write(
                Connected(trouble=f"{host}:{port} is closed to videos" if is_closed else "name resolution failed")
            )
        except OSError as error:
            line.write(Connected(trouble=f"unable to connect: {error}"))
        else:
            with connection, contextlib.suppress(OSError):  # it is gone, as the next reading says
                socket.send_fds(line.socket, [to_line(Connected())], [connection.fileno()])


async def _open_first(addresses: Sequence[str], port: int) -> socket.socket:
    """A connection to the first of the addresses that accepts. Raises OSError."""
    failure = OSError("no address")
    for address in addresses:
        connection = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        connection.setblocking(False)
        try:
            async with asyncio.timeout(CONNECTING_S):
                await asyncio.get_running_loop().sock_connect(connection, (address, port))
        except BaseException as error:  # also when cancelled
            connection.close()
            if not isinstance(error, OSError):  # as TimeoutError is
                raise
            failure = error
        else:
            return connection
    raise failure
