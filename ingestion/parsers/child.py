"""A parsing process: reads requests from its socket, serves each under limits, writes the results.

In: a socket as file descriptor 0 with lines of JSON (`ParseRequest`). Out: lines of JSON on the same socket (`codec`),
for a picture followed by its bytes; then `AGAIN`, unless the process has grown or worked too long. The other side
decides how long a request may take, and whether another follows.
"""

import contextlib
import logging
import math
import os
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType

from domain.locator import JsonValue
from ingestion.errors import FailureCode, SourceError
from ingestion.parsers import codec
from ingestion.parsers.drawing import draw_page, open_picture
from ingestion.parsers.registry import parse_file
from ingestion.parsers.reporting import Tell, reported_to
from ingestion.parsers.request import AGAIN, ParseRequest, Task

NICENESS = 5  # answering people has priority over reading; at 10, a busy machine hardly reads at all
CPU_GRACE_S = 5  # between the signal that Python can still report and the kernel's kill
MOST_OPEN_FILES = 64
LARGEST_REQUEST_BYTES = 64 * 1024
MOST_REQUESTS = 50  # then the process ends, and with it whatever a library leaks
GROWN = 1.5  # times a fresh process's memory (some 70 MB); one larger ends: the next file shall have its full share
REPORT_EVERY_S = 0.5  # the other side passes on one report a second


def serve_requests(connection: socket.socket) -> None:
    """Answer requests from `connection` one by one, until it is closed or the process is used up."""
    logging.disable(logging.CRITICAL)  # pypdf logs every oddity, quoting the document
    os.nice(NICENESS)
    at_first = _most_memory()
    served = 0
    with connection.makefile("rb") as stream:
        while line := stream.readline(LARGEST_REQUEST_BYTES):
            request = ParseRequest.from_line(line)
            is_sound = _serve(request, connection)
            served += 1
            is_grown = _most_memory() > GROWN * at_first
            if not is_sound or is_grown or served == MOST_REQUESTS or time.process_time() > request.cpu_s:
                return
            connection.sendall(AGAIN)


def _serve(request: ParseRequest, connection: socket.socket) -> bool:
    """Serve one request. False after an unforeseen failure; a parser's own SourceError is foreseen."""
    _limit_resources(request)
    answer, is_sound = _answer(request, connection)
    _lift_memory_limit()
    for piece in _within_limit(answer, request):
        connection.sendall(piece)
    return is_sound


def _most_memory() -> int:
    """Peak memory of this process, in a unit that depends on the system."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _answer(request: ParseRequest, connection: socket.socket) -> tuple[Iterable[bytes], bool]:
    """The answer, and False after an unforeseen failure. The pieces may be generated while they are sent: the parsing
    is done, so no limit can hit between two pieces."""
    try:
        with _reported_cpu_limit(), reported_to(_tell(connection)):
            return TASKS[request.task](request), True
    except SourceError as error:
        return [codec.encode_failure(error)], True
    except MemoryError:
        failure = _failure(FailureCode.FILE_TOO_HEAVY, request, detail="memory limit")
    except _CpuTimeSpent:
        failure = _failure(FailureCode.FILE_TOO_SLOW, request, detail="processor time", seconds=request.cpu_s)
    # The outermost handler of a process that meets files made to break parsers: any error is the file's fault.
    except Exception as error:
        failure = _failure(FailureCode.FILE_DAMAGED, request, detail=f"{type(error).__name__}: {error}"[:500])
    return [failure], False


def _parse(request: ParseRequest) -> Iterable[bytes]:
    document = parse_file(Path(request.path), name=request.name, media_type=request.media_type)
    return codec.encode_document(document)


def _draw_page(request: ParseRequest) -> Iterable[bytes]:
    drawing = draw_page(Path(request.path), request.page, name=request.name)
    return codec.encode_picture(drawing.jpeg, frames=drawing.pages)


def _open_picture(request: ParseRequest) -> Iterable[bytes]:
    drawing = open_picture(Path(request.path), request.page, name=request.name)
    return codec.encode_picture(drawing.jpeg, frames=drawing.pages)


TASKS: dict[Task, Callable[[ParseRequest], Iterable[bytes]]] = {
    Task.PARSE: _parse,
    Task.DRAW_PAGE: _draw_page,
    Task.OPEN_PICTURE: _open_picture,
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


def _within_limit(pieces: Iterable[bytes], request: ParseRequest) -> Iterator[bytes]:
    sent = 0
    for piece in pieces:
        sent += len(piece)
        if sent > request.output_bytes:
            yield _failure(FailureCode.FILE_TOO_HEAVY, request, detail=f"more than {request.output_bytes} bytes")
            return
        yield piece


def _failure(code: FailureCode, request: ParseRequest, *, detail: str, **params: JsonValue) -> bytes:
    return codec.encode_failure(SourceError(code, name=request.name, detail=detail, **params))


def _limit_resources(request: ParseRequest) -> None:
    """Set the kernel's limits. A hard limit can never be raised again, so that of the processor includes the time spent
    on earlier requests: the process ends itself once it has worked for as long as one request may."""
    spent_s = math.ceil(time.process_time())
    limits = {
        resource.RLIMIT_AS: (request.memory_bytes, resource.RLIM_INFINITY),
        resource.RLIMIT_CPU: (spent_s + request.cpu_s, 2 * request.cpu_s + CPU_GRACE_S),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (0, 0),  # a parser writes no files
        resource.RLIMIT_NOFILE: (MOST_OPEN_FILES, MOST_OPEN_FILES),
    }
    for limit, values in limits.items():
        # A container or system may have set a lower hard limit, or (macOS) have no RLIMIT_AS; then that applies.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, values)


def _lift_memory_limit() -> None:
    """Lift the limit after parsing: a process that ran out of memory must still be able to report it."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


class _CpuTimeSpent(BaseException):
    """Processor time is spent. A BaseException, so that no parser's `except Exception` swallows it."""


@contextlib.contextmanager
def _reported_cpu_limit() -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _CpuTimeSpent

    signal.signal(signal.SIGXCPU, stop)
    yield
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
