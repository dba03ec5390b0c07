"""The events of this process that are measured, in a Prometheus registry of its own, and `/metrics`.

In: plain calls; METRICS_PORT and METRICS_HOST, and a function that reads the queue. Out: a page on an address of its
own, never on the webhook's, which faces the internet; on loopback only for requests that name this machine (DNS
rebinding). Labels have few values by construction. Names and units follow prometheus.io/docs/practices/naming.
"""

import ipaddress
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from bot.settings import MetricsSettings
from domain.documents import DocumentStatus
from domain.errors import DatabaseAway
from domain.statistics import QueueState
from ingestion.ports import Outcome, WorkMeter
from rag.metering import ModelCall, TurnMetrics

TURN_S = (0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 30, 60, 120, 240)
RANKS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30)
TOKENS = (250, 500, 1000, 1500, 2000, 3000, 5000, 10_000)
SEARCH_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
STAGE_S = (0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600)
_PARTS: Mapping[str, tuple[str, Callable[[TurnMetrics], float | None]]] = {
    "": ("From the question to the last word of its answer.", lambda turn: turn.seconds),
    "planning_": ("From the question to the plan.", lambda turn: turn.pace.planned_s),
    "finding_": ("From the plan to the facts.", lambda turn: turn.pace.found_s),
    "first_text_": ("From the question to the first visible words.", lambda turn: turn.pace.first_s),
    "searching_": ("Time with at least one search pending.", lambda turn: turn.usage.searching.seconds),
    "models_": ("Time with at least one model call pending.", lambda turn: turn.usage.models.seconds),
}
"""Durations within a turn. They overlap, so they are separate metrics and not values of a label."""
log = structlog.get_logger()


