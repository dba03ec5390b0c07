"""Chooses what records the metrics of this process, and serves them. Part of the composition root (`bot.app`).

In: METRICS_PORT and METRICS_HOST. Out: `Measures`, and `/metrics` while a context is open.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from bot.metrics.measures import Measures
from bot.settings import MetricsSettings
from domain.statistics import QueueState


def build_measures(settings: MetricsSettings) -> Measures:
    """Measures that Prometheus can read if a port is set, else measures that record nothing."""
    if not settings.port:
        return Measures()
    # The import takes half a second, and most installations are not monitored.
    from bot.metrics.prometheus import PrometheusMeasures

    return PrometheusMeasures()


@asynccontextmanager
async def serve_measures(
    settings: MetricsSettings, measures: Measures, queue: Callable[[], Awaitable[QueueState]]
) -> AsyncIterator[None]:
    """Serve `/metrics` if a port is set. Raises OSError when the port is taken."""
    if not settings.port:
        yield
        return
    from bot.metrics.prometheus import PrometheusMeasures
    from bot.metrics.server import metrics_server

    if not isinstance(measures, PrometheusMeasures):
        raise TypeError("the measures were built for other settings")
    async with metrics_server(measures, queue, host=settings.host, port=settings.port):
        yield
