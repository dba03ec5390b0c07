"""Stops calling a model that does not answer, so that people need not wait for its timeout again and again.

In: how calls ended. Out: whether the next one may be made. It makes no call itself; one breaker belongs to one model.
"""

from collections.abc import Callable
from time import monotonic

FAILURES = 3  # in a row; one timeout may be bad luck
REST_S = 30.0  # then one call is let through to see


class CircuitBreaker:
    """Closed while a model answers; open for `rest_s` after `failures` in a row; then half open."""

    def __init__(
        self, *, failures: int = FAILURES, rest_s: float = REST_S, clock: Callable[[], float] = monotonic
    ) -> None:
        self._limit = failures
        self._rest_s = rest_s
        self._clock = clock
        self._failed = 0
        self._opened_at = 0.0

    @property
    def is_open(self) -> bool:
        """Open, and not yet to be tried again. Reading this changes nothing."""
        return self._failed >= self._limit and self._clock() - self._opened_at < self._rest_s

    def allows_call(self) -> bool:
        """Whether a call may be made now. Half open, the first to ask gets the only trial call: asking uses it up."""
        if self._failed < self._limit:
            return True
        if self._clock() - self._opened_at < self._rest_s:
            return False
        self._opened_at = self._clock()  # the other callers wait for what this one finds
        return True

    def succeeded(self) -> None:
        """It answered, if only with nonsense or a refusal: it is up."""
        self._failed = 0

    def failed(self) -> None:
        """It did not answer."""
        self._failed += 1
        if self._failed >= self._limit:  # also when it was tried again after its rest
            self._opened_at = self._clock()