class Measures(WorkMeter):
    """One per process; its counters start at 0."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._models: list[tuple[str, Callable[[], Mapping[str, bool]]]] = []
        counter, gauge = partial(Counter, registry=self._registry), partial(Gauge, registry=self._registry)
        times = partial(Histogram, registry=self._registry)
        self._turns = counter("baza_turns", "Questions answered.", ["kind"])
        self._turn_s = {
            part: times(f"baza_turn_{part}seconds", about, buckets=TURN_S) for part, (about, _) in _PARTS.items()
        }
        self._facts_found = counter("baza_facts_found", "Facts found for answers.")
        self._facts_used = counter("baza_facts_used", "Facts that answers used.")
        self._used_rank = times("baza_facts_used_rank", "Mean rank of the facts that an answer used.", buckets=RANKS)
        self._checks = counter("baza_answer_checks", "Checks of answers by a model, by outcome.", ["outcome"])
        self._statements = counter("baza_answer_statements", "Statements of answers, by what became of them.", ["of"])
        self._check_s = times("baza_answer_check_seconds", "Checks of one answer.", buckets=TURN_S)
        self._check_tokens = times("baza_answer_check_tokens", "Tokens that these took.", buckets=TOKENS)
        self._ratings = counter("baza_answer_ratings", "Presses of the thumbs under answers.", ["rating"])
        self._planned = counter("baza_steps_planned", "Steps planned for questions that take several.")
        self._adapted = counter("baza_steps_adapted", "Steps added, changed or skipped while a plan ran.")
        self._steps = counter("baza_steps", "Steps run, by outcome.", ["action", "state"])
        self._step_s = times("baza_step_seconds", "Duration of a step.", ["action"], buckets=TURN_S)
        self._step_tokens = counter("baza_step_tokens", "Tokens of steps, as reported by the servers.", ["action"])
        self._search_s = times("baza_search_seconds", "Duration of a search in one base.", buckets=SEARCH_S)
        self._calls = counter("baza_model_calls", "problem is empty for an answer.", ["role", "model", "problem"])
        self._call_s = times("baza_model_call_seconds", "Duration of answered model calls.", ["role"], buckets=TURN_S)
        self._tokens = counter("baza_model_tokens", "Tokens of calls, as reported by the servers.", ["role", "of"])
        self._cost = counter("baza_model_cost_dollars", "Cost of calls, as reported by the servers.", ["role"])
        self._resting = gauge("baza_model_resting", "1: it did not answer and is left alone.", ["role", "model"])
        self._documents = counter("baza_documents", "Attempts to read documents, by outcome.", ["outcome", "code"])
        self._stage_s = times("baza_document_stage_seconds", "Time in a stage.", ["stage"], buckets=STAGE_S)
        self._queue = gauge("baza_queue_documents", "Documents in the queues of all bases.", ["state"])
        self._oldest_s = gauge("baza_queue_oldest_seconds", "How long the oldest queued document has waited.")
        self._api_errors = counter("baza_bot_api_errors", "Failed requests, retries included.", ["method", "error"])

    def turn_ended(self, turn: TurnMetrics) -> None:
        """A question was answered."""
        self._turns.labels(turn.kind).inc()
        for part, (_, measured) in _PARTS.items():
            if (seconds := measured(turn)) is not None:
                self._turn_s[part].observe(seconds)
        self._facts_found.inc(turn.facts)
        self._facts_used.inc(turn.facts_used)
        if turn.used_rank is not None:
            self._used_rank.observe(turn.used_rank)
        check = turn.check
        if check.outcome:
            self._checks.labels(check.outcome).inc()
            for of, count in (("judged", check.statements), ("failed", check.failed), ("withdrawn", check.withdrawn)):
                self._statements.labels(of).inc(count)
        if check.outcome not in ("", "unneeded"):
            self._check_s.observe(check.seconds)
            self._check_tokens.observe(check.tokens)
        self._planned.inc(turn.steps.planned)
        self._adapted.inc(turn.steps.adapted)
        for step in turn.each_step:
            self._steps.labels(step.action, step.state).inc()
            self._step_s.labels(step.action).observe(step.seconds)
            self._step_tokens.labels(step.action).inc(step.tokens)

    def answer_rated(self, rating: int) -> None:
        """A thumb was pressed under an answer; `rating` is above 0 for thumbs up."""
        self._ratings.labels("up" if rating > 0 else "down").inc()

    def search_ended(self, seconds: float) -> None:
        """A search ended; `seconds` include its embedding and reranking."""
        self._search_s.observe(seconds)

    def model_called(self, role: str, call: ModelCall) -> None:
        """A model call ended; `role` is what the model is for: answer, planner, reading, vision."""
        self._calls.labels(role, call.model, call.problem).inc()
        if call.problem:
            return
        self._call_s.labels(role).observe(call.seconds)
        self._tokens.labels(role, "prompt").inc(call.prompt_tokens)
        self._tokens.labels(role, "answer").inc(call.answer_tokens)
        self._cost.labels(role).inc(call.cost)

    def watch_models(self, role: str, resting: Callable[[], Mapping[str, bool]]) -> None:
        """Register what tells at each scrape which models are not called for a while (`adapters.llm.fallback`)."""
        self._models.append((role, resting))

    def stage_ended(self, status: DocumentStatus, seconds: float) -> None:
        self._stage_s.labels(status.value).observe(seconds)

    def document_ended(self, outcome: Outcome, code: str = "") -> None:
        self._documents.labels(outcome.value, code).inc()

    def bot_api_failed(self, method: str, error: str) -> None:
        """A request to the Bot API failed; `error` is the name of aiogram's exception."""
        self._api_errors.labels(method, error).inc()

    def page(self, queue: QueueState | None = None) -> bytes:
        """Everything, in the text format 0.0.4. While the database is away the queue's figures keep their values."""
        if queue:
            self._queue.labels("waiting").set(queue.waiting)
            self._queue.labels("working").set(queue.working)
            self._oldest_s.set(queue.oldest_s)
        for role, resting in self._models:
            for model, rests in resting().items():
                self._resting.labels(role, model).set(rests)
        return generate_latest(self._registry)

    @asynccontextmanager
    async def served(
        self, settings: MetricsSettings, queue: Callable[[], Awaitable[QueueState]]
    ) -> AsyncIterator[None]:
        """`/metrics`, with the queue of documents, if a port is set. Raises OSError when the port is taken."""
        if not settings.port:
            yield
            return
        from aiohttp import web  # takes half a second to import, and most installations are not monitored

        from localchat.server import listening, names_this_server

        host, is_loopback = settings.host, settings.host == "localhost"
        with suppress(ValueError):
            is_loopback = ipaddress.ip_address(host).is_loopback

        async def answer(request: web.Request) -> web.Response:
            if is_loopback and not names_this_server(request, request.host):
                return web.Response(status=403, text="This server answers only to 127.0.0.1 and localhost.")
            state = None
            try:
                state = await queue()
            except DatabaseAway as error:
                log.warning("metrics.queue_not_seen", error=type(error).__name__)
            headers = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
            return web.Response(body=self.page(state), headers=headers)

        application = web.Application()
        application.add_routes([web.get("/metrics", answer)])
        async with listening(application, host, settings.port):
            yield
