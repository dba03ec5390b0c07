"""Who may talk to the bot (ALLOWED_USERS).

In: messages and button presses. Out: those of allowed people. Others get one sentence with their user id, then no
answer for an hour. Presses are answered every time: only the presser sees it, and an unanswered button keeps spinning.
"""

import time
from collections.abc import Callable
from typing import Any

import structlog
from aiogram import BaseMiddleware
from aiogram.types import CallbackQuery, Message, TelegramObject, User

from bot.middlewares import Handler
from bot.middlewares.reply import answer_event, words_for
from bot.services import Services
from domain.ids import UserId

log = structlog.get_logger()

SILENCE_S = 3600.0


class Access(BaseMiddleware):
    """Lets allowed people through."""

    def __init__(self, services: Services, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._services = services
        self._clock = clock
        self._told_at: dict[int, float] = {}

    async def __call__(self, handler: Handler, event: TelegramObject, data: dict[str, Any]) -> Any:
        """See the module."""
        if not isinstance(event, Message | CallbackQuery) or event.from_user is None:
            return None
        if self._services.is_allowed(UserId(event.from_user.id)):
            return await handler(event, data)
        if isinstance(event, Message) and event.left_chat_member:
            return None  # they said nothing
        return await self._refuse(event, event.from_user)

    async def _refuse(self, event: Message | CallbackQuery, person: User) -> None:
        now = self._clock()
        self._told_at = {user: at for user, at in self._told_at.items() if now - at < SILENCE_S}
        if person.id in self._told_at and isinstance(event, Message):
            return
        self._told_at.setdefault(person.id, now)
        log.info("access.refused", user=person.id)
        await answer_event(event, words_for(event, self._services), "refused", user=str(person.id))
