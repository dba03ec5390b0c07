"""The process that confined children are forked from: it imports what they need once, so that a fork is cheap.

In: over a Unix socket as file descriptor 0, a byte and a socket for each child wanted. Out: a byte when it is ready; a
forked child that reads its `Confinement` from its socket, takes it on itself and serves; after it ends, the record
`Ended` there. Whoever closes a child's socket kills it, whoever closes ours all. It never touches what strangers sent.
multiprocessing's forkserver imports the main module into every child and transfers results as pickles.
"""

import contextlib
import gc
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from typing import NoReturn

from sandbox import kernel
from sandbox.confinement import Confinement, Layer, confine, prepare
from sandbox.kernel import works
from sandbox.records import LINE_BYTES, from_line, to_line

NEWIPC, NEWUSER, NEWPID, NEWNET = 0x08000000, 0x10000000, 0x20000000, 0x40000000
OBJECTS_BEFORE_COLLECTING = 100_000  # a child makes one document and ends: garbage collection took a fifth of its time
Serve = Callable[[socket.socket, BufferedReader, frozenset[Layer]], None]
"""What a child does once it is confined: with its socket, what can be read from it, and the layers that hold."""


def enter_namespaces() -> frozenset[Layer]:
    """Call it in a process of one thread that nobody else waits for by its children: afterwards this is a child of the
    process that was started, which waits for it and ends as it does."""
    held = set()
    if os.geteuid() != 0:
        if not _own_users():
            return frozenset()
        held.add(Layer.USER)
    if works(lambda: kernel.unshare(NEWNET | NEWIPC)):
        held.add(Layer.NETWORK)
    if works(lambda: kernel.unshare(NEWPID)):
        _fork_first()
        held.add(Layer.PROCESSES)
    if Layer.USER in held:
        kernel.set_capabilities(0)  # those over the new namespaces are not needed any more
    return frozenset(held)


def _own_users() -> bool:
    """Our own user is the only one there; the files stay ours."""
    user, group = os.geteuid(), os.getegid()
    if not works(lambda: kernel.unshare(NEWUSER)):
        return False
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    return True


def _fork_first() -> None:
    """Go on as the first process of the new namespace."""
    pid = os.fork()
    if pid == 0:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        return
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A child is gone; a negative status is the signal that ended it."""

    status: int


@dataclass(kw_only=True)
class _Child:
    pid: int
    connection: socket.socket
    life: int  # read end of a pipe that only the child holds open: it hangs up when the child ends


@dataclass(kw_only=True)
class _Forkserver:
    control: socket.socket
    serve: Serve
    layers: frozenset[Layer]
    poll: select.poll = field(default_factory=select.poll)
    children: dict[int, _Child] = field(default_factory=dict)  # by either of their descriptors

    def run(self) -> None:
        """Announce readiness, then serve until the other end of the control socket is closed."""
        try:
            self.control.sendall(b".")
        except BrokenPipeError:  # the process that started us was killed meanwhile
            return
        self.poll.register(self.control, select.POLLIN)
        is_open = True
        while is_open:
            ready = [descriptor for descriptor, _ in self.poll.poll()]
            for descriptor in ready:  # the dead come first: a new child may reuse a dead one's descriptor
                if descriptor in self.children:
                    self._bury(self.children[descriptor])
            if self.control.fileno() in ready:
                data, connections, _, _ = socket.recv_fds(self.control, 1, 1)
                for connection in connections:
                    self._fork(socket.socket(fileno=connection))
                is_open = bool(data)
        while self.children:
            self._bury(next(iter(self.children.values())))

    def _fork(self, connection: socket.socket) -> None:
        life, life_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._live(connection.fileno(), life_end)
        os.close(life_end)
        with contextlib.suppress(OSError):  # it has ended, or done it itself
            os.setpgid(pid, pid)
        child = _Child(pid=pid, connection=connection, life=life)
        for descriptor in (connection.fileno(), life):
            self.children[descriptor] = child
            self.poll.register(descriptor, 0)  # 0: report hang-ups only

    def _live(self, connection: int, life_end: int) -> NoReturn:
        """The child's whole life after the fork. It closes inherited descriptors, so no other file stays open."""
        status = 1
        try:
            os.setpgid(0, 0)
            nothing = os.open(os.devnull, os.O_RDWR)
            kept = [os.dup(descriptor) for descriptor in (connection, nothing, nothing, life_end)]
            for target, descriptor in enumerate(kept):
                os.dup2(descriptor, target)
            os.closerange(len(kept), 4096)
            stream = socket.socket(fileno=0)
            reader = stream.makefile("rb")
            if line := reader.readline(LINE_BYTES):  # a child that waited for work in vain gets none
                self.serve(stream, reader, confine(from_line(line, Confinement), inherited=self.layers))
            status = 0
        finally:
            os._exit(status)

    def _bury(self, child: _Child) -> None:
        """Kill and reap a child that has ended or is no longer wanted, and what it has started; until it is reaped, its
        number cannot be reused."""
        for descriptor in (child.connection.fileno(), child.life):
            self.poll.unregister(descriptor)
            del self.children[descriptor]
        for kill, pid in ((os.killpg, child.pid), (os.kill, child.pid)):
            with contextlib.suppress(OSError):
                kill(pid, signal.SIGKILL)
        _, status = os.waitpid(child.pid, 0)
        with contextlib.suppress(OSError):  # nothing more is there, or the other end is gone
            child.connection.setblocking(False)
            while child.connection.recv(2**20):  # unread, it would turn our last words into a reset
                pass
        with contextlib.suppress(OSError):
            child.connection.sendall(b"\n" + to_line(Ended(status=os.waitstatus_to_exitcode(status))))
        child.connection.close()
        os.close(child.life)


def main() -> None:
    """Entry point, with the control socket as standard input. Arguments: "package.module:function", a `Serve`, and
    "namespaces" to enter those that the kernel grants."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent closes the socket
    control = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    entry, namespaces = sys.argv[1:]
    layers = enter_namespaces() if namespaces else frozenset()
    works(kernel.hide_process)
    module, _, function = entry.partition(":")
    serve = getattr(import_module(module), function)
    prepare()
    gc.set_threshold(OBJECTS_BEFORE_COLLECTING)
    gc.freeze()  # children share these objects' pages with this process
    _Forkserver(control=control, serve=serve, layers=layers).run()
