"""Keeps work that runs side by side within the turn's limits.

In: the turn's `Run`, and what each call is going to take. Out: whether it may be made. The meter grows when a call has
ended; the `Run` counts those that are on their way too, of all its steps, so that many at once do not overshoot. It
makes no call.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rag.execution.run import Run, Spent


@dataclass(kw_only=True)
class Allowance:
    """One step's. `reply_tokens` is what a reply may take, on top of what is asked."""

    run: Run
    reply_tokens: int
    spared_calls: int = 0  # left for what comes after

    @property
    def spent(self) -> Spent | None:
        """Why nothing more may be asked; None while it may, as far as can be told before the next call's size is."""
        usage, limits = self.run.usage, self.run.limits
        if spent := self.run.spent:
            return spent
        return (
            Spent.MODEL_CALLS
            if usage.calls + self.run.calls_under_way + self.spared_calls >= limits.model_calls
            else None
        )

    def is_over(self) -> bool:
        """Asked where there is more to do: the turn tells people of the limit that keeps it from being done."""
        return self._told(self.spent)

    def allows(self, tokens: int) -> bool:
        """Whether a prompt of that size, and its reply, fit into what is left. The turn tells of a limit that they do
        not fit into."""
        return not self._told(self.refusal(tokens))

    def refusal(self, tokens: int) -> Spent | None:
        """The limit that such a call would go beyond, money by a token's price so far."""
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
        """A call is on its way while this is open."""
        run, taken = self.run, tokens + self.reply_tokens
        run.calls_under_way += 1
        run.tokens_under_way += taken
        try:
            yield
        finally:
            run.calls_under_way -= 1
            run.tokens_under_way -= taken
