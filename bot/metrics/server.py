"""Serves `/metrics`.

In: the measures, and a function that reads the queue. Out: a page on an address of its own, never on the webhook's,
which faces the internet. While the database is away the queue's figures keep their last values.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import structlog
from aiohttp import web

from bot.metrics.prometheus import PrometheusMeasures
from domain.errors import DatabaseAway
from domain.statistics import QueueState

PATH = "/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

log = structlog.get_logger()


@asynccontextmanager
async def metrics_server(
    measures: PrometheusMeasures, queue: Callable[[], Awaitable[QueueState]], *, host: str, port: int
) -> AsyncIterator[None]:
    """Answers while the context is open. Raises OSError when the port is taken."""

    async def answer(_: web.Request) -> web.Response:
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
