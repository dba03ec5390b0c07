"""What a reading process and the program that asks it say to each other: requests, progress, documents, failures.

In: a `Request`; `Document`, `Picture` or `SourceError`. Out: lines of JSON, and back. A document takes many lines, so
that neither side holds a book twice. The reading side trusts nothing: a wrong shape raises ValueError, and no code is
ever loaded (no pickle). It imports no parser; what the process may do to the machine says its
`sandbox.confinement.Confinement`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import chain
from pathlib import Path

import orjson

from domain.documents import Medium, UnreadPart
from domain.locator import JsonValue, Locator
from ingestion.errors import FailureCode, SourceError
from ingestion.records import LARGEST_BLOCK_CHARS, Block, BlockKind, Document
from ingestion.spool import Joined, Spool, Spooled, Writing, in_portions
from sandbox.records import from_line

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
FAILURE_PARAMS = frozenset({"name", "seconds", "limit_mb", "minutes"})  # accepted, of FailureCode.FILE_*
LINE_CHARS = 100_000  # of a line, unless a single block is longer: a millisecond's work for the reading side
FRAME_CHARS = 80  # about what a line needs for a block besides its text
KINDS: Mapping[str, BlockKind] = {kind.value: kind for kind in BlockKind}
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
class PictureHead:
    """The header before the bytes of a picture."""

    size_bytes: int
    frames: int  # of the file that the picture comes from


def encode_pages(done: int, total: int) -> bytes:
    """One line of JSON."""
    return _encode({"pages": [done, total]})


def encode_document(document: Document) -> Iterator[bytes]:
    """Lines of JSON, blocks first. Lone surrogates, which UTF-8 cannot encode, become question marks."""
    yield from block_lines(document.blocks)
    content: dict[str, JsonValue] = {
        "title": document.title,
        "pages": document.pages,
        "pages_without_text": list(document.pages_without_text),
        "language": document.language,
        "author": document.author,
        "published_at": document.published_at.isoformat() if document.published_at else None,
        "medium": document.medium.value,
        "duration_s": document.duration_s,
        "parts": document.parts,
        "unread": [part.to_json() for part in document.unread],
    }
    yield _encode({"document": content})


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


def encode_picture(content: bytes, *, frames: int) -> Iterator[bytes]:
    """One line of JSON, then the raw bytes."""
    yield _encode({"picture": {"bytes": len(content), "frames": frames}})
    yield content


def encode_failure(error: SourceError) -> bytes:
    """One line of JSON."""
    return _encode({"failure": {"code": error.code.value, "params": dict(error.params), "detail": error.detail}})


class DocumentLines:
    """Rebuilds a document line by line; the blocks of a long one are in a file."""

    def __init__(self, folder: Path) -> None:
        self._blocks = Spool(folder, BLOCKS)

    def add(self, line: bytes) -> PagesRead | Document | None:
        """Returns the document at its last line. Raises the SourceError in a line, ValueError if malformed."""
        try:
            return self._add(_decode(line), line)
        except OverflowError as error:  # infinite numbers
            raise ValueError("not a result of ours") from error

    def _add(self, message: JsonObject, line: bytes) -> PagesRead | Document | None:
        if "pages" in message:
            done, total = map(_integer, _list(message["pages"]))
            return PagesRead(done=done, total=total)
        if "blocks" in message:
            self._blocks.add(_blocks_from_json(message["blocks"]), size=len(line), written=line)
            return None
        return _document_from_json(_object(message.get("document")), self._blocks.finish())


def decode_picture_head(line: bytes) -> PictureHead:
    """Raises the SourceError in the line, ValueError for a malformed line."""
    head = _object(_decode(line).get("picture"))
    return PictureHead(size_bytes=_integer(head.get("bytes")), frames=_integer(head.get("frames")))


def raise_failure(line: bytes) -> None:
    """Raise the SourceError in the line, if it holds one."""
    if line.startswith(b'{"failure"'):
        _decode(line)


def decode_listing(line: bytes) -> Listing:
    """Raises the SourceError in the line, ValueError for a malformed line."""
    _decode(line)
    return from_line(line, Listing)


def _decode(line: bytes) -> JsonObject:
    try:
        message = _object(_json(line))
        failure = _failure_from_json(_object(message["failure"])) if "failure" in message else None
    except RecursionError as error:  # endless brackets
        raise ValueError("not a result of ours") from error
    if failure is not None:
        raise failure
    return message


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


def _document_from_json(content: JsonObject, blocks: Sequence[Block]) -> Document:
    published_at = _optional_text(content.get("published_at"))
    return Document(
        title=_text(content.get("title")),
        blocks=blocks,
        pages=_optional_integer(content.get("pages")),
        pages_without_text=tuple(_integer(page) for page in _list(content.get("pages_without_text"))),
        language=_optional_text(content.get("language")),
        author=_optional_text(content.get("author")),
        published_at=datetime.fromisoformat(published_at) if published_at else None,
        medium=Medium(_text(content.get("medium"))),
        duration_s=_optional_number(content.get("duration_s")),
        parts=_optional_integer(content.get("parts")),
        unread=tuple(map(UnreadPart.from_json, _list(content.get("unread")))),
    )


def decode_blocks(line: bytes) -> list[Block]:
    """The inverse of `encode_blocks`. Raises ValueError."""
    return _blocks_from_json(_decode(line)["blocks"])


BLOCKS = Writing(write=encode_blocks, read=decode_blocks)


def gather_blocks(blocks: Iterable[Block], spool: Spool[Block]) -> None:
    """Add blocks as they come, so that only some pages of them are held. Raises OSError."""
    for portion in in_portions(blocks, written_chars, limit=LINE_CHARS):
        spool.add(portion, size=sum(map(written_chars, portion)))


def _blocks_from_json(blocks: JsonValue) -> list[Block]:
    """Most blocks have the locator of the one before, so its object is shared."""
    read = []
    known: tuple[JsonObject, Locator] = {}, Locator()
    for block in map(_object, _list(blocks)):
        place = _object(block.get("locator"))
        if place != known[0]:
            known = place, Locator.from_json(place)
        read.append(_block_from_json(block, known[1]))
    return read


def _block_from_json(block: JsonObject, locator: Locator) -> Block:
    text = _text(block.get("text"))
    if len(text) > LARGEST_BLOCK_CHARS:
        raise ValueError("a block of ours was expected")
    return Block(
        kind=_kind(block.get("kind")),
        text=text,
        locator=locator,
        level=_optional_integer(block.get("level")),
    )


def _failure_from_json(failure: JsonObject) -> SourceError:
    code = FailureCode(_text(failure.get("code")))
    if not code.value.startswith(FILE_FAILURES):
        raise ValueError("a parser can only speak of its file")
    params = {key: value for key, value in _object(failure.get("params")).items() if key in FAILURE_PARAMS}
    return SourceError(code, detail=_text(failure.get("detail")), **params)


def _object(value: object) -> JsonObject:
    if not isinstance(value, dict):
        raise ValueError("an object was expected")
    return value


def _list(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise ValueError("a list was expected")
    return value


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise ValueError("a text was expected")
    return value.replace("\0", "").encode("utf-8", errors="replace").decode()  # PostgreSQL stores no NUL, no surrogates


def _kind(value: JsonValue) -> BlockKind:
    kind = KINDS.get(value) if isinstance(value, str) else None
    if kind is None:
        raise ValueError("a kind of block was expected")
    return kind


def _integer(value: JsonValue) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a whole number was expected")
    return value


def _optional_text(value: JsonValue) -> str | None:
    return None if value is None else _text(value)


def _optional_integer(value: JsonValue) -> int | None:
    return None if value is None else _integer(value)


def _optional_number(value: JsonValue) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number was expected")
    return float(value)
