"""Takes updates by long polling or a webhook, stores them before they are acknowledged, and feeds them to the handlers.

In: the Bot API's `getUpdates` or its POSTs, or updates of another process that died. Out: each update fed to the
dispatcher, in order within each chat, then finished. aiogram's own polling would lose updates: it acknowledges them
before they are handled and awaits no handler at shutdown. Several processes may serve one bot: each update is held by
one of them under a lease, and with it its chat.
"""

import asyncio
import hmac
import json
import os
import secrets
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog
from aiogram import Bot, Dispatcher
from aiogram.exceptions import TelegramAPIError, TelegramConflictError, TelegramRetryAfter, TelegramUnauthorizedError
from aiogram.methods.base import TelegramMethod
from aiohttp import web
from pydantic import ValidationError

from adapters.database.stores.intake import InboxStore
from adapters.database.transport import DatabaseAway
from domain.ending import end
from localchat.server import listening

log = structlog.get_logger()
LEASE_S = 10.0  # people wait as long when the process that held their message was killed
LOOK_EVERY_S = 2.0
ATTEMPTS = 3  # an update that killed the process this often is given up
DONE = "done"  # the name under which handlers get the event that lets the chat's next update begin
POLL_TIMEOUT_S = 25
PAUSE_S = (1.0, 30.0)  # after a failure: the first and the longest pause, doubled in between
SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 - the name of a header, not a secret
WEBHOOK_PATH = "/telegram"
BODY_BYTES = 4 * 2**20  # an update holds no files; Telegram's own are a few kilobytes


