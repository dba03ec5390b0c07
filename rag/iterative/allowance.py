"""Keeps work that runs side by side within the turn's limits.

In: the turn's `Run`, and what each call is going to take. Out: whether it may be made. The meter grows when a call has
ended; this counts those that are on their way too, so that four at once do not overshoot. It makes no call.
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
    _calls: int = 0  # on their way
    _tokens: int = 0

    @property
    def spent(self) -> Spent | None:
        """Why nothing more may be asked; None while it may, as far as can be told before the next call's size is."""
        usage, limits = self.run.usage, self.run.limits
        if spent := self.run.spent:
            return spent
        return Spent.MODEL_CALLS if usage.calls + self._calls + self.spared_calls >= limits.model_calls else None

    def allows(self, tokens: int) -> bool:
        """Whether a prompt of that size, and its reply, fit into what is left."""
        usage = self.run.usage
        used = usage.prompt_tokens + usage.answer_tokens + self._tokens
        return self.spent is None and used + tokens + self.reply_tokens <= self.run.limits.tokens

    @contextmanager
    def calling(self, tokens: int) -> Iterator[None]:
        """A call is on its way while this is open."""
        self._calls += 1
        self._tokens += tokens + self.reply_tokens
        try:
            yield
        finally:
            self._calls -= 1
            self._tokens -= tokens + self.reply_tokens
