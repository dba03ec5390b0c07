"""What one parsing process does: read a request from its socket, do it under limits, write the result; perhaps again.

In: a socket as file descriptor 0 with a line of JSON (`ParseRequest`). Out: lines of JSON on the same socket
(`codec`), for a picture its bytes after them, then `AGAIN` unless it has grown or worked too long. Whoever started it
decides how long a request may take, and whether there is another.
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

NICENESS = 5  # answers to people go before reading; at 10 a busy machine hardly reads at all
CPU_GRACE_S = 5  # between the signal that Python can still report and the kernel's kill
MOST_OPEN_FILES = 64
LARGEST_REQUEST_BYTES = 64 * 1024
MOST_REQUESTS = 50  # whatever a library leaves open or behind ends with the process
GROWN = 1.5  # times the memory of a fresh one (some 70 MB): the next file shall have all of its own
REPORT_EVERY_S = 0.5  # the other side passes on one report a second


def serve_requests(connection: socket.socket) -> None:
    """Answer the requests that come over `connection`, one after the other, until it is closed or one was too much."""
    logging.disable(logging.CRITICAL)  # pypdf tells of every oddity, with pieces of the document
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
    """Whether nothing unforeseen has happened: a parser may give its reason for not reading a file."""
    _limit_resources(request)
    answer, is_sound = _answer(request, connection)
    _lift_memory_limit()
    for piece in _within_limit(answer, request):
        connection.sendall(piece)
    return is_sound


def _most_memory() -> int:
    """At any time so far, in a unit that depends on the system."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _answer(request: ParseRequest, connection: socket.socket) -> tuple[Iterable[bytes], bool]:
    """With whether all went as foreseen. What is sent may be made while it is sent: the work is done, and no limit can
    hit between two pieces."""
    try:
        with _reported_cpu_limit(), reported_to(_tell(connection)):
            return TASKS[request.task](request), True
    except SourceError as error:
        return [codec.encode_failure(error)], True
    except MemoryError:
        failure = _failure(FailureCode.FILE_TOO_HEAVY, request, detail="memory limit")
    except _CpuTimeSpent:
        failure = _failure(FailureCode.FILE_TOO_SLOW, request, detail="processor time", seconds=request.cpu_s)
    # The top of a process that exists to meet files made to break parsers: any error is the file's.
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
    """Reports go out at once, but not each of a thousand pages'."""
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
    """A hard limit can be lowered but never raised, so that of the processor allows for what came before: the process
    ends itself once it has worked for as long as one request may."""
    spent_s = math.ceil(time.process_time())
    limits = {
        resource.RLIMIT_AS: (request.memory_bytes, resource.RLIM_INFINITY),
        resource.RLIMIT_CPU: (spent_s + request.cpu_s, 2 * request.cpu_s + CPU_GRACE_S),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (0, 0),  # a parser writes no files
        resource.RLIMIT_NOFILE: (MOST_OPEN_FILES, MOST_OPEN_FILES),
    }
    for limit, values in limits.items():
        # A container or system may have set a lower hard limit, or (macOS) know no RLIMIT_AS: then that one holds.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, values)


def _lift_memory_limit() -> None:
    """The work is done; a parser that left no memory must still be able to say so."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


class _CpuTimeSpent(BaseException):
    """Not an Exception: no parser's own `except Exception` may swallow it."""


@contextlib.contextmanager
def _reported_cpu_limit() -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _CpuTimeSpent

    signal.signal(signal.SIGXCPU, stop)
    yield
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
