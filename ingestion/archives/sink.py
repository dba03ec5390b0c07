"""Writes unpacked files to a private folder, under numbers, within limits of count and bytes.

In: names and streams. Out: files 1, 2, 3 … and a `Listing`. A name from an archive is never used as a path.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ingestion.archives.records import LARGEST_MEMBER_BYTES, LONGEST_NAME, Listing, Member

PIECE_BYTES = 256 * 1024
MOST_NAMED = 1_000  # of the files not taken: 20 MB can claim a million, and the receipt carries the names

UNMENTIONED_FOLDERS = frozenset({"__MACOSX", ".git", ".svn"})
UNMENTIONED_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", "winmail.dat", ".gitignore", ".gitkeep"})
"""Files that systems leave in folders."""


class Stream(Protocol):
    """A source that is read piece by piece."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; empty at the end."""
        ...


@dataclass(kw_only=True)
class Sink:
    """Takes one file after another."""

    folder: Path
    members: int
    total_bytes: int
    written: list[Member] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    encrypted: list[str] = field(default_factory=list)

    def take(self, name: str, *, stated_bytes: int, stream: Callable[[], Stream]) -> None:
        """Write a file; one too large, or one too many, is only listed. Content that was taken already is dropped."""
        shown = tidy_name(name)
        if is_unmentioned(shown):
            return
        limit = min(LARGEST_MEMBER_BYTES, self.total_bytes)
        if len(self.written) >= self.members or stated_bytes > limit:
            self.refused.append(shown)
            return
        self._write(shown, _pieces(stream()), limit)

    def listing(self) -> Listing:
        """Everything taken and listed; if there are too many names, the last one tells how many more."""
        return Listing(members=tuple(self.written), refused=_named(self.refused), encrypted=_named(self.encrypted))

    def _write(self, name: str, pieces: Iterator[bytes], limit: int) -> None:
        number = len(self.written) + 1
        path = self.folder / str(number)
        digest, size = hashlib.sha256(), 0
        with path.open("wb") as target:
            for piece in pieces:
                size += len(piece)
                self.total_bytes = max(0, self.total_bytes - len(piece))  # even when the file turns out damaged
                if size > limit:  # the size stated in the archive was wrong
                    break
                digest.update(piece)
                target.write(piece)
        member = Member(name=name, number=number, size_bytes=size, sha256=digest.hexdigest())
        if size > limit:
            self.refused.append(name)
        elif all(member.sha256 != other.sha256 for other in self.written):
            self.written.append(member)


def _named(names: Sequence[str]) -> tuple[str, ...]:
    left = len(names) - MOST_NAMED
    return tuple(names) if left <= 0 else (*names[:MOST_NAMED], f"… (+{left})")


def tidy_name(name: str) -> str:
    """The name for people: without control characters, parent folders and drive letters."""
    parts = "".join(character if character.isprintable() else " " for character in name).replace("\\", "/").split("/")
    kept = [part.strip() for part in parts if part.strip() not in ("", ".", "..")]
    return "/".join(kept)[-LONGEST_NAME:] or "?"


def is_unmentioned(name: str) -> bool:
    """Whether the system, and no person, put the file there."""
    *folders, file = name.split("/")
    return file in UNMENTIONED_FILES or file.startswith("._") or not UNMENTIONED_FOLDERS.isdisjoint(folders)


def _pieces(stream: Stream) -> Iterator[bytes]:
    while piece := stream.read(PIECE_BYTES):
        yield piece
