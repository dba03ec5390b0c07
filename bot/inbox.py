"""Stores updates before they are acknowledged and feeds them to the handlers, in order within each chat.

In: updates as the Bot API's JSON, from polling, a webhook, or an earlier process that died. Out: each update fed to
the dispatcher, then finished. It knows no handler. aiogram's own polling would lose updates: it acknowledges them
before they are handled and awaits no handler at shutdown (reference/apis.md, section 1).
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import structlog
from aiogram import Bot, Dispatcher
from pydantic import ValidationError

from adapters.database.errors import DatabaseAway
from bot.ports import InboxKeeper

log = structlog.get_logger()

ATTEMPTS = 3  # an update that killed the process this often is given up
TURN = "turn"
"""Name under which handlers receive their `Turn`."""


class Turn:
    """One update's place in the order of its chat.

    The next update of the same chat waits until this one has been handled, so that a file sent right after «База» was
    pressed is handled in the new mode. A long-running handler (an answer) calls `release` once the order no longer
    matters.
    """

    def __init__(self, before: asyncio.Event | None) -> None:
        self._before = before
        self.passed = asyncio.Event()

    async def come(self) -> None:
        """Wait until the update before this one has been handled or released."""
        if self._before:
            await self._before.wait()

    def release(self) -> None:
        """Let the next update of the chat begin."""
        self.passed.set()


class Inbox:
    """Feeds updates to the dispatcher. Redelivered ones are skipped while the database remembers them; one whose
    handling was not finished is fed again after a restart."""

    def __init__(self, bot: Bot, dispatcher: Dispatcher, keeper: InboxKeeper) -> None:
        self._bot = bot
        self._dispatcher = dispatcher
        self._keeper = keeper
        self._running: set[asyncio.Task[None]] = set()
        self._last: dict[int, Turn] = {}

    async def accept(self, update: Mapping[str, Any]) -> None:
        """Store the update, then handle it in the background. Raises DatabaseAway; the caller must not acknowledge the
        update then."""
        if await self._keeper.receive(self._bot.id, int(update["update_id"]), update):
            self._begin(update)

    async def replay(self) -> None:
        """Handle what an earlier process left unhandled."""
        for update in await self._keeper.unfinished(self._bot.id):
            log.info("inbox.replayed", update_id=update["update_id"])
            self._begin(update, again=True)

    async def drain(self, timeout_s: float) -> None:
        """Await the running handlers for `timeout_s`; updates that need longer stay stored for the next start."""
        if not self._running:
            return
        _, late = await asyncio.wait(self._running, timeout=timeout_s)
        for task in late:
            task.cancel()
        if late:
            log.warning("inbox.left_for_next_start", updates=len(late))
            await asyncio.wait(late, timeout=1)

    def _begin(self, update: Mapping[str, Any], *, again: bool = False) -> None:
        chat = chat_of(update)
        before = self._last.get(chat)
        turn = self._last[chat] = Turn(before.passed if before else None)
        task = asyncio.create_task(self._handle(update, turn, again=again))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        task.add_done_callback(lambda _: self._leave(chat, turn))

    def _leave(self, chat: int, turn: Turn) -> None:
        turn.release()
        if self._last.get(chat) is turn:
            del self._last[chat]

    async def _handle(self, update: Mapping[str, Any], turn: Turn, *, again: bool) -> None:
        number = int(update["update_id"])
        await turn.come()
        if not (again and await self._is_hopeless(number)):
            await self._feed(update, turn)
        try:
            await self._keeper.finish(self._bot.id, number)
        except DatabaseAway:
            # The update is handled again after a restart; handlers bear that (documents are known by their message).
            log.warning("inbox.finish_failed", update_id=number)

    async def _feed(self, update: Mapping[str, Any], turn: Turn) -> None:
        try:
            await self._dispatcher.feed_raw_update(self._bot, dict(update), **{TURN: turn})
        except ValidationError as error:  # a shape that aiogram does not know; the error's text would quote the update
            log.error("inbox.not_understood", update_id=update["update_id"], problems=error.error_count())

    async def _is_hopeless(self, number: int) -> bool:
        try:
            begun = await self._keeper.begin_again(self._bot.id, number)
        except DatabaseAway:
            return False  # the handlers will meet the same error and tell the person
        if begun > ATTEMPTS:
            log.error("inbox.given_up", update_id=number, hint="handling it ended the process every time")
        return begun > ATTEMPTS


def chat_of(update: Mapping[str, Any]) -> int:
    """The chat whose order an update belongs to; 0 for updates without one."""
    for content in update.values():
        if not isinstance(content, Mapping):
            continue
        message = content.get("message", content)
        chat = message.get("chat") or content.get("from") if isinstance(message, Mapping) else content.get("from")
        if isinstance(chat, Mapping):
            return int(chat["id"])
    return 0
