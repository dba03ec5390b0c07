"""The request to a reading process (`sandbox.records`): what to do with one file or one text.

In: a task. Out: a record. It is a separate module so that the requesting program need not import the
parsers. What the process may do to the machine is not said here, but in its `sandbox.confinement.Confinement`.
"""

from dataclasses import dataclass
from enum import StrEnum


class Task(StrEnum):
    """What a process does with a file."""

    PARSE = "parse"  # answer: a document
    DRAW_PAGE = "draw-page"  # of a PDF; answer: a picture
    OPEN_PICTURE = "open-picture"  # a photo, or a page of a TIFF; answer: a picture, upright, in a plain format
    UNPACK = "unpack"  # an archive, or a letter with its attachments; answer: a listing
    CUT = "cut"  # blocks, which follow in lines, the last of them empty; answer: passages


@dataclass(frozen=True, kw_only=True)
class Request:
    """A task; the fields below the first three each serve one."""

    task: Task
    path: str
    name: str
    output_bytes: int
    media_type: str | None = None
    page: int = 0  # from 0; for the tasks that make pictures
    folder: str = ""  # exists and is empty; the unpacked files go there
    members: int = 0  # files to unpack at most; the others are only listed
    total_bytes: int = 0  # of all unpacked files
    chunk_tokens: int = 0
    overlap_tokens: int = 0
    window_tokens: int = 0
