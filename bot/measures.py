"""The events of this process that can be measured, and what records them. Part of the composition root (`bot.app`).

In: plain calls; METRICS_PORT and METRICS_HOST. Out: nothing, or the figures of `prometheus`, and `/metrics` while
`served` is open. `Measures` is a null object, so that no caller has to check whether somebody scrapes.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from bot.settings import MetricsSettings
from domain.statistics import QueueState
from ingestion.ports import WorkMeter
from rag.metering import ModelCall, TurnMetrics

Resting = Callable[[], Mapping[str, bool]]
"""Model -> whether it is not called for a while after failures (`adapters.llm.fallback`)."""


class Measures(WorkMeter):
    """Ignores every event."""

    def turn_ended(self, turn: TurnMetrics) -> None:
        """A question was answered."""

    def answer_rated(self, rating: int) -> None:
        """A thumb was pressed under an answer; `rating` is above 0 for thumbs up."""

    def search_ended(self, seconds: float) -> None:
        """A search ended; `seconds` include its embedding and reranking."""

    def model_called(self, role: str, call: ModelCall) -> None:
        """A model call ended; `role` is what the model is for: answer, planner, reading, vision."""

    def watch_models(self, role: str, resting: Resting) -> None:
        """Register `resting`, which is called at each scrape."""

    def bot_api_failed(self, method: str, error: str) -> None:
        """A request to the Bot API failed; `error` is the name of aiogram's exception."""

    @asynccontextmanager
    async def served(self, queue: Callable[[], Awaitable[QueueState]]) -> AsyncIterator[None]:
        """`/metrics`, with the queue of documents, if a port is set. Raises OSError when the port is taken."""
        yield


def build_measures(settings: MetricsSettings) -> Measures:
    """Measures that Prometheus can read if a port is set, else measures that record nothing."""
    if not settings.port:
        return Measures()
    # The import takes half a second, and most installations are not monitored.
    from bot.prometheus import PrometheusMeasures

    return PrometheusMeasures(settings)
