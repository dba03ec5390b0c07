"""Recognises words with the program `tesseract`, which runs confined, as a process for each picture.

In: pictures. Out: paragraphs of the words that tesseract lists; meets `ingestion.ports.Recognizer`. A child becomes the
program once it is confined (`serve`), so that the program never runs otherwise; its standard error is dropped, since it
may quote a stranger's file. It draws no pages: `ingestion.reading.pictures` does.
"""

import asyncio
import csv
import os
import shutil
import socket
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import groupby
from statistics import fmean
from typing import NoReturn

import structlog

from ingestion.errors import FailureCode, ServiceError
from ingestion.ports import Recognizer
from ingestion.records import Block, BlockKind
from sandbox.confinement import Confinement, Layer
from sandbox.forkserver import Ended
from sandbox.pool import Closing, Line, Pool, PoolDied, kept_variables
from sandbox.records import LINE_BYTES, from_line, to_line

ENTRY = "adapters.tesseract:serve"
GONE = 127  # the exit status by which shells say that a program is not there
WORD_LEVEL = "5"
WORD_FLOOR = 20.0  # confidence, 0 to 100, below which a word is rubbish, whatever its line
CERTAIN = 90.0  # and from which a line is kept, whatever it consists of: "1)", "+ 7 %"
LETTERS_SHARE = 0.5  # of another line's characters that must be letters or digits
LineKey = tuple[int, int, int]
"""Block, paragraph and line."""
SERVICE = "tesseract"
MEMORY_BYTES = 2**30  # of address space; two languages and a page of 4,000 pixels take 400 MB
LARGEST_TABLE_BYTES = 16 * 2**20  # a full page has some 100 kB
ORIENTATION = "osd"  # the model that tells which way a page is turned
LIST_S = 20
MODEL_FOLDERS = ("/usr/share/tesseract-ocr", "/usr/share/tessdata", "/usr/local/share/tessdata")
MODELS_VARIABLE = "TESSDATA_PREFIX"
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", MODELS_VARIABLE)
ONE_THREAD = {"OMP_THREAD_LIMIT": "1"}  # pages are read side by side
WITH_ORIENTATION, AUTOMATIC, SPARSE = 1, 3, 11  # tesseract's --psm
FEWEST_LETTERS = 8  # a page with fewer is searched for scattered words, as on a photo
SURE = 75.0  # confidence; printed pages have 90 and more, handwriting and poor photos 30 to 70


@dataclass(frozen=True, kw_only=True)
class Word:
    """One word and how sure tesseract is of it, 0 to 100."""

    text: str
    confidence: float
    key: LineKey


@dataclass(frozen=True, kw_only=True)
class Floor:
    """What a line must have to be believed."""

    confidence: float
    longest_word: int  # letters


RUNNING_TEXT = Floor(confidence=45, longest_word=1)
SCATTERED = Floor(confidence=75, longest_word=3)  # words looked for all over a photo: its grain has single letters, too


@dataclass(frozen=True, kw_only=True)
class Page:
    """What was read: paragraphs, their lines joined by line breaks."""

    paragraphs: tuple[str, ...]
    confidence: float  # mean over the words that stayed, weighted by their length; 0 without words


def read_page(table: str, floor: Floor = RUNNING_TEXT) -> Page:
    """Everything that is worth keeping."""
    lines = [line for line in map(tuple, _lines(_words(table))) if _is_believed(line, floor)]
    paragraphs = tuple(
        "\n".join(" ".join(word.text for word in line) for line in paragraph)
        for _, paragraph in groupby(lines, key=lambda line: line[0].key[:2])
    )
    words = [word for line in lines for word in line]
    letters = sum(len(word.text) for word in words)
    confidence = sum(word.confidence * len(word.text) for word in words) / letters if letters else 0.0
    return Page(paragraphs=paragraphs, confidence=confidence)


def _words(table: str) -> Iterator[Word]:
    for row in csv.DictReader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["level"] != WORD_LEVEL or not (row["text"] or "").strip():
            continue
        key = (int(row["block_num"]), int(row["par_num"]), int(row["line_num"]))
        yield Word(text=row["text"].strip(), confidence=float(row["conf"]), key=key)


def _lines(words: Iterable[Word]) -> Iterator[list[Word]]:
    for _, line in groupby(words, key=lambda word: word.key):
        kept = [word for word in line if word.confidence >= WORD_FLOOR]
        if kept:
            yield kept


def _is_believed(line: tuple[Word, ...], floor: Floor) -> bool:
    confidence = fmean(word.confidence for word in line)
    longest = max(sum(map(str.isalnum, word.text)) for word in line)
    if longest < floor.longest_word:
        return False
    if confidence >= CERTAIN:
        return True
    text = "".join(word.text for word in line)
    return confidence >= floor.confidence and sum(map(str.isalnum, text)) >= len(text) * LETTERS_SHARE


@dataclass(frozen=True, kw_only=True)
class Tesseract:
    """Where the program is and what it can read."""

    path: str
    languages: tuple[str, ...]  # of those that were asked for, in their order
    knows_orientation: bool


@dataclass(frozen=True, kw_only=True)
class Program:
    """What a child is to become."""

    path: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Becoming:
    """From now on all bytes are the program's."""


def serve(connection: socket.socket, stream: BufferedReader, _layers: frozenset[Layer]) -> NoReturn:
    """See `sandbox.forkserver.Serve`."""
    program = from_line(stream.readline(LINE_BYTES), Program)
    if not os.path.exists(program.path):
        os._exit(GONE)
    os.dup2(connection.fileno(), 0)
    os.dup2(connection.fileno(), 1)
    connection.sendall(to_line(Becoming()))
    os.execv(program.path, [program.path, *program.arguments])  # noqa: S606 - what our own side asked for


