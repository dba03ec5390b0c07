"""The messages between the worker and the process that runs yt-dlp: one line of JSON each.

In: records. Out: bytes, and back. The process handles untrusted data, so its messages are validated: a wrong shape
raises ValueError.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Self

from ingestion.errors import FailureCode


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to fetch, and within which limits."""

    url: str
    folder: str
    may_listen: bool  # False: captions only, because nothing here can transcribe
    limit_s: float  # longer sound is not fetched
    size_bytes: int
    memory_bytes: int
    cpu_s: int
    allow_hosts: tuple[str, ...] = ()

    def to_line(self) -> bytes:
        """One line of JSON."""
        return _line(asdict(self))

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """The inverse of `to_line`; the line comes from our own process."""
        fields = json.loads(line)
        return cls(**{**fields, "allow_hosts": tuple(fields["allow_hosts"])})


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


Message = Fetched | Got | Refused


def encode_message(message: Message) -> bytes:
    """One line of JSON."""
    return _line({"message": type(message).__name__, **asdict(message)})


def decode_message(line: bytes) -> Message:
    """The inverse of `encode_message`. Raises ValueError."""
    try:
        fields = json.loads(line)
        match fields["message"]:
            case "Fetched":
                return Fetched(done_bytes=_integer(fields["done_bytes"]), total_bytes=_integer(fields["total_bytes"]))
            case "Got":
                return _got(fields)
            case _:
                code = fields["code"]
                return Refused(
                    code=None if code is None else FailureCode(code),
                    title=_text(fields["title"]),
                    detail=_text(fields["detail"]),
                )
    except (KeyError, TypeError, RecursionError, OverflowError) as error:
        raise ValueError("not a message of ours") from error


def _got(fields: Mapping[str, object]) -> Got:
    published_at, duration_s = fields["published_at"], fields["duration_s"]
    file = _text(fields["file"])
    if "/" in file or file in ("", ".", ".."):
        raise ValueError("a name in the folder was expected")
    return Got(
        file=file,
        title=_text(fields["title"]),
        author=None if fields["author"] is None else _text(fields["author"]),
        published_at=None if published_at is None else datetime.fromisoformat(_text(published_at)).isoformat(),
        duration_s=float(duration_s) if isinstance(duration_s, int | float) else None,
    )


def _line(fields: Mapping[str, object]) -> bytes:
    return json.dumps(fields, ensure_ascii=True).encode() + b"\n"


def _integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("a number of bytes was expected")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text was expected")
    return value.replace("\0", "").encode("utf-8", errors="replace").decode()  # PostgreSQL stores no NUL, no surrogates
