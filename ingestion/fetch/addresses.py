"""Decides which IP addresses may be connected to, and holds the process of yt-dlp to it.

In: an address as text; the inside addresses that tests may reach. Out: True only for what the whole internet can reach;
unclear cases are refused. Sources: the IANA special-purpose registries (as Python's `ipaddress` has them), and the list
below of ranges that they call global although they lead inside. yt-dlp opens its own sockets, so the crawler's `guard`
cannot be used there: Python's audit hooks see every connection when it is made, with its IP address, and every program
that is started; a second DNS answer or a redirect cannot bypass them.
"""

import ipaddress
import os
import sys
from pathlib import PurePath

_NETWORKS = (
    "100.64.0.0/10",  # carrier-grade NAT, RFC 6598; 100.100.100.200 is Alibaba's metadata service
    "168.63.129.16/32",  # Azure's wire server: a public address that answers from inside
    "192.0.0.0/24",  # IETF protocol assignments; 192.0.0.192 is Oracle's metadata service
    "192.31.196.0/24",  # AS112, RFC 7535
    "192.52.193.0/24",  # AMT, RFC 7450
    "192.88.99.0/24",  # 6to4 relays, RFC 7526
    "192.175.48.0/24",  # AS112, RFC 7534
    "::/96",  # IPv4-compatible, RFC 4291
    "::ffff:0:0/96",  # IPv4-mapped
    "::ffff:0:0:0/96",  # IPv4-translated, RFC 2765
    "64:ff9b::/96",  # NAT64, RFC 6052
    "64:ff9b:1::/48",  # local NAT64, RFC 8215
    "2001::/23",  # IETF protocol assignments with Teredo, ORCHID and benchmarking
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4: an IPv4 address inside
    "3fff::/20",  # documentation, RFC 9637
    "5f00::/16",  # segment routing, RFC 9602
    "fec0::/10",  # site-local, RFC 3879
)
NEVER = tuple(ipaddress.ip_network(network) for network in _NETWORKS)
PORTS = frozenset({80, 443})
PROGRAMS = frozenset({"deno"})  # runs a host's JavaScript; yt-dlp gives it no access to files and network
STARTS = frozenset({"subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn"})
UNHOOKED = ("curl_cffi",)  # yt-dlp would use it if installed, but no hook sees libcurl's sockets
DATAGRAMS = frozenset({"socket.sendto", "socket.sendmsg", "socket.bind"})


def is_public(address: str) -> bool:
    """Whether `address` is a plain unicast address of the public internet. Never raises: nonsense is not public."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.scope_id is not None:
        return False
    if any(parsed in network for network in NEVER if network.version == parsed.version):
        return False
    return parsed.is_global and not (parsed.is_multicast or parsed.is_reserved or parsed.is_unspecified)


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
