"""What a reading process and the program that asks it say to each other: requests, progress, documents, failures.

In: a `Request`; `Document`, `Picture` or `SourceError`. Out: records (`sandbox.records`), and lines of blocks, which
have an encoding of their own, for speed: a document takes many lines, so that neither side holds a book twice. The
reading side trusts nothing: a wrong shape raises ValueError, and no code is ever loaded (no pickle). It imports no
parser; what the process may do to the machine says its `sandbox.confinement.Confinement`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any

import orjson

from domain.documents import Medium, UnreadPart
from domain.locator import JsonValue, Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.records import LARGEST_BLOCK_CHARS, Block, BlockKind, Document
from ingestion.spool import Joined, Spool, Spooled, Writing, in_portions
from sandbox.records import from_line, storable, to_line

LARGEST_TOTAL_BYTES = 512 * 1024 * 1024
LARGEST_RATIO = 200
"""Largest ratio of unpacked to packed bytes, over all files: text reaches 20, sheets and logs 100."""
RATIO_FREE_BYTES = 32 * 1024 * 1024  # below this size the ratio is not checked
MOST_MEMBERS = 1_000
LARGEST_MEMBER_BYTES = 128 * 1024 * 1024
LONGEST_NAME = 300
Tell = Callable[[int, int], None]
"""Takes units done and units in total."""
_listener: ContextVar[Tell | None] = ContextVar("listener", default=None)
FILE_FAILURES = "file-"
FAILURE_PARAMS = ("name", "seconds", "limit_mb", "minutes")  # of FailureCode.FILE_*
LINE_CHARS = 100_000  # of a line, unless a single block is longer: a millisecond's work for the reading side
FRAME_CHARS = 80  # about what a line needs for a block besides its text
_BLOCKS, _FAILED = b'{"blocks"', b'{"record": "_Failed"'  # beginnings of lines
JsonObject = Mapping[str, JsonValue]


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
    output_bytes: int
    media_type: str | None = None
    page: int = 0  # from 0; for the tasks that make pictures
    folder: str = ""  # exists and is empty; the unpacked files go there
    members: int = 0  # files to unpack at most; the others are only listed
    total_bytes: int = 0  # of all unpacked files
    chunk_tokens: int = 0
    overlap_tokens: int = 0
    window_tokens: int = 0


@contextmanager
def reported_to(tell: Tell) -> Iterator[None]:
    """While the block runs, `tell` receives what parsers report."""
    token = _listener.set(tell)
    try:
        yield
    finally:
        _listener.reset(token)


def report_pages(done: int, total: int) -> None:
    """Called by a parser after each page; cheap when nobody listens."""
    tell = _listener.get()
    if tell is not None:
        tell(done, total)


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
class _About:
    """A document without its blocks, which came before."""

    title: str
    pages: int | None
    pages_without_text: tuple[int, ...]
    language: str | None
    author: str | None
    published_at: str | None  # ISO 8601
    medium: Medium
    duration_s: float | None
    parts: int | None
    unread: tuple[UnreadPart, ...]


@dataclass(frozen=True, kw_only=True)
class _Failed:
    """A SourceError; a parser can only speak of its file (FailureCode.FILE_*)."""

    code: FailureCode
    detail: str
    name: str | None
    seconds: int | None
    limit_mb: int | None
    minutes: int | None


def encode_document(document: Document) -> Iterator[bytes]:
    """Lines of blocks, then one line of all else."""
    yield from block_lines(document.blocks)
    said = {field.name: getattr(document, field.name) for field in fields(_About)}
    said["published_at"] = document.published_at.isoformat() if document.published_at else None
    yield to_line(_About(**said))


def encode_blocks(blocks: Sequence[Block]) -> bytes:
    """One line of JSON. Most blocks share the locator of the one before, so its JSON is reused."""
    written: list[JsonValue] = []
    locator, place = Locator(), Locator().to_json()
    for block in blocks:
        if block.locator is not locator:
            locator, place = block.locator, block.locator.to_json()
        written.append({"kind": block.kind.value, "text": block.text, "locator": place, "level": block.level})
    return _encode({"blocks": written})


def block_lines(blocks: Sequence[Block]) -> Iterator[bytes]:
    """Lines of blocks; those of a long document were serialised while it was read (`outline`)."""
    if isinstance(blocks, Spooled) and blocks.writing is BLOCKS:
        return blocks.written()
    if isinstance(blocks, Joined):
        return chain.from_iterable(map(block_lines, blocks.parts))
    return map(encode_blocks, in_portions(blocks, written_chars, limit=LINE_CHARS))


def written_chars(block: Block) -> int:
    """Approximate size of a block in a line. Headings count: of short blocks they are the largest part."""
    return FRAME_CHARS + len(block.text) + sum(map(len, block.locator.headings))


def encode_picture(picture: Picture) -> Iterator[bytes]:
    """One line, then the raw bytes."""
    yield to_line(PictureHead(size_bytes=len(picture.content), pages=picture.pages))
    yield picture.content


def encode_failure(error: SourceError) -> bytes:
    """One line."""
    params: dict[str, Any] = {name: error.params.get(name) for name in FAILURE_PARAMS}
    return to_line(_Failed(code=error.code, detail=error.detail, **params))


def decode_answer(line: bytes, *kinds: type) -> Any:
    """The record, which is of one of these kinds. Raises the SourceError in the line, ValueError for another line."""
    found = from_line(line, *kinds, _Failed)
    if not isinstance(found, _Failed):
        return found
    if not found.code.value.startswith(FILE_FAILURES):
        raise ValueError("a parser can only speak of its file")
    params = {name: value for name in FAILURE_PARAMS if (value := getattr(found, name)) is not None}
    raise SourceError(found.code, detail=found.detail, **params)


def raise_failure(line: bytes) -> None:
    """Raise the SourceError in the line, if it holds one."""
    if line.startswith(_FAILED):
        decode_answer(line)


class DocumentLines:
    """Rebuilds a document line by line; the blocks of a long one are in a file."""

    def __init__(self, folder: Path) -> None:
        self._blocks = Spool(folder, BLOCKS)

    def add(self, line: bytes) -> PagesRead | Document | None:
        """Returns the document at its last line. Raises the SourceError in a line, ValueError if malformed."""
        if line.startswith(_BLOCKS):
            self._blocks.add(decode_blocks(line), size=len(line), written=line)
            return None
        found: PagesRead | _About = decode_answer(line, PagesRead, _About)
        if isinstance(found, PagesRead):
            return found
        said = {**vars(found), "published_at": found.published_at and datetime.fromisoformat(found.published_at)}
        return Document(blocks=self._blocks.finish(), **said)


def _json(line: bytes) -> object:
    try:
        return orjson.loads(line)
    except ValueError:  # lone surrogates, infinite numbers: `json` accepts more
        return json.loads(line)


def _encode(message: JsonObject) -> bytes:
    try:
        return orjson.dumps(message, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a lone surrogate
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", errors="replace") + b"\n"


def decode_blocks(line: bytes) -> list[Block]:
    """The inverse of `encode_blocks`. Raises ValueError."""
    try:
        return _blocks_from_json(_object(_json(line)).get("blocks"))
    except (RecursionError, OverflowError) as error:  # endless brackets, infinite numbers
        raise ValueError("not blocks of ours") from error


BLOCKS = Writing(write=encode_blocks, read=decode_blocks)


def gather_blocks(blocks: Iterable[Block], spool: Spool[Block]) -> None:
    """Add blocks as they come, so that only some pages of them are held. Raises OSError."""
    for portion in in_portions(blocks, written_chars, limit=LINE_CHARS):
        spool.add(portion, size=sum(map(written_chars, portion)))


def _blocks_from_json(blocks: object) -> list[Block]:
    """Most blocks have the locator of the one before, so its object is shared."""
    read = []
    known: tuple[JsonObject, Locator] = {}, Locator()
    if not isinstance(blocks, list):
        raise ValueError("a list was expected")
    for block in map(_object, blocks):
        place = _object(block.get("locator"))
        if place != known[0]:
            known = place, Locator.from_json(place)
        read.append(_block_from_json(block, known[1]))
    return read


def _block_from_json(block: JsonObject, locator: Locator) -> Block:
    kind, text, level = block.get("kind"), block.get("text"), block.get("level")
    if not isinstance(kind, str) or not isinstance(text, str) or len(text) > LARGEST_BLOCK_CHARS:
        raise ValueError("a block of ours was expected")
    if level is not None and type(level) is not int:
        raise ValueError("a block of ours was expected")
    return Block(kind=BlockKind(kind), text=storable(text), locator=locator, level=level)


def _object(value: object) -> JsonObject:
    if not isinstance(value, dict):
        raise ValueError("an object was expected")
    return value
