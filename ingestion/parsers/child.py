"""What one parsing process does: read a request from its socket, parse under limits, write the result.

In: a socket as file descriptor 0 with one line of JSON (`ParseRequest`). Out: one line of JSON on the same socket
(`codec`). It runs once and ends; whoever started it decides how long it may take.
"""

import contextlib
import logging
import os
import resource
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from ingestion.errors import FailureCode, SourceError
from ingestion.parsers import codec
from ingestion.parsers.registry import parse_file
from ingestion.parsers.request import ParseRequest

NICENESS = 10  # answers to people go before reading
CPU_GRACE_S = 5  # between the signal that Python can still report and the kernel's kill
MOST_OPEN_FILES = 64
LARGEST_REQUEST_BYTES = 64 * 1024


def serve_request(connection: socket.socket) -> None:
    """Answer the one request that comes over `connection`."""
    logging.disable(logging.CRITICAL)  # pypdf tells of every oddity, with pieces of the document
    with connection.makefile("rb") as stream:
        request = ParseRequest.from_line(stream.readline(LARGEST_REQUEST_BYTES))
    _limit_resources(request)
    answer = _answer(request)
    _lift_memory_limit()
    connection.sendall(answer)


def _answer(request: ParseRequest) -> bytes:
    try:
        with _reported_cpu_limit():
            document = parse_file(Path(request.path), name=request.name, media_type=request.media_type)
        result = codec.encode_document(document)
    except SourceError as error:
        return codec.encode_failure(error)
    except MemoryError:
        return _failure(FailureCode.FILE_TOO_HEAVY, request, detail="memory limit")
    except _CpuTimeSpent:
        return codec.encode_failure(
            SourceError(FailureCode.FILE_TOO_SLOW, name=request.name, seconds=request.cpu_s, detail="processor time")
        )
    # The top of a process that exists to meet files made to break parsers: any error is the file's.
    except Exception as error:
        return _failure(FailureCode.FILE_DAMAGED, request, detail=f"{type(error).__name__}: {error}"[:500])
    if len(result) > request.output_bytes:
        return _failure(FailureCode.FILE_TOO_HEAVY, request, detail=f"{len(result)} bytes of text")
    return result


def _failure(code: FailureCode, request: ParseRequest, *, detail: str) -> bytes:
    return codec.encode_failure(SourceError(code, name=request.name, detail=detail))


def _limit_resources(request: ParseRequest) -> None:
    os.nice(NICENESS)
    limits = {
        resource.RLIMIT_AS: (request.memory_bytes, resource.RLIM_INFINITY),
        resource.RLIMIT_CPU: (request.cpu_s, request.cpu_s + CPU_GRACE_S),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (0, 0),  # a parser writes no files
        resource.RLIMIT_NOFILE: (MOST_OPEN_FILES, MOST_OPEN_FILES),
    }
    for limit, values in limits.items():
        # A container or system may have set a lower hard limit, or (macOS) know no RLIMIT_AS: then that one holds.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, values)


def _lift_memory_limit() -> None:
    """The answer is small and made; a parser that left no memory must still be able to say so."""
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
