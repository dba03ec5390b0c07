"""Speaks with Jina over one HTTP client: sends, waits, tries again, reads.

In: a path, a body and a function that reads the reply. Out: what that function returns, or `JinaFault`. It does not
know what an embedding is. Documents are asked for side by side up to `concurrency` and no faster than the account's
tier allows; questions never queue behind them.
"""

import asyncio
import itertools
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import httpx
import structlog

from adapters.jina.faults import Fate, JinaFault, fault_of
from adapters.jina.pace import Pace, Tier
from domain.locator import JsonValue
from domain.waiting import retry_after_s

CONNECT_S = 10.0
FIRST_PAUSE_S = 0.5  # doubled at each further try, give or take a quarter
ASKS = 2  # a reply that makes no sense is asked for once more
SILENCE_S = 60.0  # after a question that was not answered: further ones fail at once
PROBE_S = 20.0  # between two background probes; an answer of any kind ends them and the silence
PROBES = 30  # ten minutes: a late answer may be charged all the same, also at night, when nobody asks

Read = TypeVar("Read")
Body = Mapping[str, JsonValue]


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long a call may take."""

    tries: int
    pauses_s: float  # all pauses between tries together; a longer Retry-After is passed on to the caller
    longest_try_s: float | None = None  # shorter than the client's own timeout
    queues: bool = True  # takes one of the `concurrency` places, and its turn in the minute


DOCUMENT_PATIENCE = Patience(tries=3, pauses_s=30)
QUESTION_PATIENCE = Patience(tries=2, pauses_s=3, longest_try_s=10, queues=False)  # a person waits, words find too


class JinaClient:
    """One account at one address. Make it with `open_jina`."""

    def __init__(self, http: httpx.AsyncClient, *, timeout_s: float, concurrency: int, tier: Tier) -> None:
        self._http = http
        self._timeout_s = timeout_s
        self._places = asyncio.Semaphore(concurrency)
        self._pace = Pace(tier)
        self._silent_until: dict[str, float] = {}  # for questions: path -> time
        self._probes: dict[str, asyncio.Task[None]] = {}

    async def ask(
        self, path: str, body: Body, read: Callable[[bytes], Read], *, patience: Patience, tokens: int
    ) -> Read:
        """POST and read. `read` raises ValueError (pydantic's is one) for a reply that makes no sense. `tokens`: what
        the request costs, see `pace.estimate_cost`."""
        for asked in range(1, ASKS + 1):
            content = await self._send(path, body, patience, tokens)
            try:
                return read(content)
            except ValueError as error:
                structlog.get_logger().warning("jina.nonsense", path=path, asked=asked, bytes=len(content))
                nonsense = JinaFault(Fate.NONSENSE, f"a reply from {path} that cannot be used ({type(error).__name__})")
        raise nonsense

    async def _send(self, path: str, body: Body, patience: Patience, tokens: int) -> bytes:
        paused_s = 0.0
        for tried in itertools.count(1):
            outcome = await self._try(path, body, patience, tokens)
            if isinstance(outcome, bytes):
                return outcome
            pause_s = _pause_s(outcome, tried)
            if outcome.fate is not Fate.AWAY or tried >= patience.tries or paused_s + pause_s > patience.pauses_s:
                raise outcome
            structlog.get_logger().info("jina.retry", path=path, tried=tried, pause_s=pause_s, why=outcome.detail)
            await asyncio.sleep(pause_s)
            paused_s += pause_s
        raise AssertionError("unreachable: the loop has no end")  # for the type checker

    async def _try(self, path: str, body: Body, patience: Patience, tokens: int) -> bytes | JinaFault:
        async with AsyncExitStack() as stack:
            if not patience.queues:
                if (silence_s := self._silent_until.get(path, 0.0) - time.monotonic()) > 0:
                    raise JinaFault(Fate.AWAY, "did not answer a question just now", retry_after_s=silence_s)
                self._pace.count(tokens)
            elif self._pace.rest_s > patience.pauses_s:  # the server has told another request to wait that long
                return JinaFault(Fate.AWAY, "asked to be left alone", retry_after_s=self._pace.rest_s)
            else:
                await stack.enter_async_context(self._places)
                await self._pace.wait(tokens)
            outcome = await self._post(path, body, patience)
        if path in self._silent_until and path not in self._probes:
            self._probes[path] = asyncio.create_task(self._probe(path, body, patience, tokens))
        if isinstance(outcome, JinaFault) and outcome.retry_after_s is not None:
            self._pace.rest(outcome.retry_after_s)
        return outcome

    async def _probe(self, path: str, body: Body, patience: Patience, tokens: int) -> None:
        """Repeat in the background a question that was not answered, so that no person has to find out that it still
        hangs.

        After PROBES in vain a person does: the next question waits for an answer, and begins the probes anew.
        """
        try:
            await asyncio.sleep(PROBE_S)
            for _ in range(PROBES):
                if path not in self._silent_until:
                    return
                self._pace.count(tokens)
                await self._post(path, body, patience)
                await asyncio.sleep(PROBE_S)
        finally:
            del self._probes[path]

    async def close(self) -> None:
        """End the background probes."""
        probes = list(self._probes.values())
        for probe in probes:
            probe.cancel()
        await asyncio.gather(*probes, return_exceptions=True)

    async def _post(self, path: str, body: Body, patience: Patience) -> bytes | JinaFault:
        limit_s = min(self._timeout_s, patience.longest_try_s or self._timeout_s)
        started = time.monotonic()
        try:
            async with asyncio.timeout(limit_s):  # httpx's own is between bytes and never ends on a trickle
                response = await self._http.post(path, json=body)
        except (TimeoutError, httpx.TimeoutException):
            if not patience.queues:
                self._silent_until[path] = time.monotonic() + SILENCE_S
            return JinaFault(Fate.AWAY, f"no answer in {limit_s:g} s")
        except httpx.HTTPError as error:
            return JinaFault(Fate.AWAY, type(error).__name__)
        self._silent_until.pop(path, None)
        seconds = round(time.monotonic() - started, 3)
        structlog.get_logger().debug("jina.answered", path=path, status=response.status_code, seconds=seconds)
        if response.is_success:
            return response.content
        wait_s = retry_after_s(response.headers.get("Retry-After"), now=datetime.now(UTC))
        return fault_of(response, retry_after_s=wait_s)


def _pause_s(fault: JinaFault, tried: int) -> float:
    """What the server asks for, else 0.5, 1, 2 s ... give or take a quarter, so that callers do not come in step."""
    if fault.retry_after_s is not None:
        return fault.retry_after_s
    return FIRST_PAUSE_S * 2.0 ** (tried - 1) * random.uniform(0.75, 1.25)  # noqa: S311 - spreads load, guards nothing


@asynccontextmanager
async def open_jina(
    *, base_url: str, api_key: str, timeout_s: float, tier: Tier, concurrency: int | None = None
) -> AsyncIterator[JinaClient]:
    """A client for the time of the block. `timeout_s` bounds one try, `concurrency` the requests for documents (None:
    as many as the tier allows, less one for questions)."""
    async with httpx.AsyncClient(
        base_url=base_url,
        headers={"Authorization": f"Bearer {api_key}"},
        timeout=httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
    ) as http:
        places = concurrency or max(1, tier.concurrency - 1)
        client = JinaClient(http, timeout_s=timeout_s, concurrency=places, tier=tier)
        try:
            yield client
        finally:
            await client.close()
