"""The crawler's only way to the network: sockets to addresses that the guard has just admitted.

In: httpx requests. Out: httpx responses, raw (not decompressed). The check is made where the socket is opened, so
neither a redirect nor a second DNS answer can bypass it. TLS still verifies the certificate for the host's name,
because only the TCP connection uses the IP address. No proxy, no cookies, no connection reuse.
"""

import ssl
from collections.abc import AsyncIterator, Iterable
from types import TracebackType
from typing import Self

import httpcore
import httpx

from ingestion.fetch.guard import AddressGuard

ADDRESSES_TRIED = 3  # of one host; the page's deadline covers all of them together
CONNECTIONS = 20


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
        for address in (await self._guard.addresses(host, port))[:ADDRESSES_TRIED]:
            try:
                return await self._connector.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Always refuses: no page is behind a socket file of this machine."""
        raise httpcore.ConnectError(f"unix sockets are closed to the crawler ({path})")

    async def sleep(self, seconds: float) -> None:
        """httpcore's pause between retries; we make none."""
        await self._connector.sleep(seconds)


class GuardedTransport(httpx.AsyncBaseTransport):
    """httpx over httpcore, with the guarded backend as its only way to the network."""

    def __init__(
        self,
        guard: AddressGuard,
        *,
        connector: httpcore.AsyncNetworkBackend | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl_context or httpx.create_ssl_context(trust_env=False),
            max_connections=CONNECTIONS,
            max_keepalive_connections=0,
            network_backend=GuardedBackend(guard, connector),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One request on one connection. Raises the errors of httpcore and of the guard."""
        response = await self._pool.handle_async_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(
                    scheme=request.url.raw_scheme,
                    host=request.url.raw_host,
                    port=request.url.port,
                    target=request.url.raw_path,
                ),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(
            status_code=response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self._pool.__aexit__(exc_type, exc_value, traceback)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    """The bytes of a response as they arrive."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._response.aiter_stream():
            yield part

    async def aclose(self) -> None:
        await self._response.aclose()
