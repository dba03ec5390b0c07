"""Keeps the live messages of batches up to date with the worker's progress.

In: due notices from the database. Out: messages sent or edited, then confirmed. Only the database records what was
shown, so a restart continues where the last process stopped. This loop is the only writer of live messages.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import structlog
from aiogram import Bot
from aiogram.exceptions import (
    TelegramAPIError,
    TelegramBadRequest,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramRetryAfter,
)
from aiogram.types import InlineKeyboardMarkup

from adapters.database.stores.intake import NoticeStore
from adapters.database.transport import DatabaseAway, DatabaseError
from bot.replies.bases import name_of_base
from bot.replies.receipts import changes_line, live_message
from bot.telegram import Place, edit, send
from bot.texts import Texts
from domain.documents import DocumentCard, DocumentStatus, Notice
from domain.ids import BatchId, ChatId
from ingestion.changes import Changes

log = structlog.get_logger()

DUE_AT_ONCE = 20
HOLD_S = 30  # lease: a notice that a process took and did not show is due again after it
TOLD_CHANGES = 3  # new versions in one message whose changes are told
ATTEMPTS = 3  # of a notice that fails on a bug of ours; three leases leave time for a newer version to take over
POLL_S = 1.0
CHAT_PAUSE_S = 1.0  # Telegram allows a bot about one message or edit a second in a chat

# The person blocked the bot or left, or the group became another chat. A message that Telegram rejects for its content
# would be rejected every time, so it counts as shown, too; the log has the reason.
_NOBODY_THERE = (TelegramForbiddenError, TelegramMigrateToChat, TelegramBadRequest)


@dataclass(eq=False)
class NoticeLoop:
    """Shows the state of documents in their live messages. Chats do not wait for each other."""

    bot: Bot
    notices: NoticeStore
    texts: Texts
    changes: Callable[[DocumentCard], Awaitable[Changes]] | None = (
        None  # says what a new version of a document changed; without it receipts do not say
    )
    _awake: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _taken: dict[BatchId, Notice] = field(default_factory=dict)  # the latest state read of each, until it is shown
    _order: WeakValueDictionary[ChatId, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    _failed: Counter[BatchId] = field(default_factory=Counter)

    def wake(self) -> None:
        """Look at once: something was enqueued in this process."""
        self._awake.set()

    @asynccontextmanager
    async def showing(self, stop: asyncio.Event) -> AsyncIterator[None]:
        """Run the loop in the background while the context is open; leaving the context sets `stop`. When the loop
        breaks it sets `stop`, too, and its error is raised here: a bot without notices has to be restarted."""
        running = asyncio.create_task(self.run(stop))
        running.add_done_callback(lambda _: stop.set())
        try:
            yield
        finally:
            stop.set()
            self.wake()
            await running

    async def run(self, stop: asyncio.Event) -> None:
        """Show notices until `stop`, then finish those that are being shown."""
        while not stop.is_set():
            await self._look()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._awake.wait(), POLL_S)
            self._awake.clear()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _look(self) -> None:
        try:
            due = await self.notices.due(limit=DUE_AT_ONCE, hold_s=HOLD_S)
        except (DatabaseAway, DatabaseError) as error:  # the loop must survive it: people wait for other notices
            log.warning("notices.not_read", error=type(error).__name__)
            return
        for notice in due:
            is_waiting = notice.batch_id in self._taken  # in a busy chat the lease may end before its turn
            self._taken[notice.batch_id] = notice
            if not is_waiting:
                task = asyncio.create_task(self._show_in_turn(notice.chat_id, notice.batch_id))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _show_in_turn(self, chat: ChatId, batch: BatchId) -> None:
        """What becomes due meanwhile is due once more when this is confirmed."""
        async with self._order.setdefault(chat, asyncio.Lock()):
            notice = self._taken[batch]
            try:
                await self._show(notice)
                await self.notices.confirm(batch, revision=notice.revision)
                self._failed.pop(batch, None)
            except TelegramRetryAfter as error:
                log.info("notices.slowed_down", chat=chat, seconds=error.retry_after)
                await asyncio.sleep(error.retry_after)  # the notice is due again when its lease ends
            except (TelegramAPIError, DatabaseAway) as error:
                log.warning("notices.postponed", batch=batch, error=type(error).__name__)
            except Exception:  # top level of one notice: its bug must not stop the others
                log.exception("notices.failed", batch=batch)
                await self._note_failure(notice)
            del self._taken[batch]
            await asyncio.sleep(CHAT_PAUSE_S)

    async def _note_failure(self, notice: Notice) -> None:
        """It is due again when its lease ends; after the last attempt it counts as shown, until its batch changes."""
        self._failed[notice.batch_id] += 1
        if self._failed[notice.batch_id] < ATTEMPTS:
            return
        log.error("notices.given_up", batch=notice.batch_id, revision=notice.revision)
        with suppress(DatabaseAway, DatabaseError):  # then the next attempt gives it up
            await self.notices.confirm(notice.batch_id, revision=notice.revision)
            del self._failed[notice.batch_id]

    async def _show(self, notice: Notice) -> None:
        """With what newly published versions changed; a list of many has no room for it."""
        words, changes = self.texts.for_language(notice.language), {}
        replaced = [card for card in notice.documents if card.status is DocumentStatus.READY and card.version > 1]
        if self.changes and len(replaced) <= TOLD_CHANGES:
            changes = {card.id: changes_line(await self.changes(card), words) for card in replaced}
        html, keyboard = live_message(notice.documents, words, changes, removed=notice.removed)
        if notice.elsewhere:
            html = f"{words('notice-base', name=name_of_base(notice.elsewhere, words))}\n{html}"
        try:
            await self._write(notice, html, keyboard)
        except _NOBODY_THERE as error:
            log.warning("notices.nobody_there", chat=notice.chat_id, error=type(error).__name__, reason=error.message)

    async def _write(self, notice: Notice, html: str, keyboard: InlineKeyboardMarkup | None) -> None:
        """Edit the live message. Send a new one when there is none, or when a service was away and the person was told
        «закончу сам и сообщу»: an edit notifies nobody. Where all documents were removed, no new one is needed."""
        chat, live, is_wanted = notice.chat_id, notice.message_id, bool(notice.documents)
        is_final = all(document.status.is_final for document in notice.documents)
        is_promised = is_final and any(document.waits_for_service for document in notice.documents)
        if live and not is_promised:
            is_there = await edit(self.bot, chat, live, html, keyboard)
            is_wanted = is_wanted and is_final and not is_there
        if not is_wanted:
            return
        place = Place(chat=chat, thread=notice.thread_id, reply_to=notice.reply_to)
        await self.notices.attach(notice.batch_id, await send(self.bot, place, html, keyboard))
        if live and is_promised:
            with suppress(TelegramBadRequest):  # the person removed it first
                await self.bot.delete_message(chat, live)
