"""The process that parsing processes are forked from: it imports the parsers once, so that a fork is cheap.

In: over a Unix socket as file descriptor 0, a byte and a socket for each process wanted. Out: a forked child (`child`)
that talks over that socket; after it ends, the line {"exit": status}. It kills a child when the other end of the
child's socket is closed, and all children when its own socket is closed. It never touches a document itself.

Why not multiprocessing's forkserver: it imports the program's main module into every child, cannot be closed, and
transfers results as pickles.
"""

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
from dataclasses import dataclass, field
from typing import NoReturn

import charset_normalizer  # noqa: F401 - imported where it is used, which would cost every child 50 ms

from ingestion.parsers.child import serve_requests

READY = b"!"
STREAM_SOCKET = 0  # descriptors of a child: its socket, then /dev/null twice and the life line
LIFE_LINE = 3
MOST_DESCRIPTORS = 4096
OBJECTS_BEFORE_COLLECTING = 100_000  # a child makes one document and ends: garbage collection took a fifth of its time


@dataclass(kw_only=True)
class _Child:
    pid: int
    connection: socket.socket
    life: int  # read end of a pipe that only the child holds open: it hangs up when the child ends


@dataclass(kw_only=True)
class _Nursery:
    control: socket.socket
    poll: select.poll = field(default_factory=select.poll)
    children: dict[int, _Child] = field(default_factory=dict)  # by either of their descriptors

    def run(self) -> None:
        """Announce readiness, then serve until the other end of the control socket is closed."""
        try:
            self.control.sendall(READY)
        except BrokenPipeError:  # the process that started us was killed meanwhile
            return
        self.poll.register(self.control, select.POLLIN)
        while self._serve([descriptor for descriptor, _ in self.poll.poll()]):
            pass
        while self.children:
            self._bury(next(iter(self.children.values())))

    def _serve(self, ready: list[int]) -> bool:
        """False at the end. The dead come first: a new child may reuse a dead one's descriptor in `ready`."""
        for descriptor in ready:
            if descriptor in self.children:
                self._bury(self.children[descriptor])
        return self.control.fileno() not in ready or self._accept()

    def _accept(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self.control, 1, 1)
        for descriptor in descriptors:
            self._fork(socket.socket(fileno=descriptor))
        return bool(data)

    def _fork(self, connection: socket.socket) -> None:
        life, life_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            _live(connection.fileno(), life_end)
        os.close(life_end)
        child = _Child(pid=pid, connection=connection, life=life)
        for descriptor in (connection.fileno(), life):
            self.children[descriptor] = child
            self.poll.register(descriptor, 0)  # 0: report hang-ups only

    def _bury(self, child: _Child) -> None:
        """Kill and reap a child that has ended or is no longer wanted; until it is reaped, its pid cannot be reused."""
        for descriptor in (child.connection.fileno(), child.life):
            self.poll.unregister(descriptor)
            del self.children[descriptor]
        os.kill(child.pid, signal.SIGKILL)
        _, status = os.waitpid(child.pid, 0)
        with contextlib.suppress(OSError):  # the other end may be gone
            child.connection.setblocking(False)
            child.connection.sendall(b"\n" + json.dumps({"exit": os.waitstatus_to_exitcode(status)}).encode() + b"\n")
        child.connection.close()
        os.close(child.life)


def _live(connection: int, life_end: int) -> NoReturn:
    """The child's whole life after the fork. It closes inherited descriptors, so no other file stays open."""
    status = 1
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        kept = [os.dup(descriptor) for descriptor in (connection, nothing, nothing, life_end)]
        for target, descriptor in enumerate(kept):
            os.dup2(descriptor, target)
        os.closerange(LIFE_LINE + 1, MOST_DESCRIPTORS)
        serve_requests(socket.socket(fileno=STREAM_SOCKET))
        status = 0
    finally:
        os._exit(status)


def main() -> None:
    """Entry point, with the control socket as standard input (see `process`)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent closes the socket
    gc.set_threshold(OBJECTS_BEFORE_COLLECTING)
    gc.freeze()  # children share these objects' pages with the nursery
    _Nursery(control=socket.socket(fileno=os.dup(sys.stdin.fileno()))).run()
