"""What is asked of a parsing process: one line of JSON.

In: a file and its limits. Out: bytes, and back. It is a module of its own so that the program that asks need not
import the parsers.
"""

import json
from dataclasses import asdict, dataclass
from typing import Self


@dataclass(frozen=True, kw_only=True)
class ParseRequest:
    """What to parse, and within which limits."""

    path: str
    name: str
    media_type: str | None
    cpu_s: int
    memory_bytes: int
    output_bytes: int

    def to_line(self) -> bytes:
        """One line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """The inverse; the line comes from our own process."""
        return cls(**json.loads(line))
