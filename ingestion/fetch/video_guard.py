"""Restricts the process in which yt-dlp runs: its connections, and the programs it starts.

In: the inside addresses that tests may reach. Out: nothing; the restrictions hold for the rest of the process, beside
those of `sandbox`, which know ports and not addresses. yt-dlp opens its own sockets, so the crawler's guarded network
cannot be used. Python's audit hooks see every connection when it is made, with its IP address: a second DNS answer or a
redirect cannot bypass them.
"""

import ipaddress
import os
import sys
from pathlib import PurePath

from ingestion.fetch.addresses import is_public

PORTS = frozenset({80, 443})
PROGRAMS = frozenset({"deno"})  # runs a host's JavaScript; yt-dlp gives it no access to files and network
STARTS = frozenset({"subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn"})
UNHOOKED = ("curl_cffi",)  # yt-dlp would use it if installed, but no hook sees libcurl's sockets
DATAGRAMS = frozenset({"socket.sendto", "socket.sendmsg", "socket.bind"})


class Forbidden(OSError):
    """An OSError, because libraries expect one when a connection or a program fails."""


def guard_process(allow_hosts: frozenset[str]) -> None:
    """Install the hook for the life of the process. `allow_hosts` are exact "host:port", for tests."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "socket.connect":
            check_address(arguments[1], allow_hosts)
        elif event in STARTS:
            check_program(arguments[0])
        elif event in DATAGRAMS:
            raise Forbidden(f"{event} is closed to videos")

    sys.addaudithook(hook)
    for name in UNHOOKED:
        sys.modules[name] = None  # type: ignore[assignment] # Python's convention for a module not to be imported


def check_address(address: object, allow_hosts: frozenset[str]) -> None:
    """Raises Forbidden for anything but a web port of a public IP address."""
    if not isinstance(address, tuple) or len(address) < 2:
        raise Forbidden("all but the internet is closed to videos")
    host, port = str(address[0]), address[1]
    if f"{host}:{port}" in allow_hosts:
        return
    if port not in PORTS or not _is_number(host) or not is_public(host):
        raise Forbidden(f"{host}:{port} is closed to videos")


def check_program(program: object) -> None:
    """Raises Forbidden for programs outside PROGRAMS."""
    name = PurePath(os.fsdecode(program)).name if isinstance(program, str | bytes | os.PathLike) else ""
    if name not in PROGRAMS:
        raise Forbidden(f"{name or 'a program'} is closed to videos")


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
