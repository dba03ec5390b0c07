"""What was inside an archive or a letter, and how much of it may be unpacked.

In: nothing. Out: the records that an unpacking process answers with (`sandbox.records`), and limits.
"""

from dataclasses import dataclass

LARGEST_TOTAL_BYTES = 512 * 1024 * 1024
LARGEST_RATIO = 200
"""Largest ratio of unpacked to packed bytes, over all files: text reaches 20, sheets and logs 100."""

RATIO_FREE_BYTES = 32 * 1024 * 1024  # below this size the ratio is not checked
MOST_MEMBERS = 1_000
LARGEST_MEMBER_BYTES = 128 * 1024 * 1024
LONGEST_NAME = 300


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
