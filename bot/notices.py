"""Keeps the live messages of batches in step with what the worker has reached.

In: due notices from the database. Out: messages sent or edited, then confirmed. What was shown is remembered in the
database alone, so a restart goes on where the last process stopped. It is the only writer of live messages. A notice
that cannot be shown for a reason of its own is given up after a few tries.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

import structlog
from aiogram import Bot
from aiogram.exceptions import (
    TelegramAPIError,
    TelegramBadRequest,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramRetryAfter,
)

from adapters.database.errors import DatabaseAway, DatabaseError
from bot.ports import Notices
from bot.replies.changes import changes_line
from bot.replies.receipts import LiveMessage, live_message
from bot.replies.sending import Place, edit, send
from bot.texts import Texts, Words
from domain.documents import DocumentCard, DocumentStatus, Notice
from domain.ids import BatchId, ChatId, DocumentId, MessageId
from ingestion.changes import Changes

log = structlog.get_logger()

DUE_AT_ONCE = 20
HOLD_S = 30  # a notice that another process took and could not show is due again after that
ATTEMPTS = 3  # of a notice that breaks on a mistake of ours; as many holds are enough for a newer version to take over
CHAT_PAUSE_S = 1.0  # Telegram allows a bot about one message or edit a second in a chat

Comparison = Callable[[DocumentCard], Awaitable[Changes]]

# The person blocked the bot, left, or the chat became another one. A message that Telegram refuses for itself would be
# refused again each time, so it counts as shown, too; the log has the reason.
_NOBODY_THERE = (TelegramForbiddenError, TelegramMigrateToChat, TelegramBadRequest)


class NoticeLoop:
    """Shows what has become of documents. Chats do not wait for each other."""

    def __init__(
        self,
        bot: Bot,
        notices: Notices,
        texts: Texts,
        *,
        changes: Comparison | None = None,
        poll_s: float = 1.0,
        chat_pause_s: float = CHAT_PAUSE_S,
    ) -> None:
        """`changes` says what a new version of a document changed; without it receipts do without."""
        self._bot = bot
        self._changes = changes
        self._notices = notices
        self._texts = texts
        self._poll_s = poll_s
        self._chat_pause_s = chat_pause_s
        self._awake = asyncio.Event()
        self._tasks: dict[ChatId, asyncio.Task[None]] = {}
        self._taken: dict[BatchId, Notice] = {}  # how each stood when last looked at, until it was shown
        self._shown_at: dict[ChatId, float] = {}  # monotonic seconds
        self._failed: Counter[BatchId] = Counter()

    def wake(self) -> None:
        """Look at once: something was enqueued in this process."""
        self._awake.set()

    @asynccontextmanager
    async def showing(self, stop: asyncio.Event) -> AsyncIterator[None]:
        """`run` beside what is done while the context is open, whose end is that of `stop`. Where the loop breaks, it
        sets `stop`, and its error is raised here: a bot that tells people nothing more has to be started anew."""
        running = asyncio.create_task(self.run(stop))
        running.add_done_callback(lambda _: stop.set())
        try:
            yield
        finally:
            stop.set()
            await running

    async def run(self, stop: asyncio.Event) -> None:
        """Show notices until `stop`; what is being shown then is finished."""
        stopping = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                await self._look()
                await self._rest(stopping)
        finally:
            stopping.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks.values())

    async def _look(self) -> None:
        try:
            due = await self._notices.due(limit=DUE_AT_ONCE, hold_s=HOLD_S)
        except (DatabaseAway, DatabaseError) as error:  # whatever it is, people wait for the other notices
            log.warning("notices.not_read", error=type(error).__name__)
            return
        by_chat: dict[ChatId, list[BatchId]] = {}
        for notice in due:
            if notice.problem is not None:
                log.error("notices.unreadable", batch=notice.batch_id, problem=notice.problem)
                await self._note_failure(notice)
                continue
            if notice.batch_id not in self._taken:  # in a chat with many, the hold ends before their turn comes
                by_chat.setdefault(notice.chat_id, []).append(notice.batch_id)
            self._taken[notice.batch_id] = notice
        for chat, batches in by_chat.items():
            before = self._tasks.get(chat)
            task = self._tasks[chat] = asyncio.create_task(self._show_in_turn(before, chat, batches))
            task.add_done_callback(partial(self._forget, chat))

    async def _rest(self, stopping: "asyncio.Task[bool]") -> None:
        woken = asyncio.create_task(self._awake.wait())
        await asyncio.wait({woken, stopping}, timeout=self._poll_s, return_when=asyncio.FIRST_COMPLETED)
        woken.cancel()
        self._awake.clear()

    def _forget(self, chat: ChatId, done: "asyncio.Task[None]") -> None:
        if self._tasks.get(chat) is done:
            del self._tasks[chat]
        if not done.cancelled() and (error := done.exception()):
            log.error("notices.failed", chat=chat, exc_info=error)

    async def _show_in_turn(
        self, before: "asyncio.Task[None] | None", chat: ChatId, batches: Sequence[BatchId]
    ) -> None:
        left = list(batches)
        try:
            if before:
                await asyncio.wait({before})
            while left:
                await self._show_latest(chat, left[0])
                del self._taken[left.pop(0)]
        finally:  # of what failed unforeseen: it is due again after its hold
            for batch in left:
                del self._taken[batch]

    async def _show_latest(self, chat: ChatId, batch: BatchId) -> None:
        """Also what was taken while it was being shown, if that knows the message."""
        while True:
            await self._keep_pace(chat)
            notice = self._taken[batch]
            await self._show_and_confirm(notice)
            later = self._taken[batch]
            if later is notice or later.message_id is None:
                return

    async def _keep_pace(self, chat: ChatId) -> None:
        shown_at = self._shown_at.get(chat)
        if shown_at is not None:
            await asyncio.sleep(max(0.0, shown_at + self._chat_pause_s - time.monotonic()))
        now = time.monotonic()
        self._shown_at = {other: at for other, at in self._shown_at.items() if now - at < self._chat_pause_s}
        self._shown_at[chat] = now

    async def _show_and_confirm(self, notice: Notice) -> None:
        try:
            await self._show(notice)
            await self._notices.confirm(notice.batch_id, revision=notice.revision)
            self._failed.pop(notice.batch_id, None)
        except TelegramRetryAfter as error:
            log.info("notices.slowed_down", chat=notice.chat_id, seconds=error.retry_after)
            await asyncio.sleep(error.retry_after)  # it is due again after the hold
        except (TelegramAPIError, DatabaseAway) as error:
            log.warning("notices.postponed", batch=notice.batch_id, error=type(error).__name__)
        except Exception:  # the top of a notice's work: one mistake must not stop the others
            log.exception("notices.failed", batch=notice.batch_id)
            await self._note_failure(notice)

    async def _note_failure(self, notice: Notice) -> None:
        """It is due again after its hold, but for the last time: then it counts as shown, until its batch moves on."""
        self._failed[notice.batch_id] += 1
        if self._failed[notice.batch_id] < ATTEMPTS:
            return
        log.error("notices.given_up", batch=notice.batch_id, revision=notice.revision)
        with suppress(DatabaseAway, DatabaseError):  # then it is given up at its next try
            await self._notices.confirm(notice.batch_id, revision=notice.revision)
            del self._failed[notice.batch_id]

    async def _show(self, notice: Notice) -> None:
        words = self._texts.for_language(notice.language)
        changes = await self._changes_of(notice, words)
        message = live_message(notice.documents, words, changes, removed=notice.removed)
        try:
            await self._write(notice, message)
        except _NOBODY_THERE as error:
            log.warning("notices.nobody_there", chat=notice.chat_id, error=type(error).__name__, reason=error.message)

    async def _changes_of(self, notice: Notice, words: Words) -> dict[DocumentId, str]:
        """Of a new version that has just been published; a list of several documents has no room for it."""
        replaced = [card for card in notice.documents if card.status is DocumentStatus.READY and card.version > 1]
        if self._changes is None or len(notice.documents) > 1 or not replaced:
            return {}
        return {replaced[0].id: changes_line(await self._changes(replaced[0]), words)}

    async def _write(self, notice: Notice, message: LiveMessage) -> None:
        """Edit the live message; send one when there is none, or when the end would otherwise not be noticed."""
        live = notice.message_id
        if not notice.documents:
            await self._correct(notice, message)
        elif live is None:
            await self._send(notice, message)
        elif message.is_final and _was_promised(notice):
            await self._send(notice, message)
            await self._remove(notice.chat_id, live)
        elif not await edit(self._bot, notice.chat_id, live, message.html, message.keyboard) and message.is_final:
            await self._send(notice, message)

    async def _correct(self, notice: Notice, message: LiveMessage) -> None:
        """All of it was removed: what stands there must not promise anything, but nobody waits for a new message."""
        if notice.message_id is not None:
            await edit(self._bot, notice.chat_id, notice.message_id, message.html, message.keyboard)

    async def _remove(self, chat: ChatId, message: MessageId) -> None:
        with suppress(TelegramBadRequest):  # the person removed it first
            await self._bot.delete_message(chat, message)

    async def _send(self, notice: Notice, message: LiveMessage) -> None:
        place = Place(chat=notice.chat_id, thread=notice.thread_id, reply_to=notice.reply_to)
        sent = await send(self._bot, place, message.html, message.keyboard)
        await self._notices.attach(notice.batch_id, MessageId(sent))


def _was_promised(notice: Notice) -> bool:
    """A service had been away and the person was told «закончу сам и сообщу»: an edit would reach nobody."""
    return any(document.waits_for_service for document in notice.documents)
