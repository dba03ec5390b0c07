"""Finds the program `tesseract` and runs it under limits.

In: a picture's bytes. Out: the table (TSV) that tesseract prints. A picture that it cannot finish in time or memory
yields nothing; a program that is gone is a ServiceError. It writes no files.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog

from ingestion.errors import FailureCode, ServiceError

SERVICE = "tesseract"
MEMORY_BYTES = 2**30  # of address space; two languages and a page of 4,000 pixels take 400 MB
ORIENTATION = "osd"  # the model that tells which way a page is turned
LIST_S = 20
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TESSDATA_PREFIX")

GONE = 127  # the exit status by which shells, and LIMITED, say that a program is not there

LIMITED = """
import contextlib, os, resource, sys
memory, seconds = int(sys.argv[1]), int(sys.argv[2])
os.nice(10)
for limit, value in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(limit, (value, value))
try:
    os.execv(sys.argv[3], sys.argv[3:])
except OSError:
    os._exit(127)
"""
"""A small Python that limits itself and becomes tesseract: a function between fork and exec could hang on the locks of
other threads."""


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


async def read_table(tesseract: Tesseract, picture: bytes, *, layout: int, timeout_s: float) -> str:
    """The TSV of `picture`; `layout` is tesseract's --psm. Empty when it fails or is too slow. Raises ServiceError."""
    arguments = ["stdin", "stdout", "-l", "+".join(tesseract.languages), "--psm", str(layout), "tsv"]
    limits = [str(MEMORY_BYTES), str(max(1, round(timeout_s)))]
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-c", LIMITED, *limits, tesseract.path, *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,  # it quotes the picture's oddities
            env=_environment(os.environ),
        )
    except OSError as error:
        raise ServiceError(FailureCode.SERVICE_AWAY, service=SERVICE, detail=str(error)) from error
    try:
        async with asyncio.timeout(timeout_s):
            table, _ = await process.communicate(picture)
    except TimeoutError:
        structlog.get_logger().warning("tesseract.too_slow", seconds=timeout_s, bytes=len(picture))
        return ""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode == GONE:
        raise ServiceError(FailureCode.SERVICE_AWAY, service=SERVICE, detail=f"{tesseract.path} does not start")
    if process.returncode:
        structlog.get_logger().warning("tesseract.failed", exit=process.returncode, bytes=len(picture))
        return ""
    return table.decode(errors="replace")


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Without keys and tokens; one thread a page, as pages are read side by side."""
    return {name: environ[name] for name in KEPT_VARIABLES if name in environ} | {"OMP_THREAD_LIMIT": "1"}
