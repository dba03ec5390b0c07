"""One PostgreSQL cluster: make it, start it, find it running, stop it.

In: a `Seat`. Out: the address of the running server. Blocking; callers run it in a thread, one at a time (sharing.py).
Programs are run from inside the cluster's folder, so that no path chosen by a person reaches pg_ctl's shell.
"""

import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from adapters.database.embedded.account import give, run_as
from adapters.database.embedded.errors import EmbeddedDatabaseError
from adapters.database.embedded.postmaster import Postmaster, answers, disown, read_postmaster
from adapters.database.embedded.programs import MAJOR
from adapters.database.embedded.seat import Seat, holds_socket

SUPERUSER = "postgres"
_START_S = 120  # recovery after a crash reads back what was written since the last checkpoint
_START_TRIES = 5  # children of a killed server hold its memory, or its data, for a moment after it
_START_PAUSE_S = 1
_STOP_S = 60
_LOG = "start.log"  # until the server has opened its own in log/
_SOCKETS = "baza-postgres-"
_LOG_TAIL_LINES = 5
_CONTAINER_MEMORY = Path("/sys/fs/cgroup/memory.max")  # bytes

_INITDB = (
    f"--username={SUPERUSER}",
    "--auth-local=trust",  # only who can enter the folder (0700) reaches the socket
    "--auth-host=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",  # lower('Ж') works, and sorting does not change with the system
    "--no-instructions",
)
_SETTINGS = {
    "max_connections": "50",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "jit": "off",  # compiling costs more than any query of ours
    "logging_collector": "on",
    "log_filename": "postgres-%a.log",  # seven files, each emptied when its day comes again
    "log_truncate_on_rotation": "on",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_error_verbosity": "terse",  # the detail of an error quotes rows
    "log_min_error_statement": "panic",
}


@dataclass(frozen=True, kw_only=True)
class Listening:
    """Where a running server listens. `tcp`: also on 127.0.0.1."""

    sockets: Path
    port: int
    tcp: bool


def ensure_started(seat: Seat, *, tcp_port: int | None) -> Listening:
    """Make the cluster when it is missing, start it when it is not running. Raises EmbeddedDatabaseError."""
    log = structlog.get_logger()
    began = time.monotonic()
    _ensure_made(seat)
    running = _find_running(seat)
    if running is None:
        running = _start(seat, tcp_port)
        log.info("database_started", folder=str(seat.cluster), seconds=round(time.monotonic() - began, 2))
    return Listening(sockets=seat.cluster / running.sockets, port=running.port, tcp=running.tcp)


def is_running(seat: Seat) -> bool:
    """Whether the server's process is there; a quick look that connects to nothing."""
    server = read_postmaster(seat.cluster)
    return server is not None and server.alive(seat.cluster)


def stop(seat: Seat) -> None:
    """Stop the server; open connections are cut, what was committed is kept. A failure is logged."""
    server = read_postmaster(seat.cluster)
    if server is None:
        return
    result = _pg_ctl(seat, "stop", "--mode=fast", f"--timeout={_STOP_S}")
    if result:
        structlog.get_logger().warning("database_not_stopped", folder=str(seat.cluster), reason=result)
    else:
        _remove_sockets(server)


def _ensure_made(seat: Seat) -> None:
    marker = seat.cluster / "PG_VERSION"
    if not marker.exists():
        _make(seat)
    major = marker.read_text(encoding="ascii").strip()
    if major != MAJOR:
        raise EmbeddedDatabaseError(f"{seat.cluster} was made by PostgreSQL {major}, this Baza brings {MAJOR}.")