@dataclass(eq=False)
class Inbox:
    """Feeds updates to the dispatcher, each once; what was not finished again, once its holder's lease has run out."""

    bot: Bot
    dispatcher: Dispatcher
    keeper: InboxStore
    _holder: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}")
    _running: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _handled: set[int] = field(default_factory=set)  # of which the database does not know yet
    _last: dict[int, asyncio.Event] = field(default_factory=dict)  # chat -> what its next update waits for
    _is_stopping: bool = False

    async def accept(self, update: Mapping[str, Any]) -> None:
        """Store the update, then handle it in the background. Raises DatabaseAway: then it must not be acknowledged."""
        number, chat = int(update["update_id"]), chat_of(update)
        if await self.keeper.receive(self.bot.id, number, update, chat_id=chat, holder=self._holder, lease_s=LEASE_S):
            self._begin(update)

    @asynccontextmanager
    async def open(self, *, drain_s: float) -> AsyncIterator[None]:
        """While the block runs, updates of processes that died are taken over, and leases renewed. At its end the
        running handlers have `drain_s`; what needs longer is left to the next process. Raises DatabaseAway at first."""
        await self.look()
        looking = asyncio.create_task(self._look_again_and_again())
        try:
            yield
        finally:
            self._is_stopping = True
            await self.drain(drain_s)
            await end(looking)
            try:
                await self.keeper.release(self.bot.id, self._holder)
            except DatabaseAway as error:
                log.warning("inbox.not_released", reason=str(error))

    async def look(self) -> None:
        """Renew the leases of what is being handled, and begin what nobody holds. Raises DatabaseAway."""
        for number in tuple(self._handled):
            await self._finish(number)
        before = set(self._running)
        held = await self.keeper.hold(
            self.bot.id, self._holder, before, lease_s=LEASE_S, takes_more=not self._is_stopping
        )
        for number in before - held.keys():
            if (running := self._running.get(number)) and number not in self._handled:
                log.error("inbox.taken_over", update_id=number, hint="this process was silent for too long")
                running.cancel()
        for number, update in held.items():
            if update is not None and number not in self._running:
                log.info("inbox.replayed", update_id=number)
                self._begin(update, again=True)

    async def drain(self, timeout_s: float) -> None:
        """Await the running handlers for `timeout_s`; updates that need longer stay stored for the next start."""
        if not self._running:
            return
        _, late = await asyncio.wait(self._running.values(), timeout=timeout_s)
        for task in late:
            task.cancel()
        if late:
            log.warning("inbox.left_for_next_start", updates=len(late))
            await asyncio.wait(late, timeout=1)

    async def _look_again_and_again(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                await self.look()
            except DatabaseAway as error:
                log.warning("inbox.not_renewed", reason=str(error))

    def _begin(self, update: Mapping[str, Any], *, again: bool = False) -> None:
        """Handle the update after the one before it in its chat, so that a file sent right after «База» was pressed is
        handled in the new mode; a handler that takes long lets the next one begin before its end."""
        number, chat = int(update["update_id"]), chat_of(update)
        before, done = self._last.get(chat), asyncio.Event()
        self._last[chat] = done

        def leave(_: asyncio.Task[None]) -> None:
            self._running.pop(number, None)
            done.set()
            if self._last.get(chat) is done:
                del self._last[chat]

        self._running[number] = asyncio.create_task(self._handle(update, before, done, again=again))
        self._running[number].add_done_callback(leave)

    async def _handle(
        self, update: Mapping[str, Any], before: asyncio.Event | None, done: asyncio.Event, *, again: bool
    ) -> None:
        number = int(update["update_id"])
        if before:
            await before.wait()
        if not again or await self._may_begin_again(number):
            try:
                await self.dispatcher.feed_raw_update(self.bot, dict(update), **{DONE: done})
            except ValidationError as error:  # a shape unknown to aiogram; the error's text would quote the update
                log.error("inbox.not_understood", update_id=number, problems=error.error_count())
        self._handled.add(number)
        try:
            await self._finish(number)
        except DatabaseAway:
            log.warning("inbox.finish_failed", update_id=number)  # `look` tries again

    async def _finish(self, number: int) -> None:
        await self.keeper.finish(self.bot.id, number)
        self._handled.discard(number)

    async def _may_begin_again(self, number: int) -> bool:
        try:
            begun = await self.keeper.begin(self.bot.id, number, self._holder)
        except DatabaseAway:
            return True  # the handlers will meet the same error and tell the person
        if begun is None:
            raise asyncio.CancelledError  # another process has it
        if begun > ATTEMPTS:
            log.error("inbox.given_up", update_id=number, hint="handling it ended the process every time")
        return begun <= ATTEMPTS


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


class RawUpdates(TelegramMethod[list[dict[str, Any]]]):
    """`getUpdates` whose result stays the API's own JSON, so that it can be kept and replayed unchanged."""

    __returning__ = list[dict[str, Any]]
    __api_method__ = "getUpdates"

    offset: int | None = None
    timeout: int | None = None
    allowed_updates: list[str] | None = None


async def poll(bot: Bot, inbox: Inbox, *, allowed_updates: Sequence[str], stop: asyncio.Event) -> None:
    """Receive updates until `stop`. While the database is away none is acknowledged: Telegram sends all of them again,
    and the inbox skips those it has stored. Raises TelegramUnauthorizedError when the token is wrong."""
    stopped = asyncio.create_task(stop.wait())
    offset: int | None = None
    pause_s = PAUSE_S[0]
    while not stop.is_set():
        request = asyncio.create_task(_receive(bot, offset, allowed_updates))
        await asyncio.wait({request, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not request.done():
            request.cancel()
            break
        try:
            after = offset or 0
            for update in request.result():
                await inbox.accept(update)
                after = int(update["update_id"]) + 1
            offset, pause_s = after, PAUSE_S[0]
        except TelegramUnauthorizedError:
            raise
        except (TelegramAPIError, DatabaseAway) as error:
            wait_s = error.retry_after if isinstance(error, TelegramRetryAfter) else pause_s
            is_conflict = isinstance(error, TelegramConflictError)
            hint = "another process polls with the same BOT_TOKEN; stop it" if is_conflict else None
            log.warning("poll.failed", error=type(error).__name__, pause_s=wait_s, hint=hint)
            await asyncio.wait({stopped}, timeout=wait_s)
            pause_s = min(pause_s * 2, PAUSE_S[1])


async def _receive(bot: Bot, offset: int | None, allowed_updates: Sequence[str]) -> list[dict[str, Any]]:
    """`offset` is None until the first updates have come; a webhook of an earlier setup is removed first."""
    if offset is None:
        await bot.delete_webhook()
    method = RawUpdates(offset=offset, timeout=POLL_TIMEOUT_S, allowed_updates=list(allowed_updates))
    return await bot(method, request_timeout=POLL_TIMEOUT_S + 15)


@asynccontextmanager
async def webhook_server(inbox: Inbox, *, secret: str, host: str, port: int) -> AsyncIterator[None]:
    """Serve the webhook: 401 without the secret token, 503 while the database is away; Telegram then sends it again."""

    async def receive(request: web.Request) -> web.Response:
        if not hmac.compare_digest(request.headers.get(SECRET_HEADER, "").encode(), secret.encode()):
            return web.Response(status=401)
        try:
            update = json.loads(await request.read())
            await inbox.accept(update)
        except (ValueError, KeyError, TypeError):
            return web.Response(status=400)
        except DatabaseAway:
            return web.Response(status=503, headers={"Retry-After": "5"})
        return web.Response()

    async def alive(_: web.Request) -> web.Response:
        return web.Response(text="ok")

    application = web.Application(client_max_size=BODY_BYTES)
    application.add_routes([web.post(WEBHOOK_PATH, receive), web.get("/healthz", alive)])
    async with listening(application, host, port):
        yield
