"""Fault injection for tests: refusals, delays and dropped connections for the next calls of a method.

In: POST /control/faults with `{"method", "error_code"?, "retry_after"?, "description"?, "drop"?, "delay"?, "times"?}`.
Out: the method fails `times` times, then works again. `DELETE /control/faults` removes all faults.
"""

import asyncio
import math
from collections import deque
from dataclasses import dataclass, replace

from aiohttp import web

from localchat.checks import Refused

_SENTENCES = {429: "Too Many Requests: retry after {retry_after}", 500: "Internal Server Error", 502: "Bad Gateway"}
# core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
_RATES = ((30, 1.0), (1, 1.0), (20, 60.0))  # calls and seconds: all chats, one chat, one group
BURST = 5  # messages that one chat may get at once; Telegram only says that it allows "short bursts"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What goes wrong, and for how many more calls."""

    method: str  # lower case; "*" is every method but getUpdates
    code: int | None = None
    retry_after: int | None = None
    description: str | None = None
    drop: bool = False
    delay_s: float = 0.0
    times: int = 1


class DroppedConnection(Exception):
    """The call gets no answer at all."""


class Faults:
    """The pending faults."""

    def __init__(self) -> None:
        self._due: list[Fault] = []

    def add(self, fault: Fault) -> None:
        self._due.append(fault)

    def clear(self) -> None:
        self._due.clear()

    async def meet(self, method: str) -> None:
        """Apply the pending fault of this method, if any. Raises Refused or DroppedConnection."""
        fault = self._take(method)
        if fault is None:
            return
        await asyncio.sleep(fault.delay_s)
        if fault.drop:
            raise DroppedConnection
        if fault.code is not None:
            known = _SENTENCES.get(fault.code, "Bad Request: a fault on demand")
            sentence = fault.description or known.format(retry_after=fault.retry_after)
            raise Refused(sentence, code=fault.code, retry_after=fault.retry_after)

    def _take(self, method: str) -> Fault | None:
        for place, fault in enumerate(self._due):
            if fault.method == method or (fault.method == "*" and method != "getupdates"):
                self._due[place : place + 1] = [replace(fault, times=fault.times - 1)] if fault.times > 1 else []
                return fault
        return None


async def read_fault(request: web.Request) -> Fault:
    """The body of POST /control/faults. Raises web.HTTPBadRequest when it names no method."""
    body = await request.json()
    if not isinstance(body, dict) or not body.get("method"):
        raise web.HTTPBadRequest(text="name the method, or * for all")
    return Fault(
        method=str(body["method"]).lower(),
        code=body.get("error_code"),
        retry_after=body.get("retry_after"),
        description=body.get("description"),
        drop=bool(body.get("drop")),
        delay_s=float(body.get("delay", 0)),
        times=int(body.get("times", 1)),
    )


class Rates:
    """Telegram's sending limits, roughly: 30 a second in all, one a second in a chat, 20 a minute in a group."""

    def __init__(self) -> None:
        self._sent: dict[str, deque[float]] = {}

    def check(self, chat_id: str, now: float) -> None:
        """Count one sent message. Raises Refused 429 with the seconds to wait when a limit is reached."""
        names = ["all", f"chat {chat_id}", *([f"group {chat_id}"] if chat_id.startswith("-") else [])]
        waits = [self._wait(name, now, *rate) for name, rate in zip(names, _RATES, strict=False)]
        if (wait := math.ceil(max(waits))) > 0:
            raise Refused(f"Too Many Requests: retry after {wait}", code=429, retry_after=wait)
        for name in names:
            self._sent[name].append(now)

    def _wait(self, name: str, now: float, calls: int, seconds: float) -> float:
        calls, seconds = (calls * BURST, seconds * BURST) if calls == 1 else (calls, seconds)
        sent = self._sent.setdefault(name, deque())
        while sent and sent[0] <= now - seconds:
            sent.popleft()
        return sent[0] + seconds - now if len(sent) >= calls else 0.0
