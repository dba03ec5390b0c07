"""What PostgreSQL's own lock file, `postmaster.pid`, says about a server.

In: the cluster's folder. Out: a `Postmaster`, or None. Nothing is started or stopped here.
"""

import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_ANSWER_S = 2
_NO_PROCESS = 2**31 - 1  # above any system's highest number
_LINES = 8  # the last one is the status; an unfinished file has fewer


@dataclass(frozen=True, kw_only=True)
class Postmaster:
    """The lines of postmaster.pid that we use (src/include/utils/pidfile.h of PostgreSQL)."""

    pid: int
    port: int
    sockets: Path  # the first socket folder, relative to the cluster or absolute
    tcp: bool
    ready: bool  # false while it recovers or stops

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """None when the file is not (yet) whole."""
        lines = [line.strip() for line in text.split("\n")]
        if len(lines) < _LINES or not (lines[0].isdigit() and lines[3].isdigit()):
            return None
        return cls(
            pid=int(lines[0]),
            port=int(lines[3]),
            sockets=Path(lines[4]),
            tcp=bool(lines[5]),
            ready=lines[7] == "ready",
        )

    def alive(self, cluster: Path) -> bool:
        """Whether the process is there and is this cluster's server, not another that was given its number since."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return False  # another account's process: ours runs under the account that reads this, or we are root
        return _serves(self.pid, cluster)


def read_postmaster(cluster: Path) -> Postmaster | None:
    """The server that runs, or ran until the machine stopped, on `cluster`."""
    try:
        return Postmaster.parse((cluster / "postmaster.pid").read_text(encoding="utf-8", errors="surrogateescape"))
    except FileNotFoundError:
        return None


def disown(cluster: Path, server: Postmaster) -> None:
    """Let the lock files of a dead server name no process, since its number may belong to another one by now, or to
    its own remains where nobody takes the dead away.

    PostgreSQL would refuse to start because of that one. The lock of the socket goes; the rest of the other file stays:
    by it PostgreSQL finds out whether children of the dead server still work on the data.
    """
    (cluster / server.sockets / f".s.PGSQL.{server.port}.lock").unlink(missing_ok=True)
    path = cluster / "postmaster.pid"
    _, _, rest = path.read_text(encoding="utf-8", errors="surrogateescape").partition("\n")
    path.write_text(f"{_NO_PROCESS}\n{rest}", encoding="utf-8", errors="surrogateescape")


def answers(folder: Path, port: int) -> bool:
    """Whether something accepts connections on the server's socket in `folder`."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(_ANSWER_S)
        try:
            client.connect(os.fsencode(folder / f".s.PGSQL.{port}"))
        except OSError:
            return False
    return True


def _serves(pid: int, cluster: Path) -> bool:
    """Where the system does not tell (no /proc, or not to us), the process is taken for the server: waiting is safe."""
    process = Path(f"/proc/{pid}")
    try:
        state = (process / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
        program = (process / "cmdline").read_bytes().partition(b"\0")[0]
        # A container without an init process never takes its dead away: killed servers stay there as zombies.
        if state == "Z" or not program.endswith(b"postgres"):
            return False
        return (process / "cwd").samefile(cluster)
    except OSError:
        return True
