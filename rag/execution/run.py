"""What all tools of one turn share: how far they may go, whether the person has had enough, who hears how far they are.

In: limits, a signal to stop, a listener. Out: whether there may be another model call, and progress for the person. One
object a turn; it runs nothing itself.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from rag.execution.facts import FactsPayload
from rag.metering import Usage


@dataclass(frozen=True, kw_only=True)
class RunLimits:
    """What one turn may take (issue 6); a question that is answered by one search comes near none of them."""

    steps: int = 8
    model_calls: int = 60
    tokens: int = 300_000  # of prompts and answers together
    seconds: float = 240.0
    cost: float = 0.5  # US dollars, where the server tells


class Spent(StrEnum):
    """Which limit a turn has come to."""

    STOPPED = "stopped"  # by the person
    STEPS = "steps"
    MODEL_CALLS = "model_calls"
    TOKENS = "tokens"
    SECONDS = "seconds"
    COST = "cost"


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far one step is."""

    step_id: str
    done: int
    total: int


def _unheard(progress: Progress) -> None:
    """Where nobody watches."""


@dataclass(kw_only=True)
class Run:
    """Begins with the turn. `usage` is the turn's meter: it grows while models are asked."""

    limits: RunLimits = field(default_factory=RunLimits)
    usage: Usage = field(default_factory=Usage)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    report: Callable[[Progress], None] = _unheard
    started: float = field(default_factory=time.monotonic)
    kept: dict[str, FactsPayload] = field(default_factory=dict)  # step id -> what it has so far, if it is cut short
    summaries: int = 0  # of older steps that a model was asked for
    calls_under_way: int = 0  # of all steps; the meter grows when a call has ended
    tokens_under_way: int = 0  # that they may take, replies too
    refused: Spent | None = None  # the first limit for which something that a step wanted was left undone

    @property
    def spent(self) -> Spent | None:
        """Why no more model may be asked; None while one may."""
        usage, limits = self.usage, self.limits
        if self.stop.is_set():
            return Spent.STOPPED
        if usage.calls >= limits.model_calls:
            return Spent.MODEL_CALLS
        if usage.prompt_tokens + usage.answer_tokens >= limits.tokens:
            return Spent.TOKENS
        if time.monotonic() - self.started >= limits.seconds:
            return Spent.SECONDS
        return Spent.COST if usage.cost >= limits.cost else None
