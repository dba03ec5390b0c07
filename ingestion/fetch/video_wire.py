"""The messages between the worker and the process that runs yt-dlp (`sandbox.records`).

In and out: records. The process handles untrusted data, so what they say is checked once more here.
"""

from dataclasses import dataclass
from datetime import datetime

from ingestion.errors import FailureCode
from sandbox.records import from_line


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to fetch, and within which limits."""

    url: str
    folder: str
    may_listen: bool  # False: captions only, because nothing here can transcribe
    limit_s: float  # longer sound is not fetched
    size_bytes: int
    allow_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """Progress of the download of the sound."""

    done_bytes: int
    total_bytes: int  # 0 while unknown


@dataclass(frozen=True, kw_only=True)
class Got:
    """The file in the folder, and the host's metadata of the video."""

    file: str
    title: str
    author: str | None
    published_at: str | None  # ISO 8601
    duration_s: float | None


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Why there is no file: a FailureCode, or None when the host may answer later."""

    code: FailureCode | None
    title: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class Connect:
    """The process wants a connection; it has no sockets of its own."""

    host: str
    port: int


@dataclass(frozen=True, kw_only=True)
class Connected:
    """The answer; an open connection goes with it as a descriptor, unless there is a trouble."""

    trouble: str = ""


Message = Connect | Fetched | Got | Refused


def read_message(line: bytes) -> Message:
    """Raises ValueError, also for a name that is none in the folder, and for a day that is none."""
    message: Message = from_line(line, Connect, Fetched, Got, Refused)
    match message:
        case Got(file=file, published_at=published_at):
            if "/" in file or file in ("", ".", ".."):
                raise ValueError("a name in the folder was expected")
            if published_at is not None:
                datetime.fromisoformat(published_at)
        case Fetched(done_bytes=done, total_bytes=total) if done < 0 or total < 0:
            raise ValueError("a number of bytes was expected")
    return message