def find_tesseract(wanted: Sequence[str]) -> Tesseract | None:
    """None when the program, or every language that is `wanted`, is not installed. Takes some 20 ms."""
    path = shutil.which("tesseract")
    if path is None:
        return None
    try:
        listed = subprocess.run(  # noqa: S603 - the path is the system's, the arguments ours
            [path, "--list-langs"], capture_output=True, timeout=LIST_S, check=True, env=_environment()
        )
    except (OSError, subprocess.SubprocessError):
        return None
    installed = set(listed.stdout.decode(errors="replace").split())
    languages = tuple(language for language in wanted if language in installed)
    if not languages:
        return None
    return Tesseract(path=path, languages=languages, knows_orientation=ORIENTATION in installed)


def _environment() -> dict[str, str]:
    return kept_variables(KEPT_VARIABLES) | ONE_THREAD


def program_pool() -> Pool:
    """The processes that become tesseract, for `read_table`."""
    return Pool(entry=ENTRY, variables=_environment())


async def read_table(pool: Pool, tesseract: Tesseract, picture: bytes, *, layout: int, timeout_s: float) -> str:
    """The TSV of `picture`; `layout` is tesseract's --psm. Empty when it fails or is too slow. Raises ServiceError."""
    arguments = ("stdin", "stdout", "-l", "+".join(tesseract.languages), "--psm", str(layout), "tsv")
    program = Program(path=tesseract.path, arguments=arguments)
    try:
        async with pool.child(_confinement(tesseract, timeout_s)) as line, asyncio.timeout(timeout_s):
            table, ended = await _run(line, program, picture)
    except TimeoutError:
        structlog.get_logger().warning("tesseract.too_slow", seconds=timeout_s, bytes=len(picture))
        return ""
    except (PoolDied, ConnectionError) as error:  # not over its picture: a program that dies says how it ended
        raise ServiceError(FailureCode.SERVICE_AWAY, service=SERVICE, detail=repr(error)) from error
    except ValueError as error:
        structlog.get_logger().warning("tesseract.failed", reason=repr(error), bytes=len(picture))
        return ""
    if ended.status == GONE:
        raise ServiceError(FailureCode.SERVICE_AWAY, service=SERVICE, detail=f"{tesseract.path} does not start")
    if ended.status:
        structlog.get_logger().warning("tesseract.failed", exit=ended.status, bytes=len(picture))
        return ""
    return table.decode(errors="replace")


def _confinement(tesseract: Tesseract, timeout_s: float) -> Confinement:
    own = os.environ.get(MODELS_VARIABLE)
    return Confinement(
        reads=(*MODEL_FOLDERS, *((own,) if own else ())),
        runs=(tesseract.path,),
        address_bytes=MEMORY_BYTES,
        cpu_s=max(1, round(timeout_s)),
    )


async def _run(line: Line, program: Program, picture: bytes) -> tuple[bytes, Ended]:
    """What the program printed, and how it ended; the picture comes after the process has become the program. Raises
    PoolDied, ConnectionError, ValueError (too long a table)."""
    line.write(program)
    begun = await line.read()
    if not begun.strip():
        return b"", await line.read_end() or Ended(status=GONE)
    from_line(begun, Becoming)
    line.writer.write(picture)
    line.writer.write_eof()
    printed = bytearray()
    while read := await line.reader.read(2**16):
        printed += read
        if len(printed) > LARGEST_TABLE_BYTES:
            raise ValueError("too long a table")
    table, _, end = bytes(printed).rstrip(b"\n").rpartition(b"\n")
    try:
        return table, from_line(end, Ended)
    except ValueError as error:
        raise PoolDied("it ended in the middle of a table") from error


@dataclass(frozen=True, kw_only=True)
class TesseractRecognizer(Closing):
    """One process for each picture; `page_s` bounds the wall clock and the processor time of one pass. `async with` or
    `close` ends all."""

    tesseract: Tesseract
    page_s: float
    second: Recognizer | None = None  # a vision model, for what tesseract cannot make out
    sure: float = SURE
    pool: Pool = field(default_factory=program_pool)

    async def close(self) -> None:
        """End the process that the program is started from."""
        await self.pool.close()

    async def recognise(self, picture: bytes) -> list[Block]:
        """Raises ServiceError when tesseract is gone, or the second recogniser is away and tesseract saw nothing."""
        page = await self._look(picture)
        if self.second is None or page.confidence >= self.sure:
            return _to_blocks(page)
        try:
            return await self.second.recognise(picture) or _to_blocks(page)
        except ServiceError:
            if not page.paragraphs:
                raise
            return _to_blocks(page)

    async def _look(self, picture: bytes) -> Page:
        layout = WITH_ORIENTATION if self.tesseract.knows_orientation else AUTOMATIC
        page = await self._read(picture, layout, RUNNING_TEXT)
        if sum(map(len, page.paragraphs)) >= FEWEST_LETTERS:
            return page
        sparse = await self._read(picture, SPARSE, SCATTERED)
        return max(page, sparse, key=lambda read: sum(map(len, read.paragraphs)))

    async def _read(self, picture: bytes, layout: int, floor: Floor) -> Page:
        table = await read_table(self.pool, self.tesseract, picture, layout=layout, timeout_s=self.page_s)
        return read_page(table, floor)


def _to_blocks(page: Page) -> list[Block]:
    return [Block(kind=BlockKind.PARAGRAPH, text=text) for text in page.paragraphs]
