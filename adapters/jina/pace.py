"""How fast Jina may be asked: requests and tokens a minute, and pauses that it asks for.

In: a tier, and the tokens of each request. Out: seconds to wait. It sends nothing. No 60 seconds ever hold more than
the tier allows, whenever the service's own minute begins.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MINUTE_S = 60.0
CHARS_A_TOKEN = 3  # of jina-embeddings-v3 in Russian: 3.3 to 4 in running text. Fewer characters: slower, never over


@dataclass(frozen=True, kw_only=True)
class Tier:
    """What one kind of account may do."""

    requests_a_minute: int
    tokens_a_minute: int
    concurrency: int  # requests at the same time


# As Jina published them in 2026 (its OpenAPI description; reference/apis.md, section 2).
TIERS = {
    "free": Tier(requests_a_minute=500, tokens_a_minute=1_000_000, concurrency=5),
    "paid": Tier(requests_a_minute=500, tokens_a_minute=10_000_000, concurrency=50),
    "premium": Tier(requests_a_minute=5_000, tokens_a_minute=100_000_000, concurrency=500),
}


def estimate_cost(texts: Sequence[str]) -> int:
    """Tokens of all texts, rather more than they will be."""
    return sum(len(text) // CHARS_A_TOKEN + 1 for text in texts)


class Pace:
    """One account's last minute."""

    def __init__(self, tier: Tier, clock: Callable[[], float] = time.monotonic) -> None:
        self._tier = tier
        self._clock = clock
        self._asked: deque[tuple[float, int]] = deque()  # when, and how many tokens
        self._tokens = 0
        self._rests_until = 0.0

    async def wait(self, tokens: int) -> None:
        """Return when a request of so many tokens may be sent, and count it."""
        pause_s = self.pause_s(tokens)
        while pause_s > 0:
            await asyncio.sleep(pause_s)
            pause_s = self.pause_s(tokens)  # others may have gone first
        self.count(tokens)

    def count(self, tokens: int) -> None:
        """Count a request that is being sent, whether there was room for it or not."""
        self._forget_old(self._clock())  # here, too: where only questions are asked nobody calls `wait`
        self._asked.append((self._clock(), tokens))
        self._tokens += tokens

    def rest(self, seconds: float) -> None:
        """Pause for so long, as the service has asked."""
        self._rests_until = max(self._rests_until, self._clock() + seconds)

    @property
    def rest_s(self) -> float:
        """Seconds that are left of that pause."""
        return max(0.0, self._rests_until - self._clock())

    def pause_s(self, tokens: int) -> float:
        """Seconds until there is room for so many tokens; 0 when there is now."""
        now = self._clock()
        self._forget_old(now)
        return max(self.rest_s, self._until_room(tokens, now))

    @property
    def remembered(self) -> int:
        """Requests that count towards the minute."""
        return len(self._asked)

    def _forget_old(self, now: float) -> None:
        while self._asked and self._asked[0][0] <= now - MINUTE_S:
            self._tokens -= self._asked.popleft()[1]

    def _until_room(self, tokens: int, now: float) -> float:
        requests, used = len(self._asked), self._tokens
        waited = 0.0
        for asked_at, cost in self._asked:
            if requests < self._tier.requests_a_minute and used + tokens <= self._tier.tokens_a_minute:
                break
            requests, used, waited = requests - 1, used - cost, asked_at + MINUTE_S - now
        return waited
