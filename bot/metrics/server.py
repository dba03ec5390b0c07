"""Serves `/metrics`.

In: the measures, and a function that reads the queue. Out: a page on an address of its own, never on the webhook's,
which faces the internet; on loopback only for requests that name this machine, so that no page in a browser reads it
under a name of its own (DNS rebinding). While the database is away the queue's figures keep their last values.
"""

import ipaddress
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import structlog
from aiohttp import web

from bot.metrics.prometheus import PrometheusMeasures
from domain.errors import DatabaseAway
from domain.statistics import QueueState
from localchat.guard import is_local

PATH = "/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

log = structlog.get_logger()


@asynccontextmanager
async def metrics_server(
    measures: PrometheusMeasures, queue: Callable[[], Awaitable[QueueState]], *, host: str, port: int
) -> AsyncIterator[None]:
    """Answers while the context is open. Raises OSError when the port is taken."""

    async def answer(request: web.Request) -> web.Response:
        if _is_loopback(host) and not is_local(request.host, runner.addresses[0][1]):
            return web.Response(status=403, text="This server answers only to 127.0.0.1 and localhost.")
        try:
            measures.queue_seen(await queue())
        except DatabaseAway as error:
            log.warning("metrics.queue_not_seen", error=type(error).__name__)
        return web.Response(body=measures.page(), headers={"Content-Type": CONTENT_TYPE})

    application = web.Application()
    application.add_routes([web.get(PATH, answer)])
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield
    finally:
        await runner.cleanup()


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"
