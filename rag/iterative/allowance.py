"""Keeps concurrent work within the turn's limits.

In: the turn's `Run`, and the expected size of each call. Out: whether the call is allowed. The meter counts a call when
it has ended; the `Run` also counts the calls under way of all steps, so that concurrent calls do not overshoot. It
makes no call.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rag.execution.run import Run, Spent


@dataclass(kw_only=True)
class Allowance:
    """The allowance of one step. `reply_tokens` is what a reply may take, in addition to the prompt."""

    run: Run
    reply_tokens: int
    spared_calls: int = 0  # reserved for later stages

    @property
    def spent(self) -> Spent | None:
        """The limit that forbids any further call; None while one is allowed, its size not considered."""
        usage, limits = self.run.usage, self.run.limits
        if spent := self.run.spent:
            return spent
        return (
            Spent.MODEL_CALLS
            if usage.calls + self.run.calls_under_way + self.spared_calls >= limits.model_calls
            else None
        )

    def is_over(self) -> bool:
        """Whether a limit is reached. Call it only where work is left: the limit is recorded, and people are told."""
        return self._told(self.spent)

    def allows(self, tokens: int) -> bool:
        """Whether a prompt of that size and its reply fit into what is left. If not, the limit is recorded, and people
        are told."""
        return not self._told(self.refusal(tokens))

    def refusal(self, tokens: int) -> Spent | None:
        """The limit that such a call would exceed; its cost is estimated from the average price per token so far."""
        usage, limits = self.run.usage, self.run.limits
        asked = self.run.tokens_under_way + tokens + self.reply_tokens
        price = usage.cost / usage.tokens if usage.tokens else 0.0
        if spent := self.spent:
            return spent
        if usage.tokens + asked > limits.tokens:
            return Spent.TOKENS
        return Spent.COST if usage.cost + price * asked > limits.cost else None

    def _told(self, limit: Spent | None) -> bool:
        self.run.refused = self.run.refused or limit
        return limit is not None

    @contextmanager
    def calling(self, tokens: int) -> Iterator[None]:
        """A call is under way while this is open."""
        run, taken = self.run, tokens + self.reply_tokens
        run.calls_under_way += 1
        run.tokens_under_way += taken
        try:
            yield
        finally:
            run.calls_under_way -= 1
            run.tokens_under_way -= taken
