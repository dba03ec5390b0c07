"""How much one person may send in a minute.

In: messages and button presses. Out: those within the limit; the first one beyond it is answered with a warning, the
others are dropped. What comes many at a time has a larger limit of its own: a folder or an album dropped into База and
a conversation forwarded to it arrive as one burst. In Чат files alone do: voice messages and forwards are questions.
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
BURST_FACTOR = 10  # files and forwards cost a row in the queue, questions cost a model
FILES = ("document", "photo", "audio", "video", "animation")
BURSTS = (*FILES, "voice", "video_note", "forward_origin")
"""Fields of a message that is picked with others and sent at once."""


@dataclass
class _Recent:
    times: deque[float] = field(default_factory=deque)
    warned: bool = False


class Throttle(BaseMiddleware):
    """Counts in memory, for each person; a restart forgets it."""

    def __init__(
        self, services: Services, *, bursts: Sequence[str] = BURSTS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Messages with one of the fields `bursts` have the larger limit."""
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
        """What this person sent lately; people who are quiet again are forgotten."""
        horizon = self._clock() - WINDOW_S
        for key, recent in list(self._recent.items()):
            while recent.times and recent.times[0] <= horizon:
                recent.times.popleft()
                recent.warned = False
            if not recent.times:
                del self._recent[key]
        return self._recent.setdefault((user, in_burst), _Recent())
