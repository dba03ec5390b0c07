"""Recognises words with the program `tesseract`, which runs confined, as a process for each picture.

In: pictures. Out: paragraphs of the words that tesseract lists; meets `ingestion.ports.Recognizer`. A child becomes the
program once it is confined (`serve`); its standard error is dropped, since it may quote a stranger's file.
"""

import asyncio
import csv
import os
import shutil
import socket
import subprocess
from collections.abc import Sequence
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
from sandbox.records import LINE_BYTES, from_line

ENTRY = "adapters.tesseract:serve"
BEGUN = b"begun\n"  # from now on all bytes are the program's
GONE = 127  # the exit status by which shells say that a program is not there
WORD_FLOOR = 20.0  # confidence, 0 to 100, below which a word is rubbish, whatever its line
CERTAIN = 90.0  # and from which a line is kept, whatever it consists of: "1)", "+ 7 %"
SERVICE = "tesseract"
LARGEST_TABLE_BYTES = 16 * 2**20  # a full page has some 100 kB
MODEL_FOLDERS = ("/usr/share/tesseract-ocr", "/usr/share/tessdata", "/usr/local/share/tessdata")
MODELS_VARIABLE = "TESSDATA_PREFIX"
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", MODELS_VARIABLE)
WITH_ORIENTATION, AUTOMATIC, SPARSE = 1, 3, 11  # tesseract's --psm
FEWEST_LETTERS = 8  # a page with fewer is searched for scattered words, as on a photo


@dataclass(frozen=True, kw_only=True)
class Word:
    """One word and how sure tesseract is of it, 0 to 100."""

    text: str
    confidence: float
    key: tuple[int, int, int]  # block, paragraph and line


