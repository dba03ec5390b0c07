"""How hostile files are read in tests: by the real reader under the limits of settings.py, with its processes watched.

In: files. Out: `Reading` records: the outcome without the file's own words, the document, seconds, and the most memory
that any process of ours below this one has ever held. Pictures are opened for real; what would recognise them says one
word.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.process import ParseProcess
from ingestion.reading.pictures import PictureReader
from ingestion.reading.reader import FileReader
from ingestion.records import Block, BlockKind, Document, FetchedFile
from tests.fakes.ingestion import FakeQueue, progress_of

LONGEST_S = 60.0
MEMORY_MB = 1024  # the limits of settings.py
GRACE_S = 5.0
WAITING_S = 10 * LONGEST_S  # by the clock on the wall, where other programs want the processor, too
LOOK_EVERY_S = 0.02
OUTCOMES = {"read", *(code.value for code in FailureCode if code.value.startswith("file-"))}


class OneWord:
    """A recogniser that finds the same word in every picture."""

    async def recognise(self, picture: bytes) -> list[Block]:
        """Meets `ingestion.ports.Recognizer`."""
        await asyncio.sleep(0)
        return [Block(kind=BlockKind.PARAGRAPH, text="Слово")]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How it went."""

    outcome: str  # `read`, or the failure's code
    document: Document | None
    seconds: float  # by the clock on the wall
    peak_mb: float

    @property
    def words(self) -> str:
        """All text that was read."""
        return "\n".join(block.text for block in self.document.blocks) if self.document else ""


@contextlib.asynccontextmanager
async def open_reader() -> AsyncIterator[FileReader]:
    """As the application composes it."""
    async with ParseProcess(timeout_s=LONGEST_S, memory_mb=MEMORY_MB) as parser:
        pictures = PictureReader(parser, OneWord(), pages=20, concurrency=2)
        yield FileReader(parser=parser, pictures=pictures, recordings=None)


def fetched(path: Path) -> FetchedFile:
    """The file as it was sent, under its own name."""
    return FetchedFile(path=path, name=path.name, media_type=None, size_bytes=path.stat().st_size, sha256="")


def written(path: Path, content: bytes) -> FetchedFile:
    """The same of bytes."""
    path.write_bytes(content)
    return fetched(path)


async def read(reader: FileReader, file: FetchedFile) -> Reading:
    """Whatever it is, it ends in time, within memory, and with a reason that people can be told."""
    began, worked_s, document, outcome = time.monotonic(), _worked_s(), None, "read"
    peaks: list[float] = [0.0]
    watching = asyncio.create_task(_watch(peaks))
    try:
        document = await reader.read(file, progress_of(FakeQueue()))
    except SourceError as error:
        outcome = error.code.value
    finally:
        watching.cancel()
    reading = Reading(outcome=outcome, document=document, seconds=time.monotonic() - began, peak_mb=max(peaks))
    assert reading.outcome in OUTCOMES
    assert _worked_s() - worked_s < LONGEST_S + GRACE_S
    assert reading.seconds < WAITING_S
    assert reading.peak_mb < MEMORY_MB
    return reading


async def _watch(peaks: list[float]) -> None:
    while True:
        peaks.append(max((_peak_mb(process) for process in _below(os.getpid())), default=0.0))
        await asyncio.sleep(LOOK_EVERY_S)


def _worked_s() -> float:
    """Seconds that processors have spent on this process and all below it, also on those that have ended."""
    return sum(_processor_s(process) for process in (os.getpid(), *_below(os.getpid())))


def _processor_s(process: int) -> float:
    """Its own, and of those that it has started and seen end (proc_pid_stat(5), fields 14 to 17)."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _below(process: int) -> Iterator[int]:
    """All processes that this one has started, and theirs."""
    for listed in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, listed.read_text().split()):
                yield child
                yield from _below(child)


def _peak_mb(process: int) -> float:
    """The kernel's own high-water mark, so that no look between two of ours misses a peak."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0
