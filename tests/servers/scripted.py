"""What the scripted model servers share: answers put in by a test, and listening on loopback.

In: an aiohttp application. Out: its address for the time of a block. It knows no API.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web


@dataclass(frozen=True, kw_only=True)
class Scripted:
    """One answer in place of the usual one."""

    status: int = 200
    body: str = ""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    wait_s: float = 0.0  # before the first byte


HANG = Scripted(wait_s=3600)
BROKEN_JSON = Scripted(body='{"data": [{"index": 0, "embed')
HTML_PAGE = Scripted(body="<html>Not an API</html>", content_type="text/html")
SERVER_ERROR = Scripted(status=500, body='{"error": {"message": "boom"}}')
BAD_GATEWAY = Scripted(status=502, body="<html>Bad Gateway</html>", content_type="text/html")
UNAVAILABLE = Scripted(status=503)


def refusal(status: int, body: object, *headers: tuple[str, str]) -> Scripted:
    """An error with a JSON body."""
    return Scripted(status=status, body=json.dumps(body, ensure_ascii=False), headers=headers)


def too_many_requests(retry_after: str) -> Scripted:
    """429 with Retry-After: seconds or a date."""
    return refusal(429, {"detail": "Rate limit reached."}, ("Retry-After", retry_after))


async def play(scripted: Scripted) -> web.Response:
    """The scripted answer as a response, in its time."""
    await asyncio.sleep(scripted.wait_s)
    return web.Response(
        status=scripted.status,
        body=scripted.body.encode(),
        content_type=scripted.content_type,
        headers=dict(scripted.headers),
    )


@asynccontextmanager
async def listen(application: web.Application, *, port: int = 0) -> AsyncIterator[str]:
    """Serve on 127.0.0.1; gives the address. Handlers that hang are cancelled when their client leaves."""
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