@dataclass(frozen=True, kw_only=True)
class Floor:
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
    rows = csv.DictReader(table.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    words = [
        Word(
            text=row["text"].strip(),
            confidence=float(row["conf"]),
            key=(int(row["block_num"]), int(row["par_num"]), int(row["line_num"])),
        )
        for row in rows
        if row["level"] == "5" and (row["text"] or "").strip()
    ]
    kept = (
        [word for word in line if word.confidence >= WORD_FLOOR] for _, line in groupby(words, lambda word: word.key)
    )
    lines = [line for line in kept if line and _is_believed(line, floor)]
    paragraphs = tuple(
        "\n".join(" ".join(word.text for word in line) for line in paragraph)
        for _, paragraph in groupby(lines, key=lambda line: line[0].key[:2])
    )
    believed = [word for line in lines for word in line]
    letters = sum(len(word.text) for word in believed)
    confidence = sum(word.confidence * len(word.text) for word in believed) / letters if letters else 0.0
    return Page(paragraphs=paragraphs, confidence=confidence)


def _is_believed(line: Sequence[Word], floor: Floor) -> bool:
    text = "".join(word.text for word in line)
    confidence = fmean(word.confidence for word in line)
    if max(sum(map(str.isalnum, word.text)) for word in line) < floor.longest_word:
        return False
    has_letters = sum(map(str.isalnum, text)) >= len(text) / 2
    return confidence >= CERTAIN or (confidence >= floor.confidence and has_letters)


@dataclass(frozen=True, kw_only=True)
class Tesseract:
    """Where the program is and what it can read."""

    path: str
    languages: tuple[str, ...]  # of those that were asked for, in their order
    knows_orientation: bool


@dataclass(frozen=True, kw_only=True)
class Program:
    path: str
    arguments: tuple[str, ...]


def serve(connection: socket.socket, stream: BufferedReader, _layers: frozenset[Layer]) -> NoReturn:
    """See `sandbox.forkserver.Serve`."""
    program = from_line(stream.readline(LINE_BYTES), Program)
    if not os.path.exists(program.path):
        os._exit(GONE)
    os.dup2(connection.fileno(), 0)
    os.dup2(connection.fileno(), 1)
    connection.sendall(BEGUN)
    os.execv(program.path, [program.path, *program.arguments])  # noqa: S606 - what our own side asked for


def find_tesseract(wanted: Sequence[str]) -> Tesseract | None:
    """None when the program, or every language that is `wanted`, is not installed. Takes some 20 ms."""
    path = shutil.which("tesseract")
    if path is None:
        return None
    try:
        listed = subprocess.run(  # noqa: S603 - the path is the system's, the arguments ours
            [path, "--list-langs"], capture_output=True, timeout=20, check=True, env=_environment()
        )
    except (OSError, subprocess.SubprocessError):
        return None
    installed = set(listed.stdout.decode(errors="replace").split())
    languages = tuple(language for language in wanted if language in installed)
    return Tesseract(path=path, languages=languages, knows_orientation="osd" in installed) if languages else None


def _environment() -> dict[str, str]:
    return kept_variables(KEPT_VARIABLES) | {"OMP_THREAD_LIMIT": "1"}  # pages are read side by side


async def read_table(pool: Pool, tesseract: Tesseract, picture: bytes, *, layout: int, timeout_s: float) -> str:
    """The TSV of `picture`; `layout` is tesseract's --psm. Empty when it fails or is too slow. Raises ServiceError."""
    arguments = ("stdin", "stdout", "-l", "+".join(tesseract.languages), "--psm", str(layout), "tsv")
    own_models = os.environ.get(MODELS_VARIABLE)
    confinement = Confinement(
        reads=(*MODEL_FOLDERS, *((own_models,) if own_models else ())),
        runs=(tesseract.path,),
        address_bytes=2**30,  # two languages and a page of 4,000 pixels take 400 MB
        cpu_s=max(1, round(timeout_s)),
    )
    try:
        async with pool.child(confinement) as line, asyncio.timeout(timeout_s):
            line.write(Program(path=tesseract.path, arguments=arguments))
            table, status = await _run(line, picture)
    except (PoolDied, ConnectionError) as error:  # not over its picture: a program that dies says how it ended
        raise ServiceError(FailureCode.SERVICE_AWAY, service=SERVICE, detail=repr(error)) from error
    except (TimeoutError, ValueError) as error:
        structlog.get_logger().warning("tesseract.failed", reason=repr(error), bytes=len(picture))
        return ""
    if status == GONE:
        raise ServiceError(FailureCode.SERVICE_AWAY, service=SERVICE, detail=f"{tesseract.path} does not start")
    if status:
        structlog.get_logger().warning("tesseract.failed", exit=status, bytes=len(picture))
    return "" if status else table.decode(errors="replace")


async def _run(line: Line, picture: bytes) -> tuple[bytes, int]:
    """What the program printed, and how it ended. Raises PoolDied, ConnectionError, ValueError (too long a table)."""
    if await line.read() != BEGUN:
        ended = await line.read_end()
        return b"", ended.status if ended else GONE
    line.writer.write(picture)
    line.writer.write_eof()
    printed = bytearray()
    while read := await line.reader.read(2**16):
        printed += read
        if len(printed) > LARGEST_TABLE_BYTES:
            raise ValueError("too long a table")
    table, _, end = bytes(printed).rstrip(b"\n").rpartition(b"\n")
    try:
        return table, from_line(end, Ended).status
    except ValueError as error:
        raise PoolDied("it ended in the middle of a table") from error


@dataclass(frozen=True, kw_only=True)
class TesseractRecognizer(Closing):
    """One process for each picture; `page_s` bounds the clock and the processor time of one pass."""

    tesseract: Tesseract
    page_s: float
    second: Recognizer | None = None  # a vision model, for what tesseract cannot make out
    sure: float = 75.0  # confidence; printed pages have 90 and more, handwriting and poor photos 30 to 70
    pool: Pool = field(default_factory=lambda: Pool(entry=ENTRY, variables=_environment()))

    async def close(self) -> None:
        await self.pool.close()

    async def recognise(self, picture: bytes) -> list[Block]:
        """Raises ServiceError when tesseract is gone, or the second recogniser is away and tesseract saw nothing."""
        layout = WITH_ORIENTATION if self.tesseract.knows_orientation else AUTOMATIC
        page = await self._read(picture, layout, RUNNING_TEXT)
        if _letters(page) < FEWEST_LETTERS:
            page = max(page, await self._read(picture, SPARSE, SCATTERED), key=_letters)
        own = [Block(kind=BlockKind.PARAGRAPH, text=text) for text in page.paragraphs]
        if self.second is None or page.confidence >= self.sure:
            return own
        try:
            return await self.second.recognise(picture) or own
        except ServiceError:
            if not own:
                raise
            return own

    async def _read(self, picture: bytes, layout: int, floor: Floor) -> Page:
        table = await read_table(self.pool, self.tesseract, picture, layout=layout, timeout_s=self.page_s)
        return read_page(table, floor)


def _letters(page: Page) -> int:
    return sum(map(len, page.paragraphs))
