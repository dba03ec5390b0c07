"""The request to a parsing process: one line of JSON.

In: a file, a task, and limits. Out: bytes, and back. It is a separate module so that the requesting program need not
import the parsers.
"""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

AGAIN = b'{"again": true}\n'
"""Sent by a process after its answer if it can serve another request."""


class Task(StrEnum):
    """What a process does with a file."""

    PARSE = "parse"  # answer: a document
    DRAW_PAGE = "draw-page"  # of a PDF; answer: a picture
    OPEN_PICTURE = "open-picture"  # a photo, or a page of a TIFF; answer: a picture, upright, in a plain format


@dataclass(frozen=True, kw_only=True)
class ParseRequest:
    """A task and its limits."""

    task: Task = Task.PARSE
    path: str
    name: str
    media_type: str | None
    page: int = 0  # from 0; for the tasks that make pictures
    cpu_s: int
    memory_bytes: int
    output_bytes: int

    def to_line(self) -> bytes:
        """One line of JSON."""
        return json.dumps(vars(self)).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """The inverse of `to_line`; the line comes from our own process."""
        fields = json.loads(line)
        return cls(**{**fields, "task": Task(fields["task"])})
