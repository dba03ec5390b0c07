"""One PostgreSQL cluster: make it, start it, find it running, stop it; and the roles in it.

In: a `Seat`. Out: a running server that listens on a socket only, with the superuser and the role that Baza works as.
PostgreSQL's own lock file, `postmaster.pid`, says whether a server runs. Who shares it is decided in `embedded`.
"""

import os
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psycopg
import structlog
from psycopg import sql

from adapters.database.embedded.seat import MAJOR, EmbeddedDatabaseError, Seat, give, holds_socket, run_as

_ANSWER_S = 2
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
    "--auth=scram-sha-256",
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
    "wal_init_zero": "off",  # each new 16 MB of the log would be written twice
    "logging_collector": "on",
    "log_filename": "postgres-%a.log",  # seven files, each emptied when its day comes again
    "log_truncate_on_rotation": "on",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_error_verbosity": "terse",  # the detail of an error quotes rows
    "log_min_error_statement": "panic",
}
DATABASE = ROLE = "baza"
_PREPARE = b"""
create schema if not exists extensions authorization baza;
create extension if not exists vector with schema extensions; -- which only a superuser can add
alter database baza owner to baza
"""


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
        """None when the file is not (yet) whole: the last of its eight lines is the status."""
        lines = [line.strip() for line in text.split("\n")]
        if len(lines) < 8 or not (lines[0].isdigit() and lines[3].isdigit()):
            return None
        return cls(
            pid=int(lines[0]), port=int(lines[3]), sockets=Path(lines[4]), tcp=bool(lines[5]), ready=lines[7] == "ready"
        )

    def alive(self, cluster: Path) -> bool:
        """Whether the process is there and is this cluster's server, not another that was given its number since."""
        try:
            os.kill(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False  # or another account's process: ours runs under the account that reads this, or we are root
        process = Path(f"/proc/{self.pid}")
        try:
            state = (process / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
            program = (process / "cmdline").read_bytes().partition(b"\0")[0]
            # A container without an init process never takes its dead away: killed servers stay there as zombies.
            return state != "Z" and program.endswith(b"postgres") and (process / "cwd").samefile(cluster)
        except OSError:
            return True  # the system does not tell (no /proc, or not to us): waiting is safe


def read_postmaster(cluster: Path) -> Postmaster | None:
    """The server that runs, or ran until the machine stopped, on `cluster`."""
    with suppress(FileNotFoundError):
        return Postmaster.parse((cluster / "postmaster.pid").read_text(encoding="utf-8", errors="surrogateescape"))
    return None


def disown(cluster: Path, server: Postmaster) -> None:
    """Let the lock files of a dead server name no process, since its number may belong to another one by now, or to
    its own remains where nobody takes the dead away.

    PostgreSQL would refuse to start because of that one. The lock of the socket goes; the rest of the other file stays,
    under a number above any system's highest: by it PostgreSQL finds out whether children still work on the data.
    """
    (cluster / server.sockets / f".s.PGSQL.{server.port}.lock").unlink(missing_ok=True)
    path = cluster / "postmaster.pid"
    _, _, rest = path.read_text(encoding="utf-8", errors="surrogateescape").partition("\n")
    path.write_text(f"{2**31 - 1}\n{rest}", encoding="utf-8", errors="surrogateescape")


def ensure_started(seat: Seat, *, tcp_port: int | None) -> Postmaster:
    """Make the cluster when it is missing, start it when it is not running. Raises EmbeddedDatabaseError."""
    began, marker = time.monotonic(), seat.cluster / "PG_VERSION"
    if not marker.exists():
        _make(seat)
    major = marker.read_text(encoding="ascii").strip()
    if major != MAJOR:
        raise EmbeddedDatabaseError(f"{seat.cluster} was made by PostgreSQL {major}, this Baza brings {MAJOR}.")
    if running := _find_running(seat):
        return running
    started = _start(seat, tcp_port)
    seconds = round(time.monotonic() - began, 2)
    structlog.get_logger().info("database_started", folder=str(seat.cluster), seconds=seconds)
    return started


def is_running(seat: Seat) -> bool:
    """Whether the server's process is there; a quick look that connects to nothing."""
    server = read_postmaster(seat.cluster)
    return server is not None and server.alive(seat.cluster)


def stop(seat: Seat) -> None:
    """Stop the server; open connections are cut, what was committed is kept. A failure is logged."""
    server = read_postmaster(seat.cluster)
    if server is None:
        return
    if problem := _pg_ctl(seat, "stop", "--mode=fast", f"--timeout={_STOP_S}"):
        structlog.get_logger().warning("database_not_stopped", folder=str(seat.cluster), reason=problem)
    else:
        _remove_sockets(server)


def _make(seat: Seat) -> None:
    """Under another name first: a start that is cut short leaves no half-made cluster."""
    draft = seat.cluster.with_name("postgres.new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    give(draft, seat.account)
    password_of(SUPERUSER, seat)
    secret = f"--pwfile={_password_file(SUPERUSER, seat)}"
    result = run_as(seat.account, seat.programs / "bin" / "initdb", "-D", ".", secret, *_INITDB, folder=draft)
    if result.returncode:
        raise EmbeddedDatabaseError(f"The database could not be made in {seat.folder}: {_last_lines(result.stdout)}")
    draft.rename(seat.cluster)


def _find_running(seat: Seat) -> Postmaster | None:
    """The server of this cluster once it answers; None when it is not running, after its remains were cleared away."""
    until = time.monotonic() + _START_S
    while server := read_postmaster(seat.cluster):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(_ANSWER_S)
            place = seat.cluster / server.sockets / f".s.PGSQL.{server.port}"
            if server.ready and client.connect_ex(os.fsencode(place)) == 0:
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
        "unix_socket_directories": ".",
        "listen_addresses": "",
    }
    if not holds_socket(seat.cluster):  # no client could name it there: a private one in the temporary folder
        folder = Path(tempfile.mkdtemp(prefix=_SOCKETS))
        give(folder, seat.account)
        settings["unix_socket_directories"] = str(folder)
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
    logs = [path for path in (seat.cluster / _LOG, *(seat.cluster / "log").glob("*.log")) if path.exists()]
    latest = max(logs, key=lambda path: path.stat().st_mtime, default=None)
    said = _last_lines(latest.read_text(encoding="utf-8", errors="replace")) if latest else ""
    raise EmbeddedDatabaseError(f"The database in {seat.cluster} did not start: {said or problem}")


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


def _remove_sockets(server: Postmaster) -> None:
    if server.sockets.name.startswith(_SOCKETS):
        shutil.rmtree(server.sockets, ignore_errors=True)


def _last_lines(text: str) -> str:
    return " ".join(text.strip().splitlines()[-_LOG_TAIL_LINES:])


def _password_file(role: str, seat: Seat) -> Path:
    return seat.folder / f"{role}.password"


def password_of(role: str, seat: Seat) -> str:
    """From its file beside the cluster, which is made when it is missing."""
    path = _password_file(role, seat)
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        unfinished.touch(mode=0o600)
        unfinished.write_text(secrets.token_urlsafe(24), encoding="ascii")
        give(unfinished, seat.account)
        unfinished.rename(path)
    return path.read_text(encoding="ascii")


def ensure_database(seat: Seat, url: Callable[[str], str]) -> None:
    """The database and the role that owns it. `url` is the superuser's for a database."""
    with psycopg.connect(url("postgres"), autocommit=True) as connection:
        found = connection.execute(
            "select pg_get_userbyid(datdba) from pg_database where datname = %s", [DATABASE]
        ).fetchone()
        if found == (ROLE,):
            return
        if not connection.execute("select 1 from pg_roles where rolname = %s", [ROLE]).fetchone():
            password = sql.Literal(password_of(ROLE, seat))
            connection.execute(sql.SQL("create role {} login password {}").format(sql.Identifier(ROLE), password))
        if found is None:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(DATABASE)))
    with psycopg.connect(url(DATABASE)) as inside:
        inside.execute(_PREPARE)
