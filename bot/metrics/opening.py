"""Chooses who keeps the figures of this process, and serves them. A part of the composition root (`bot.app`).

In: METRICS_PORT and METRICS_HOST. Out: `Measures`, and `/metrics` while a context is open.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from bot.metrics.measures import Measures
from bot.settings import MetricsSettings
from domain.statistics import QueueState


def build_measures(settings: MetricsSettings) -> Measures:
    """Those that Prometheus can read, when a port is set."""
    if not settings.port:
        return Measures()
    # Half a second to import, and most installations are watched over by nobody.
    from bot.metrics.prometheus import PrometheusMeasures

    return PrometheusMeasures()


@asynccontextmanager
async def serve_measures(
    settings: MetricsSettings, measures: Measures, queue: Callable[[], Awaitable[QueueState]]
) -> AsyncIterator[None]:
    """`/metrics`, when a port is set. Raises OSError when it is taken."""
    if not settings.port:
        yield
        return
    from bot.metrics.prometheus import PrometheusMeasures
    from bot.metrics.server import metrics_server

    if not isinstance(measures, PrometheusMeasures):
        raise TypeError("the measures were built for other settings")
    async with metrics_server(measures, queue, host=settings.host, port=settings.port):
        yield
