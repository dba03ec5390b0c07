"""The live list of a turn's steps, with a stop button.

In: steps as the engine reports them, as often as they change. Out: one message, edited at Telegram's rate limit and
deleted when the answer comes. An error with the list never affects the answer.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import structlog
from aiogram import Bot
from aiogram.exceptions import TelegramAPIError

from bot.keyboards import STOP, button, rows
from bot.replies.rich import to_html
from bot.replies.sending import Place, edit, send
from bot.replies.steps import steps_text
from bot.texts import Words
from domain.ending import end
from domain.ids import MessageId
from rag.progress import StepShown

log = structlog.get_logger()

PAUSE_S = 1.2  # Telegram allows a bot about one message a second in a chat


class LiveSteps:
    """One list at one place. Use it as `async with live_steps(...) as steps`."""

    def __init__(self, bot: Bot, place: Place, words: Words, *, pause_s: float) -> None:
        self._bot = bot
        self._place = place
        self._words = words
        self._pause_s = pause_s
        self._newest: tuple[StepShown, ...] = ()
        self._changed = asyncio.Event()
        self._message: MessageId | None = None
        self._said = ""

    def show(self, steps: Sequence[StepShown]) -> None:
        """Set the current steps; they are shown as soon as Telegram allows."""
        self._newest = tuple(steps)
        self._changed.set()

    async def paint(self) -> None:
        """Show each newest list until cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._paint_once()
            except TelegramAPIError as error:
                log.info("steps.paint_failed", chat=self._place.chat, error=type(error).__name__)
            await asyncio.sleep(self._pause_s)

    async def remove(self) -> None:
        """Delete the list."""
        if self._message:
            with contextlib.suppress(TelegramAPIError):
                await self._bot.delete_message(self._place.chat, self._message)

    async def _paint_once(self) -> None:
        html = to_html(steps_text(self._newest, self._words))
        if html == self._said:
            return
        keyboard = rows([button(self._words.plain("button-enough"), STOP)])
        if self._message is None:
            self._message = await send(self._bot, self._place, html, keyboard)
        else:
            await edit(self._bot, self._place.chat, self._message, html, keyboard)
        self._said = html


@asynccontextmanager
async def live_steps(bot: Bot, place: Place, words: Words, *, pause_s: float = PAUSE_S) -> AsyncIterator[LiveSteps]:
    """Shows the list while the context is open and deletes it afterwards, also when the turn fails."""
    steps = LiveSteps(bot, place, words, pause_s=pause_s)
    painting = asyncio.create_task(steps.paint())
    try:
        yield steps
    finally:
        await end(painting)
        await steps.remove()
