"""Decides where the crawler may connect, and is its only way to the network.

In: a URL, or httpx requests. Out: the normalised URL, and responses, raw (not decompressed). An address is checked as
written, then as resolved, where the socket is opened, so neither a redirect nor a second DNS answer can bypass it: a
name is resolved once, and refused when ANY of its addresses is inside. TLS still verifies the certificate for the
host's name, because only the TCP connection uses the IP address. No proxy, no cookies, no connection reuse.
"""

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

import httpcore
import httpx

from domain.visible import readable_host
from ingestion.errors import FailureCode, ServiceError, SourceError

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
"""Ranges that the IANA special-purpose registries (as Python's `ipaddress` has them) call global although they lead
inside; unclear cases are refused."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""(host, port) -> its IP addresses. Raises `socket.gaierror`."""
DEFAULT_PORTS = {"http": 80, "https": 443}
PORTS = frozenset({80, 443, 8080, 8443})
URL_CHARACTERS = 4096
HOST_CHARACTERS = 253  # RFC 1035
INSIDE_SUFFIXES = (  # names that no public DNS serves: RFC 6761, 6762, 8375 and what routers and clouds use
    *(".localhost", ".local", ".localdomain", ".internal", ".intranet", ".private", ".corp", ".home", ".lan"),
    *(".home.arpa", ".test", ".in-addr.arpa", ".ip6.arpa"),
)
_FORBIDDEN_CHARACTERS = re.compile(r"[\x00-\x20\x7f\\]")  # parsers disagree about them
_NUMERIC_LABEL = re.compile(r"\d+|0x[0-9a-f]*", re.IGNORECASE)
_HOST_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)+", re.IGNORECASE)
ADDRESSES_TRIED = 3  # of one host; the page's deadline covers all of them together
CONNECTIONS = 20


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


async def resolve_by_system(host: str, port: int) -> list[str]:
    answers = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(answer[4][0]) for answer in answers]


@dataclass(frozen=True, kw_only=True)
class AddressGuard:
    """Checks addresses. `allow_hosts` are exact "host:port" strings that may lead inside; for tests only."""

    allow_hosts: frozenset[str] = frozenset()
    resolve: Resolve = resolve_by_system

    def check_url(self, text: str) -> httpx.URL:
        """The URL to request. Raises SourceError PAGE_ADDRESS_INVALID or PAGE_ADDRESS_FORBIDDEN."""
        url = _parse(text)
        port = url.port or DEFAULT_PORTS[url.scheme]
        if not self._is_allowed(url.host, port):
            _refuse_as_written(url.raw_host.decode("ascii"), port)
        return url

    async def addresses(self, host: str, port: int) -> list[str]:
        """Resolve the host: some of its IP addresses to connect to, which are all public. Raises SourceError
        PAGE_ADDRESS_FORBIDDEN or PAGE_NOT_FOUND_HOST, ServiceError when DNS does not answer."""
        is_allowed = self._is_allowed(host, port)
        if not is_allowed:
            _refuse_as_written(host, port)
            if _is_literal(host):
                return [host]
        try:
            answers = list(dict.fromkeys(await self.resolve(host, port)))
        except socket.gaierror as error:
            fate = ServiceError if error.errno == socket.EAI_AGAIN else SourceError
            raise fate(FailureCode.PAGE_NOT_FOUND_HOST, host=readable_host(host), detail=str(error)) from error
        except UnicodeError as error:  # getaddrinfo's codec refuses over-long labels
            raise SourceError(FailureCode.PAGE_ADDRESS_INVALID, url=host, detail=str(error)) from error
        if not answers:
            raise SourceError(FailureCode.PAGE_NOT_FOUND_HOST, host=readable_host(host), detail="no addresses")
        inside = [answer for answer in answers if not is_public(answer)]
        if inside and not is_allowed:
            raise _forbidden(host, f"resolves to {', '.join(inside)}")
        return answers[:ADDRESSES_TRIED]

    def _is_allowed(self, host: str, port: int) -> bool:
        return f"{host}:{port}" in self.allow_hosts


def _parse(text: str) -> httpx.URL:
    if len(text) > URL_CHARACTERS or _FORBIDDEN_CHARACTERS.search(text):
        raise _invalid(text, "length or characters")
    try:
        url = httpx.URL(text)
        host = url.host
    except (httpx.InvalidURL, ValueError) as error:  # ValueError: idna's errors on A-labels
        raise _invalid(text, str(error)) from error
    if url.scheme not in DEFAULT_PORTS or not host:
        raise _invalid(text, "scheme or host")
    if url.userinfo:
        raise _forbidden(host, "credentials in the address")
    if url.port is not None and not 0 < url.port < 65536:
        raise _invalid(text, "port")
    return url.copy_with(host=host.removesuffix("."), fragment=None)


def _refuse_as_written(host: str, port: int) -> None:
    """Refuse what can be refused without DNS: ports, inside literals, disguised numbers, names of inside networks."""
    if port not in PORTS:
        raise _forbidden(host, f"port {port}")
    host = host.removesuffix(".").lower()
    if _is_literal(host):
        if not is_public(host):
            raise _forbidden(host, "address")
        return
    if len(host) > HOST_CHARACTERS or not _HOST_NAME.fullmatch(host):
        raise _forbidden(host, "not a public host name")
    # inet_aton reads `0x7f.1`, `127.1`, `2130706433` as addresses; nobody writes a page's address like that.
    if _NUMERIC_LABEL.fullmatch(host.rsplit(".", 1)[-1]):
        raise _forbidden(host, "a number in disguise")
    if f".{host}".endswith(INSIDE_SUFFIXES):
        raise _forbidden(host, "a name of inside networks")


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _invalid(url: str, detail: str) -> SourceError:
    return SourceError(FailureCode.PAGE_ADDRESS_INVALID, url=url[:URL_CHARACTERS], detail=detail)


def _forbidden(host: str, detail: str) -> SourceError:
    return SourceError(FailureCode.PAGE_ADDRESS_FORBIDDEN, host=readable_host(host), detail=detail)


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Opens TCP connections to admitted addresses only."""

    def __init__(self, guard: AddressGuard, connector: httpcore.AsyncNetworkBackend | None = None) -> None:
        self._guard = guard
        self._connector = connector or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Resolve once, check every address, connect to the first that accepts."""
        failure: httpcore.ConnectError | httpcore.ConnectTimeout = httpcore.ConnectError("no address")
        for address in await self._guard.addresses(host, port):
            try:
                return await self._connector.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


class GuardedTransport(httpx.AsyncHTTPTransport):
    """httpx's own transport, with the guarded backend as its only way to the network; raises the guard's errors too."""

    def __init__(
        self,
        guard: AddressGuard,
        *,
        connector: httpcore.AsyncNetworkBackend | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        # httpx takes no backend, so its pool is made here. Were it called otherwise there, no request would go out.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl_context or httpx.create_ssl_context(trust_env=False),
            max_connections=CONNECTIONS,
            max_keepalive_connections=0,
            network_backend=GuardedBackend(guard, connector),
        )
