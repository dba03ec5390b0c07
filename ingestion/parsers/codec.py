"""What a reading process and the program that asks it say to each other: requests, progress, documents, failures.

In: a `Request`; `Document`, `Picture` or `SourceError`. Out: records (`sandbox.records`); before a `Document`, lines of
its blocks, which are arrays, for speed. A wrong shape raises ValueError, and no code is ever loaded (no pickle).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from types import NoneType
from typing import Any

import orjson

from domain.locator import JsonValue, Locator
from ingestion.chunking.passages import PassageSizes
from ingestion.errors import FailureCode, SourceError
from ingestion.records import LARGEST_BLOCK_CHARS, Block, BlockKind, Document
from ingestion.spool import Joined, Spooled, Writing, in_portions
from sandbox.records import array_line, from_line, to_line

LARGEST_MEMBER_BYTES = 128 * 1024 * 1024
LONGEST_NAME = 300
Tell = Callable[[int, int], None]
tell_pages: ContextVar[Tell] = ContextVar("tell_pages", default=lambda _done, _total: None)
"""What a parser calls after each page, with the pages done and in total."""

LINE_CHARS = 100_000  # of a line, unless a single block is longer: a millisecond's work for the reading side
FRAME_CHARS = 80  # about what a line needs for a block besides its text
_KINDS: Mapping[str, BlockKind] = {kind.value: kind for kind in BlockKind}


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
    media_type: str | None = None
    page: int = 0  # from 0; for the tasks that make pictures
    folder: str = ""  # exists and is empty; the unpacked files go there
    members: int = 0  # files to unpack at most; the others are only listed
    total_bytes: int = 0  # of all unpacked files
    sizes: PassageSizes | None = None


@dataclass(frozen=True, kw_only=True)
class PagesRead:
    """Progress of the parser."""

    done: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A JPEG, upright, of at most 4,000 pixels a side, and the number of pages of its file."""

    content: bytes
    pages: int


@dataclass(frozen=True, kw_only=True)
class PictureHead:
    """The header before the bytes of a picture."""

    size_bytes: int
    pages: int


@dataclass(frozen=True, kw_only=True)
class Failed:
    """A SourceError; a parser can only speak of its file (FailureCode.FILE_*)."""

    code: FailureCode
    detail: str


def encode_document(document: Document) -> Iterator[bytes]:
    """Lines of blocks, then one line of all else."""
    yield from block_lines(document.blocks)
    yield to_line(replace(document, blocks=(), names=()))


def encode_blocks(blocks: Sequence[Block]) -> bytes:
    """One line of JSON."""
    return array_line([[block.kind.value, block.text, place, block.level] for block, place in with_places(blocks)])


def with_places(blocks: Iterable[Block]) -> Iterator[tuple[Block, dict[str, JsonValue]]]:
    """Blocks with their locators as JSON: most share the locator of the one before, so its JSON is reused."""
    locator, place = Locator(), Locator().to_json()
    for block in blocks:
        if block.locator is not locator:
            locator, place = block.locator, block.locator.to_json()
        yield block, place


def decode_blocks(line: bytes) -> list[Block]:
    """The inverse of `encode_blocks`. Raises ValueError."""
    blocks: list[Block] = []
    known, locator = None, Locator()
    try:
        for kind, text, place, level in list[Any](orjson.loads(line)):
            if place != known:  # most blocks have the locator of the one before, so its object is shared
                known, locator = place, Locator.from_json(place)
            if type(text) is not str or len(text) > LARGEST_BLOCK_CHARS or type(level) not in (int, NoneType):
                raise ValueError("a block of ours was expected")
            # A zero character PostgreSQL does not store; of halves of surrogate pairs no parser of JSON makes a text.
            blocks.append(Block(kind=_KINDS[kind], text=text.replace("\0", ""), locator=locator, level=level))
    except (AttributeError, KeyError, TypeError, RecursionError, OverflowError) as error:
        raise ValueError("not blocks of ours") from error
    return blocks


BLOCKS = Writing[Block](
    write=encode_blocks,
    read=decode_blocks,  # headings count: of short blocks they are the largest part
    size=lambda block: FRAME_CHARS + len(block.text) + sum(map(len, block.locator.headings)),
)


def block_lines(blocks: Sequence[Block]) -> Iterator[bytes]:
    """Lines of blocks; those of a long document were serialised while it was read (`outline`)."""
    if isinstance(blocks, Spooled) and blocks.writing is BLOCKS:
        return blocks.written()
    if isinstance(blocks, Joined):
        return chain.from_iterable(map(block_lines, blocks.parts))
    return map(encode_blocks, in_portions(blocks, BLOCKS.size, limit=LINE_CHARS))


def encode_picture(picture: Picture) -> Iterator[bytes]:
    """One line, then the raw bytes."""
    yield to_line(PictureHead(size_bytes=len(picture.content), pages=picture.pages))
    yield picture.content


def decode_answer(line: bytes, *kinds: type, name: str) -> Any:
    """The record, which is of one of these kinds. Raises the SourceError in the line, about the file `name`; ValueError
    for another line."""
    found = from_line(line, *kinds, Failed)
    if not isinstance(found, Failed):
        return found
    if not found.code.value.startswith("file-"):
        raise ValueError("a parser can only speak of its file")
    raise SourceError(found.code, detail=found.detail, name=name)
