"""The request to the unpacking process and its answer, each one line of JSON.

In: a file, a folder and limits. Out: the files that it wrote and the names of those that it did not.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Self

from ingestion.errors import FailureCode, SourceError

LARGEST_TOTAL_BYTES = 512 * 1024 * 1024
LARGEST_RATIO = 200
"""Largest ratio of unpacked to packed bytes, over all files: text reaches 20, sheets and logs 100."""

RATIO_FREE_BYTES = 32 * 1024 * 1024  # below this size the ratio is not checked
MOST_MEMBERS = 1_000
LARGEST_MEMBER_BYTES = 128 * 1024 * 1024
LONGEST_NAME = 300


@dataclass(frozen=True, kw_only=True)
class UnpackRequest:
    """What to unpack, where to, and how much of it."""

    path: str
    name: str
    folder: str  # exists and is empty
    members: int  # files to write at most; the others are only listed
    total_bytes: int
    memory_bytes: int
    cpu_s: int

    def to_line(self) -> bytes:
        """One line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """The inverse of `to_line`; the line comes from our own process."""
        return cls(**json.loads(line))


@dataclass(frozen=True, kw_only=True)
class Member:
    """A file that was inside."""

    name: str  # with its folders; only shown to people
    number: int  # its name in the folder
    size_bytes: int
    sha256: str  # hex


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The result for every file inside; files that the system left there (`.DS_Store`) are omitted."""

    members: tuple[Member, ...]
    refused: tuple[str, ...] = ()  # too large, too many, or impossible to decompress
    encrypted: tuple[str, ...] = ()

    def to_line(self) -> bytes:
        """One line of JSON; lone surrogates become question marks."""
        return json.dumps(asdict(self), ensure_ascii=False).encode("utf-8", errors="replace") + b"\n"


def failure_line(code: FailureCode, detail: str) -> bytes:
    """The line that the process writes instead of a listing."""
    return json.dumps({"failure": code.value, "detail": detail}).encode() + b"\n"


def read_answer(line: bytes, *, name: str) -> Listing:
    """The listing. Raises the SourceError in the line, or FILE_DAMAGED for a malformed answer."""
    try:
        answer = json.loads(line)
        if "failure" not in answer:
            return _listing(answer)
        failure = SourceError(FailureCode(answer["failure"]), name=name, detail=str(answer.get("detail")))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise SourceError(FailureCode.FILE_DAMAGED, name=name, detail=f"unreadable listing: {error}") from error
    raise failure


def _listing(answer: Mapping[str, object]) -> Listing:
    members, refused, encrypted = answer["members"], answer["refused"], answer["encrypted"]
    if not (isinstance(members, list) and isinstance(refused, list) and isinstance(encrypted, list)):
        raise ValueError("lists were expected")
    return Listing(
        members=tuple(
            Member(
                name=str(member["name"]),
                number=int(member["number"]),
                size_bytes=int(member["size_bytes"]),
                sha256=str(member["sha256"]),
            )
            for member in members
        ),
        refused=tuple(map(str, refused)),
        encrypted=tuple(map(str, encrypted)),
    )
