"""What somebody would do whose code runs in the place of a parser, an unpacker, a decoder.

In: the place of an entry point (`sandbox.pool`), and what is to be had here (`TARGETS`, a variable of the environment).
Out: for each act what came of it, in the form in which the kind of process answers. Only the standard library is used.
"""

import contextlib
import ctypes
import errno
import json
import os
import resource
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

TARGETS = "TARGETS"
REFUSED = "refused"
BECOMING = "become a shell"
PTRACE_SEIZE = 0x4206  # it does not stop the other process
PR_SET_DUMPABLE = 4


@dataclass(frozen=True, kw_only=True)
class Targets:
    """What is to be had."""

    secret: str  # in the environment of an ancestor
    port: int  # on 127.0.0.1
    socket: str  # a Unix socket, as that of the embedded PostgreSQL
    neighbour: str  # somebody else's document
    folder: str  # where files could be left


class _Came(Exception):
    """The act had an effect."""


def attempt() -> dict[str, str]:
    """Each act, and `refused` or what came of it."""
    targets = Targets(**json.loads(os.environ[TARGETS]))
    return {name: _outcome(act, targets) for name, act in ACTS.items()}


def _outcome(act: Callable[[Targets], object], targets: Targets) -> str:
    try:
        return str(act(targets))
    except Exception as error:
        return f"{REFUSED} ({type(error).__name__})"


def _read_secret(targets: Targets) -> str:
    places = ["/proc/self/environ", *(f"/proc/{pid}/environ" for pid in [1, os.getppid(), *range(2, 70_000)])]
    for place in places:
        with contextlib.suppress(OSError):
            if targets.secret in Path(place).read_text(errors="replace"):
                return place
    raise PermissionError


def _read(path: str) -> str:
    return Path(path).read_text(errors="replace")[:40]


def _connect(_targets: Targets) -> str:
    with socket.create_connection(("127.0.0.1", _targets.port), timeout=5):
        return "connected"


def _connect_unix(targets: Targets) -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(targets.socket)
        return "connected"


def _shell(_targets: Targets) -> str:
    return subprocess.run(["/bin/sh", "-c", "id"], capture_output=True, check=True, timeout=10).stdout.decode()


def _fork(_targets: Targets) -> str:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return f"forked {pid}"


def _lift_memory(_targets: Targets) -> str:
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        soft, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            return f"lifted from {soft}"
    return "no limit at all"


def _libc(name: str, *arguments: object) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
    return "done"


def _ptrace(_targets: Targets) -> str:
    return _libc("ptrace", PTRACE_SEIZE, os.getppid() or 1, 0, 0)


def _read_memory(_targets: Targets) -> str:
    buffer = ctypes.create_string_buffer(8)
    vector = struct.pack("PN", ctypes.addressof(buffer), 8)
    try:
        return _libc("process_vm_readv", os.getppid() or 1, vector, 1, vector, 1, 0)
    except OSError as error:
        if error.errno == errno.EFAULT:  # we may, and there is nothing at this address
            return "allowed"
        raise


