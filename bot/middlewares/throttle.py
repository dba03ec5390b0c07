"""Limits how much one person may send in a minute.

In: messages and button presses. Out: those within the limit; the first one beyond it is answered with a warning, the
others are dropped. Messages that arrive in bursts (a folder, an album or a forwarded conversation dropped into База)
have a larger limit of their own. In Чат only files have it: voice messages and forwards are questions there.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiogram import BaseMiddleware
from aiogram.types import CallbackQuery, Message, TelegramObject

from bot.middlewares import Handler
from bot.middlewares.reply import answer_event, words_for
from bot.services import Services

WINDOW_S = 60.0
BURST_FACTOR = 10  # a file or forward costs a row in the queue, a question costs a model call
FILES = ("document", "photo", "audio", "video", "animation")
BURSTS = (*FILES, "voice", "video_note", "forward_origin")
"""Fields of messages that people select and send many at a time."""


@dataclass
class _Recent:
    times: deque[float] = field(default_factory=deque)
    warned: bool = False


class Throttle(BaseMiddleware):
    """Counts per person, in memory; a restart resets the counts."""

    def __init__(
        self, services: Services, *, bursts: Sequence[str] = BURSTS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Messages with one of the fields in `bursts` have the larger limit."""
        self._services = services
        self._bursts = bursts
        self._clock = clock
        self._recent: dict[tuple[int, bool], _Recent] = {}

    async def __call__(self, handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
        """See the module."""
        if not isinstance(event, Message | CallbackQuery) or event.from_user is None:
            return None
        in_burst = isinstance(event, Message) and any(getattr(event, name) for name in self._bursts)
        recent = self._of(event.from_user.id, in_burst)
        limit = self._services.messages_per_minute * (BURST_FACTOR if in_burst else 1)
        if len(recent.times) < limit:
            recent.times.append(self._clock())
            return await handler(event, data)
        if not recent.warned or isinstance(event, CallbackQuery):  # an unanswered button keeps spinning
            recent.warned = True
            key = "too-often-pressed" if isinstance(event, CallbackQuery) else "too-often"
            await answer_event(event, words_for(event, self._services), key, in_reply=True)
        return None

    def _of(self, user: int, in_burst: bool) -> _Recent:
        """What this person sent in the last minute; entries of people who sent nothing are dropped."""
        horizon = self._clock() - WINDOW_S
        for key, recent in list(self._recent.items()):
            while recent.times and recent.times[0] <= horizon:
                recent.times.popleft()
                recent.warned = False
            if not recent.times:
                del self._recent[key]
        return self._recent.setdefault((user, in_burst), _Recent())
