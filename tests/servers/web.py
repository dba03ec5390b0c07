"""A scripted web server on loopback: answers what a test has put behind a path, and remembers what it was asked.

In: `Reply` records by path. Out: raw HTTP/1.1 over real sockets. It keeps no connection, so that a test sees every one.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a path answers."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)
    wait_s: float = 0.0  # before the first byte
    announced_bytes: int | None = None  # a Content-Length that is not the truth
    drip_s: float = 0.0  # between two bytes of the body


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request, as it arrived."""

    path: str
    headers: dict[str, str]


@dataclass(kw_only=True)
class WebServer:
    """The running server."""

    port: int = 0
    replies: dict[str, Reply] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    @property
    def host(self) -> str:
        """As `FETCH_ALLOW_HOSTS` wants it."""
        return f"127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        """An address of this server."""
        return f"http://{self.host}{path}"

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        try:
            asked = _parse(await reader.readuntil(b"\r\n\r\n"))
            self.asked.append(asked)
            reply = self.replies.get(asked.path, Reply(status=404))
            await asyncio.sleep(reply.wait_s)
            writer.write(_head(reply))
            await _send(reply, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has gone, as some tests want
        finally:
            writer.close()


@asynccontextmanager
async def serve_web(*, ssl_context: ssl.SSLContext | None = None) -> AsyncIterator[WebServer]:
    """A server on a free port of 127.0.0.1."""
    web = WebServer()
    server = await asyncio.start_server(web.answer, "127.0.0.1", 0, ssl=ssl_context)
    web.port = server.sockets[0].getsockname()[1]
    async with server:
        yield web


async def _send(reply: Reply, writer: asyncio.StreamWriter) -> None:
    step = 1 if reply.drip_s else len(reply.body) or 1
    for start in range(0, len(reply.body), step):
        writer.write(reply.body[start : start + step])
        await writer.drain()
        await asyncio.sleep(reply.drip_s)


def _parse(head: bytes) -> Asked:
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return Asked(path=first.split(" ")[1], headers={name.lower(): value.strip() for name, _, value in pairs})


def _head(reply: Reply) -> bytes:
    length = len(reply.body) if reply.announced_bytes is None else reply.announced_bytes
    headers = (*reply.headers, ("Content-Length", str(length)), ("Connection", "close"))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"HTTP/1.1 {reply.status} Scripted\r\n{lines}\r\n".encode("latin-1")
