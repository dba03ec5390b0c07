"""Finds the program `tesseract` and runs it confined.

In: a picture's bytes. Out: the table (TSV) that tesseract prints. A picture that it cannot finish in time or memory
yields nothing; a program that is gone is a ServiceError. It reads its models and writes no files.
"""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog

from ingestion.errors import FailureCode, ServiceError
from sandbox.confinement import Confinement
from sandbox.forkserver import Ended
from sandbox.pool import Line, Pool, PoolDied
from sandbox.program import ENTRY, GONE, Becoming, Program
from sandbox.records import from_line

SERVICE = "tesseract"
MEMORY_BYTES = 2**30  # of address space; two languages and a page of 4,000 pixels take 400 MB
LARGEST_TABLE_BYTES = 16 * 2**20  # a full page has some 100 kB
ORIENTATION = "osd"  # the model that tells which way a page is turned
LIST_S = 20
MODEL_FOLDERS = ("/usr/share/tesseract-ocr", "/usr/share/tessdata", "/usr/local/share/tessdata")
MODELS_VARIABLE = "TESSDATA_PREFIX"
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", MODELS_VARIABLE)
ONE_THREAD = {"OMP_THREAD_LIMIT": "1"}  # pages are read side by side


@dataclass(frozen=True, kw_only=True)
class Tesseract:
    """Where the program is and what it can read."""

    path: str
    languages: tuple[str, ...]  # of those that were asked for, in their order
    knows_orientation: bool


def find_tesseract(wanted: Sequence[str]) -> Tesseract | None:
    """None when the program, or every language that is `wanted`, is not installed. Takes some 20 ms."""
    path = shutil.which("tesseract")
    if path is None:
        return None
    try:
        listed = subprocess.run(  # noqa: S603 - the path is the system's, the arguments ours
            [path, "--list-langs"], capture_output=True, timeout=LIST_S, check=True, env=_environment(os.environ)
        )
    except (OSError, subprocess.SubprocessError):
        return None
    installed = set(listed.stdout.decode(errors="replace").split())
    languages = tuple(language for language in wanted if language in installed)
    if not languages:
        return None
    return Tesseract(path=path, languages=languages, knows_orientation=ORIENTATION in installed)


def program_pool() -> Pool:
    """The processes that become tesseract, for `read_table`."""
    return Pool(entry=ENTRY, variables=_environment(os.environ))


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
    except PoolDied as error:
        await pool.forget_dead()
        raise ServiceError(FailureCode.SERVICE_AWAY, service=SERVICE, detail=repr(error)) from error
    except (ConnectionError, ValueError) as error:  # it died over its picture, or printed what is no table
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
    """What the program printed, and how it ended; the picture comes after the process has become the program."""
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
    return table, from_line(end, Ended)


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Without keys and tokens."""
    return {name: environ[name] for name in KEPT_VARIABLES if name in environ} | ONE_THREAD
