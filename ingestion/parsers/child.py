"""A reading process: one request, its answer, and the end. `sandbox.forkserver` has confined it before.

In: a line with a `Request`. Out: lines of JSON on the same socket (`codec`), for a picture followed by its bytes, for
an archive a `Listing`. The other side decides how long it may take.
"""

import contextlib
import logging
import math
import signal
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from types import FrameType

import charset_normalizer  # noqa: F401 - imported where it is used, which would cost every child 50 ms

from domain.locator import JsonValue
from ingestion.archives.unpack import unpack
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers import codec
from ingestion.parsers.drawing import draw_page, open_picture
from ingestion.parsers.registry import parse_file
from ingestion.parsers.reporting import Tell, reported_to
from ingestion.parsers.request import Request, Task
from sandbox.confinement import Layer, allow_reporting
from sandbox.records import LINE_BYTES, from_line, to_line

REPORT_EVERY_S = 0.5  # the other side passes on one report a second


def serve(connection: socket.socket, stream: BufferedReader, _layers: frozenset[Layer]) -> None:
    """Answer one request (`sandbox.forkserver.Serve`)."""
    logging.disable(logging.CRITICAL)  # pypdf logs every oddity, quoting the document
    request = from_line(stream.readline(LINE_BYTES), Request)
    answer = _answer(request, connection)
    allow_reporting()
    for piece in _within_limit(answer, request):
        connection.sendall(piece)


def _answer(request: Request, connection: socket.socket) -> Iterable[bytes]:
    """The pieces may be generated while they are sent: the parsing is done, so no limit can hit between two pieces."""
    try:
        with _reported_cpu_limit(), reported_to(_tell(connection)):
            return TASKS[request.task](request)
    except SourceError as error:
        return [codec.encode_failure(error)]
    except MemoryError:
        return [_failure(FailureCode.FILE_TOO_HEAVY, request, detail="memory limit")]
    except _CpuTimeSpent:
        seconds = math.ceil(time.process_time())
        return [_failure(FailureCode.FILE_TOO_SLOW, request, detail="processor time", seconds=seconds)]
    # The outermost handler of a process that meets files made to break parsers: any error is the file's fault.
    except Exception as error:
        return [_failure(FailureCode.FILE_DAMAGED, request, detail=f"{type(error).__name__}: {error}"[:500])]


def _parse(request: Request) -> Iterable[bytes]:
    document = parse_file(Path(request.path), name=request.name, media_type=request.media_type)
    return codec.encode_document(document)


def _draw_page(request: Request) -> Iterable[bytes]:
    drawing = draw_page(Path(request.path), request.page, name=request.name)
    return codec.encode_picture(drawing.jpeg, frames=drawing.pages)


def _open_picture(request: Request) -> Iterable[bytes]:
    drawing = open_picture(Path(request.path), request.page, name=request.name)
    return codec.encode_picture(drawing.jpeg, frames=drawing.pages)


def _unpack(request: Request) -> Iterable[bytes]:
    listing = unpack(
        Path(request.path),
        name=request.name,
        folder=Path(request.folder),
        members=request.members,
        total_bytes=request.total_bytes,
    )
    return [to_line(listing)]


TASKS: dict[Task, Callable[[Request], Iterable[bytes]]] = {
    Task.PARSE: _parse,
    Task.DRAW_PAGE: _draw_page,
    Task.OPEN_PICTURE: _open_picture,
    Task.UNPACK: _unpack,
}


def _tell(connection: socket.socket) -> Tell:
    """Reports progress on the socket at most every REPORT_EVERY_S."""
    reported_at = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal reported_at
        if time.monotonic() - reported_at >= REPORT_EVERY_S:
            reported_at = time.monotonic()
            connection.sendall(codec.encode_pages(done, total))

    return tell


def _within_limit(pieces: Iterable[bytes], request: Request) -> Iterator[bytes]:
    sent = 0
    for piece in pieces:
        sent += len(piece)
        if sent > request.output_bytes:
            yield _failure(FailureCode.FILE_TOO_HEAVY, request, detail=f"more than {request.output_bytes} bytes")
            return
        yield piece


def _failure(code: FailureCode, request: Request, *, detail: str, **params: JsonValue) -> bytes:
    return codec.encode_failure(SourceError(code, name=request.name, detail=detail, **params))


class _CpuTimeSpent(BaseException):
    """Processor time is spent. A BaseException, so that no parser's `except Exception` swallows it."""


@contextlib.contextmanager
def _reported_cpu_limit() -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _CpuTimeSpent

    signal.signal(signal.SIGXCPU, stop)
    yield
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
