"""A child that becomes a program, such as tesseract: confined first, so that the program never runs otherwise.

In: a `Program`, and after `Becoming` whatever the program reads from its standard input. Out: its standard output, on
the same socket; its standard error is dropped, since it may quote a stranger's file.
"""

import os
import socket
from dataclasses import dataclass
from io import BufferedReader
from typing import NoReturn

from sandbox.confinement import Layer
from sandbox.records import LINE_BYTES, from_line, to_line

ENTRY = "sandbox.program:serve"
GONE = 127  # the exit status by which shells say that a program is not there


@dataclass(frozen=True, kw_only=True)
class Program:
    """What to become."""

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
