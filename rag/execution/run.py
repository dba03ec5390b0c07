"""What all tools of one turn share: the limits, the stop signal, and the listener for progress.

In: limits, a stop signal, a listener. Out: whether another model call is allowed, and progress for the person. One
object per turn; it runs nothing itself.
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
    """Limits of one turn (issue 6); a question that one search answers comes near none of them."""

    steps: int = 8
    model_calls: int = 60
    tokens: int = 300_000  # of prompts and answers together
    seconds: float = 240.0
    cost: float = 0.5  # US dollars, where the server reports it


class Spent(StrEnum):
    """The limit that a turn has reached."""

    STOPPED = "stopped"  # by the person
    STEPS = "steps"
    MODEL_CALLS = "model_calls"
    TOKENS = "tokens"
    SECONDS = "seconds"
    COST = "cost"


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of one step."""

    step_id: str
    done: int
    total: int


def _unheard(progress: Progress) -> None:
    """The default listener: does nothing."""


@dataclass(kw_only=True)
class Run:
    """Created when the turn begins. `usage` is the turn's meter, which grows with each model call."""

    limits: RunLimits = field(default_factory=RunLimits)
    usage: Usage = field(default_factory=Usage)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    report: Callable[[Progress], None] = _unheard
    started: float = field(default_factory=time.monotonic)
    kept: dict[str, FactsPayload] = field(default_factory=dict)  # step id -> partial result, if it is cut short
    summaries: int = 0  # calls of a model for summaries of older steps
    calls_under_way: int = 0  # of all steps; the meter counts a call only when it has ended
    tokens_under_way: int = 0  # that those calls may take, replies included
    refused: Spent | None = None  # the first limit that kept a step from a call that it wanted

    @property
    def spent(self) -> Spent | None:
        """The limit that forbids another model call; None while there is none."""
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