def _make(seat: Seat) -> None:
    """Under another name first: a start that is cut short leaves no half-made cluster."""
    draft = seat.cluster.with_name("postgres.new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    give(draft, seat.account)
    result = run_as(seat.account, seat.programs / "bin" / "initdb", "-D", ".", *_INITDB, folder=draft)
    if result.returncode:
        raise EmbeddedDatabaseError(f"The database could not be made in {seat.folder}: {_last_lines(result.stdout)}")
    draft.rename(seat.cluster)


def _find_running(seat: Seat) -> Postmaster | None:
    """The server of this cluster once it answers; None when it is not running, after its remains were cleared away."""
    until = time.monotonic() + _START_S
    while server := read_postmaster(seat.cluster):
        if server.ready and answers(seat.cluster / server.sockets, server.port):
            return server
        if not server.alive(seat.cluster):
            disown(seat.cluster, server)
            _remove_sockets(server)
            return None
        if time.monotonic() > until:
            raise EmbeddedDatabaseError(f"The database in {seat.cluster} (process {server.pid}) does not answer.")
        time.sleep(0.05)
    return None


def _start(seat: Seat, tcp_port: int | None) -> Postmaster:
    settings = {
        **_SETTINGS,
        "shared_buffers": f"{buffers_mb()}MB",
        "unix_socket_directories": _socket_folder(seat),
        "listen_addresses": "",
    }
    if tcp_port is not None:
        settings |= {"listen_addresses": "127.0.0.1", "port": str(tcp_port)}
    options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
    (seat.cluster / _LOG).unlink(missing_ok=True)
    for _ in range(_START_TRIES):
        problem = _pg_ctl(seat, "start", f"--timeout={_START_S}", f"--log={_LOG}", f"--options={options}")
        server = read_postmaster(seat.cluster)
        if server and not problem:
            return server
        time.sleep(_START_PAUSE_S)
    raise EmbeddedDatabaseError(f"The database in {seat.cluster} did not start: {_said(seat) or problem}")


def buffers_mb() -> int:
    """`shared_buffers`: an eighth of the first 8 GB of memory of this machine or container, since the bot and its
    parsers need the rest, and a quarter of what is above (runtime-config-resource); 128 MB to 8 GB, allocated only as
    it fills.

    PostgreSQL reads a table of more than a quarter of its buffers past them: with 128 MB the segment of 500,000
    passages (78 MB) would be copied from the system's cache for each search. And a system may drop its own cache early:
    on such a virtual machine searches of large bases waited 50 us for each page that was not in the buffers.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # no container, or one without a limit: "max"
        memory = min(memory, int(_CONTAINER_MEMORY.read_text(encoding="ascii")))
    megabytes = memory // 2**20
    return min(max(min(megabytes, 8192) // 8 + max(megabytes - 8192, 0) // 4, 128), 8192)


def _pg_ctl(seat: Seat, *arguments: str) -> str:
    """What went wrong, or nothing."""
    program = seat.programs / "bin" / "pg_ctl"
    result = run_as(
        seat.account, program, *arguments, "-D", ".", "--wait", folder=seat.cluster, timeout_s=_START_S + _STOP_S
    )
    return _last_lines(result.stdout) if result.returncode else ""


def _socket_folder(seat: Seat) -> str:
    """The cluster's own folder, or a private one in the temporary folder when no client could name a socket there."""
    if holds_socket(seat.cluster):
        return "."
    folder = Path(tempfile.mkdtemp(prefix=_SOCKETS))
    give(folder, seat.account)
    return str(folder)


def _remove_sockets(server: Postmaster) -> None:
    """The folder of `_socket_folder`, if it was one in the temporary folder."""
    if server.sockets.name.startswith(_SOCKETS):
        shutil.rmtree(server.sockets, ignore_errors=True)


def _said(seat: Seat) -> str:
    """The last words of the server, in the log that it was writing last."""
    logs = [path for path in (seat.cluster / _LOG, *(seat.cluster / "log").glob("*.log")) if path.exists()]
    latest = max(logs, key=lambda path: path.stat().st_mtime, default=None)
    return _last_lines(latest.read_text(encoding="utf-8", errors="replace")) if latest else ""


def _last_lines(text: str) -> str:
    return " ".join(text.strip().splitlines()[-_LOG_TAIL_LINES:])
