"""Shows an answer while it is being written, and before it the steps of its turn while they run.

In: the answer so far and the steps, as often as they change. Out: a growing draft (private chats) or an edited message,
with a button that stops it, and in the end the messages that stay; one message with the list of steps and a
button that stops them, deleted when the answer comes. Each update shows the newest text, at Telegram's rate limits.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import structlog
from aiogram import Bot
from aiogram.enums import ChatAction
from aiogram.exceptions import TelegramAPIError, TelegramNetworkError, TelegramRetryAfter
from aiogram.types import InlineKeyboardMarkup

from bot.replies.rich import RichText, split_rich, to_html
from bot.telegram import Place, edit, send
from domain.ending import end
from domain.ids import MessageId

log = structlog.get_logger()

DRAFT_PAUSE_S = 0.7
EDIT_PAUSE_S = 1.0  # Telegram allows a bot about one message a second in a chat
TYPING_PAUSE_S = 4.0  # Telegram hides «печатает…» after five seconds


class _Sent(NamedTuple):
    """A message of the answer, as it stands in the chat."""

    id: MessageId
    html: str
    keyboard: InlineKeyboardMarkup | None


@dataclass(eq=False)
class GrowingText:
    """One text on its way to one place."""

    bot: Bot
    place: Place
    stop: InlineKeyboardMarkup | None  # below a growing message; a draft has Telegram's own button instead
    drafts: bool  # exist in private chats only, and not on every server
    _newest: Callable[[], RichText] | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _finishing: asyncio.Event = field(default_factory=asyncio.Event)
    _painting: asyncio.Lock = field(default_factory=asyncio.Lock)  # a late request must not overwrite a newer text
    _sent: list[_Sent] = field(default_factory=list)  # the messages that stay
    _draft: str = ""  # the draft's current HTML
    _draft_id: int = field(default_factory=lambda: secrets.randbelow(2**31 - 1) + 1)

    def grow(self, text: Callable[[], RichText]) -> None:
        """Set the text so far, which is rendered when Telegram allows to show it."""
        self._newest = text
        self._changed.set()

    async def finish(self, text: RichText, keyboard: InlineKeyboardMarkup | None) -> None:
        """Make the text permanent, with `keyboard` below its last message. Raises TelegramAPIError on failure."""
        self._finishing.set()
        self._changed.set()
        async with self._painting:
            pieces = [to_html(piece) for piece in split_rich(text)]
            for number, piece in enumerate(pieces):
                await self._settle(number, piece, keyboard if number == len(pieces) - 1 else None)
            await self.drop_from(len(pieces))

    async def leave(self) -> None:
        """Clean up when `finish` was never called: what was shown stays, without the stop button."""
        if not self._finishing.is_set() and self._sent and (last := self._sent[-1]).keyboard:
            with suppress(TelegramAPIError):
                await edit(self.bot, self.place.chat, last.id, last.html)

    async def keep_typing(self) -> None:
        """Show «печатает…» until the person sees anything of the text."""
        while not (self._sent or self._draft):
            with suppress(TelegramAPIError):
                place = self.place
                await self.bot.send_chat_action(place.chat, ChatAction.TYPING, message_thread_id=place.thread)
            await asyncio.sleep(TYPING_PAUSE_S)

    async def paint(self) -> None:
        while not self._finishing.is_set():
            await self._changed.wait()
            self._changed.clear()
            async with self._painting:
                if self._newest is not None and not self._finishing.is_set():
                    await self._show(self._newest())
            await self._pause(DRAFT_PAUSE_S if self.drafts else EDIT_PAUSE_S)

    async def _show(self, text: RichText) -> None:
        """Show the text. All pieces but the last are full and become messages that stay; the last one keeps growing."""
        pieces = [to_html(piece) for piece in split_rich(text)]
        try:
            for number, piece in enumerate(pieces[:-1]):
                await self._settle(number, piece, None)
            if pieces and self.drafts:
                await self._show_draft(pieces[-1])
            if pieces and not self.drafts:
                await self._settle(len(pieces) - 1, pieces[-1], self.stop)
        except TelegramRetryAfter as error:
            await self._pause(error.retry_after)
        except TelegramAPIError as error:  # `finish` meets it again, if it lasts
            log.info("answer.paint_failed", chat=self.place.chat, error=type(error).__name__)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._finishing.wait(), seconds)

    async def _show_draft(self, html: str) -> None:
        if html == self._draft:
            return
        try:
            await self.bot.send_message_draft(
                self.place.chat,
                draft_id=self._draft_id,
                text=html,
                message_thread_id=self.place.thread,
                can_stop=True,  # Telegram's own button: a draft has no keyboard
                keep_on_stop=True,  # the draft stays visible until the final message comes
            )
        except (TelegramRetryAfter, TelegramNetworkError):
            raise
        except TelegramAPIError as error:
            log.info("answer.drafts_refused", chat=self.place.chat, error=type(error).__name__)
            self.drafts = False
            return
        self._draft = html

    async def _settle(self, number: int, html: str, keyboard: InlineKeyboardMarkup | None) -> None:
        """Make message `number` of the text show `html`; a message that can no longer be edited is sent again."""
        if number < len(self._sent):
            sent = self._sent[number]
            if (sent.html, sent.keyboard) == (html, keyboard):
                return
            if await edit(self.bot, self.place.chat, sent.id, html, keyboard):
                self._sent[number] = _Sent(sent.id, html, keyboard)
                return
            await self.drop_from(number)
        self._sent.append(_Sent(await send(self.bot, self.place, html, keyboard), html, keyboard))

    async def drop_from(self, number: int) -> None:
        """Delete the messages from `number` on: the text has become shorter, or they are sent again."""
        for sent in self._sent[number:]:
            with suppress(TelegramAPIError):
                await self.bot.delete_message(self.place.chat, sent.id)
        del self._sent[number:]


@asynccontextmanager
async def streamed_answer(bot: Bot, place: Place, stop: InlineKeyboardMarkup | None) -> AsyncIterator[GrowingText]:
    """Shows «печатает…» until some text is visible, and then the growing answer. Both tasks end with the context."""
    answer = GrowingText(bot, place, stop, drafts=place.is_private)
    tasks = [asyncio.create_task(work) for work in (answer.paint(), answer.keep_typing())]
    try:
        yield answer
    finally:
        await end(*tasks)
        await answer.leave()


@asynccontextmanager
async def live_steps(bot: Bot, place: Place, stop: InlineKeyboardMarkup | None) -> AsyncIterator[GrowingText]:
    """Shows the list in a message while the context is open and deletes it afterwards, also when the turn fails."""
    steps = GrowingText(bot, place, stop, drafts=False)
    painting = asyncio.create_task(steps.paint())
    try:
        yield steps
    finally:
        await end(painting)
        await steps.drop_from(0)
