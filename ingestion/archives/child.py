"""The unpacking process: one request on standard input, one answer on standard output.

In: a line of JSON (`UnpackRequest`). Out: files in the folder that the request names, and a line of JSON. It limits
itself before it opens the file: memory, processor time, file size, open files.
"""

import contextlib
import os
import resource
import sys
import zipfile
from pathlib import Path

from ingestion.archives.letters import unpack_letter, unpack_outlook
from ingestion.archives.records import LARGEST_MEMBER_BYTES, UnpackRequest, failure_line
from ingestion.archives.sink import Sink
from ingestion.archives.unpack import unpack_packed, unpack_zip
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers.kinds import FileKind, glance

NICENESS = 10  # answering people has priority over reading
MOST_OPEN_FILES = 64


def main() -> None:
    """Entry point; started by `process`."""
    request = UnpackRequest.from_line(sys.stdin.buffer.readline())
    _limit_resources(request)
    sys.stdout.buffer.write(_answer(request))


def _answer(request: UnpackRequest) -> bytes:
    sink = Sink(folder=Path(request.folder), members=request.members, total_bytes=request.total_bytes)
    try:
        _unpack(Path(request.path), request.name, sink)
    except SourceError as error:
        return failure_line(error.code, error.detail)
    except MemoryError:
        return failure_line(FailureCode.FILE_TOO_HEAVY, "memory limit")
    # The outermost handler of a process that meets files made to break it: any error is the file's fault, and what was
    # unpacked before is kept.
    except Exception as error:
        if not sink.written:
            code = FailureCode.FILE_DAMAGED
            return failure_line(code, f"{type(error).__name__}: {error}"[:500])
    return sink.listing().to_line()


def _unpack(path: Path, name: str, sink: Sink) -> None:
    kind = glance(path)
    if kind is FileKind.EMAIL:
        unpack_letter(path, sink)
    elif kind is FileKind.OUTLOOK:
        unpack_outlook(path, sink)
    elif zipfile.is_zipfile(path):
        unpack_zip(path, sink)
    else:
        unpack_packed(path, sink, name=name)


def _limit_resources(request: UnpackRequest) -> None:
    os.nice(NICENESS)
    limits = {
        resource.RLIMIT_AS: request.memory_bytes,
        resource.RLIMIT_CPU: request.cpu_s,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: LARGEST_MEMBER_BYTES,
        resource.RLIMIT_NOFILE: MOST_OPEN_FILES,
    }
    for limit, value in limits.items():
        # A container or system may have set a lower hard limit, or (macOS) have no RLIMIT_AS; then that applies.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))
