"""Fetters for the process in which yt-dlp runs: where it may connect, what it may start, how much it may take.

In: limits and the inside addresses that tests may reach. Out: nothing; the process is fettered from then on. yt-dlp
opens its own sockets, so that the crawler's guarded network cannot serve it. Python's audit hooks see every connection
at the moment it is made, with the number it is made to: a second DNS answer or a redirect cannot go round them.
"""

import contextlib
import ipaddress
import os
import resource
import select
import signal
import sys
import threading
from pathlib import PurePath

from ingestion.fetch.addresses import is_public

NICENESS = 10  # answers to people go before reading
PORTS = frozenset({80, 443})
PROGRAMS = frozenset({"deno"})  # runs a host's JavaScript, without rights to files and network (yt-dlp gives it none)
STARTS = frozenset({"subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn"})
UNHOOKED = ("curl_cffi",)  # yt-dlp would use it where it is installed; its sockets are libcurl's, which no hook sees
DATAGRAMS = frozenset({"socket.sendto", "socket.sendmsg", "socket.bind"})


class Forbidden(OSError):
    """An OSError, as libraries expect where a connection or a program fails."""


def guard_process(allow_hosts: frozenset[str]) -> None:
    """For as long as the process lives; a hook cannot be removed. `allow_hosts` are exact "host:port", for tests."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "socket.connect":
            check_address(arguments[1], allow_hosts)
        elif event in STARTS:
            check_program(arguments[0])
        elif event in DATAGRAMS:
            raise Forbidden(f"{event} is closed to videos")

    sys.addaudithook(hook)
    for name in UNHOOKED:
        sys.modules[name] = None  # type: ignore[assignment] # Python's own sign for what may not be imported


def check_address(address: object, allow_hosts: frozenset[str]) -> None:
    """Raises Forbidden for anything but a web port of a public number."""
    if not isinstance(address, tuple) or len(address) < 2:
        raise Forbidden("all but the internet is closed to videos")
    host, port = str(address[0]), address[1]
    if f"{host}:{port}" in allow_hosts:
        return
    if port not in PORTS or not _is_number(host) or not is_public(host):
        raise Forbidden(f"{host}:{port} is closed to videos")


def check_program(program: object) -> None:
    """Raises Forbidden for programs that are not named here."""
    name = PurePath(os.fsdecode(program)).name if isinstance(program, str | bytes | os.PathLike) else ""
    if name not in PROGRAMS:
        raise Forbidden(f"{name or 'a program'} is closed to videos")


def limit_process(*, memory_bytes: int, file_bytes: int, cpu_s: int) -> None:
    """Limits of the kernel, for this process and what it starts."""
    os.nice(NICENESS)
    limits = {
        resource.RLIMIT_DATA: memory_bytes,  # not RLIMIT_AS: a JavaScript engine reserves addresses by the gigabyte
        resource.RLIMIT_CPU: cpu_s,
        resource.RLIMIT_FSIZE: file_bytes,
        resource.RLIMIT_CORE: 0,
    }
    for limit, value in limits.items():
        # A container or system may have set a lower hard limit: then that one holds.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))


def end_with(descriptor: int) -> None:
    """End this process and what it has started when the other end of `descriptor` is closed. It leads its group."""

    def watch() -> None:
        poll = select.poll()
        poll.register(descriptor, 0)  # 0: tell of hang-ups only
        poll.poll()
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