def _be_readable(_targets: Targets) -> str:
    return _libc("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)


def _become_root(_targets: Targets) -> str:
    os.setresuid(0, 0, 0)
    return str(os.getresuid())


def _signal(_targets: Targets) -> str:
    os.kill(os.getppid() or 1, 0)
    return "signalled"


def _leave_file(targets: Targets) -> str:
    Path(targets.folder, "left").write_text("x")
    return "written"


def _become_shell(_targets: Targets) -> None:
    """If it succeeds, nobody answers any more."""
    os.execv("/bin/sh", ["sh", "-c", "exit 99"])


def _mount(_targets: Targets) -> str:
    return _libc("unshare", 0x10000000)


ACTS: dict[str, Callable[[Targets], object]] = {
    "read an ancestor's environment": _read_secret,
    "read /etc/passwd": lambda targets: _read("/etc/passwd"),
    "read somebody else's document": lambda targets: _read(targets.neighbour),
    "list a folder": lambda targets: os.listdir(targets.folder),
    "connect to 127.0.0.1": _connect,
    "connect to a Unix socket": _connect_unix,
    "run a shell": _shell,
    "fork": _fork,
    "lift the limit of memory": _lift_memory,
    "trace another process": _ptrace,
    "read another's memory": _read_memory,
    "be readable to others": _be_readable,
    "become root": _become_root,
    "signal another process": _signal,
    "leave a file behind": _leave_file,
    "make a namespace": _mount,
    BECOMING: _become_shell,  # last: nothing comes after it
}


def parser(connection: socket.socket, stream: BufferedReader, layers: frozenset[str]) -> None:
    """The reading process, with this code in the place of every parser and unpacker."""
    from ingestion.parsers import registry
    from ingestion.parsers.codec import Listing
    from ingestion.records import Block, BlockKind, Document

    def parse(_path: object, **_: object) -> Document:
        return Document(title="", blocks=(Block(kind=BlockKind.CODE, text=json.dumps(attempt())),))

    def unpack(_path: object, **_: object) -> Listing:
        return Listing(members=(), refused=(json.dumps(attempt()),))

    vars(registry).update(parse_file=parse, unpack=unpack)
    registry.serve(connection, stream, layers)  # type: ignore[arg-type] # their names


def listener(connection: socket.socket, stream: BufferedReader, _layers: frozenset[str]) -> None:
    """The listening process, with this code in the place of the speech model."""
    from adapters.whisper import Trouble
    from sandbox.records import to_line

    stream.readline()
    connection.sendall(to_line(Trouble(code=None, detail=json.dumps(attempt()))))


def finder(connection: socket.socket, stream: BufferedReader, _layers: frozenset[str]) -> None:
    """The process that finds names."""
    from adapters.name_finder import Spans
    from sandbox.records import to_line

    stream.readline()
    connection.sendall(to_line(Spans(spans=((0, 0, json.dumps(attempt())),))))


def video(connection: socket.socket, stream: BufferedReader, _layers: frozenset[str]) -> None:
    """The process of yt-dlp, which may ask the worker for connections."""
    from ingestion.fetch.video_child import Refused, Wanted
    from sandbox.records import from_line, to_line

    allowed = from_line(stream.readline(), Wanted).allow_hosts[0]
    _Asking(connection, allowed).lent().sendall(b"what it is for")
    done = {name: _outcome(act, _Asking(connection, allowed)) for name, act in OF_VIDEOS.items()}  # type: ignore[arg-type]
    connection.sendall(to_line(Refused(code=None, title="", detail=json.dumps({**done, **attempt()}))))


@dataclass(frozen=True)
class _Asking:
    worker: socket.socket
    allowed: str  # "host:port" that the worker may connect to in this test

    def connection(self, host: str, port: int) -> socket.socket:
        from ingestion.fetch.video_child import Connect, Connected
        from sandbox.records import from_line, to_line

        self.worker.sendall(to_line(Connect(host=host, port=port)))
        line, descriptors, _, _ = socket.recv_fds(self.worker, 10_000, 1)
        if trouble := from_line(line, Connected).trouble:
            raise PermissionError(trouble)
        return socket.socket(fileno=descriptors[0])

    def lent(self) -> socket.socket:
        host, _, port = self.allowed.partition(":")
        return self.connection(host, int(port))


def _connect_anew(asking: _Asking) -> str:
    with asking.lent() as connection:
        connection.connect(("127.0.0.1", _target_port()))
        return "connected elsewhere"


def _send_elsewhere(asking: _Asking) -> str:
    with asking.lent() as connection:
        connection.sendto(b"x", socket.MSG_FASTOPEN, ("127.0.0.1", _target_port()))
        return "connected elsewhere"


def _target_port() -> int:
    return Targets(**json.loads(os.environ[TARGETS])).port


OF_VIDEOS: dict[str, Callable[[_Asking], object]] = {
    "ask for this machine": lambda asking: asking.connection("127.0.0.1", _target_port()),
    "ask for it by its name": lambda asking: asking.connection("localhost", 443),
    "ask for a cloud's metadata": lambda asking: asking.connection("169.254.169.254", 80),
    "ask for another port": lambda asking: asking.connection("8.8.8.8", 22),
    "ask for nonsense": lambda asking: asking.connection("\ud800 /etc", -1),
    "connect a lent connection elsewhere": _connect_anew,
    "send with a lent connection elsewhere": _send_elsewhere,
}


if __name__ == "__main__":  # unconfined, or in the place of a program
    if sys.argv[1:] == ["unconfined"]:
        del ACTS[BECOMING]
    sys.stdout.write(json.dumps(attempt()))
