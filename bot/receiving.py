"""How updates reach the inbox: long polling or a webhook.

In: the Bot API's `getUpdates` or its POSTs. Out: `Inbox.accept`, one update at a time; an update is acknowledged only
after that. This module does not interpret updates.
"""

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import structlog
from aiogram import Bot
from aiogram.exceptions import TelegramAPIError, TelegramConflictError, TelegramRetryAfter, TelegramUnauthorizedError
from aiogram.methods.base import TelegramMethod
from aiohttp import web

from adapters.database.transport import DatabaseAway
from bot.inbox import Inbox

log = structlog.get_logger()

POLL_TIMEOUT_S = 25
PAUSE_S = (1.0, 30.0)  # after a failure: the first and the longest pause, doubled in between
SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 - the name of a header, not a secret
WEBHOOK_PATH = "/telegram"
BODY_BYTES = 4 * 2**20  # an update holds no files; Telegram's own are a few kilobytes


class RawUpdates(TelegramMethod[list[dict[str, Any]]]):
    """`getUpdates` whose result stays the API's own JSON, so that it can be kept and replayed unchanged."""

    __returning__ = list[dict[str, Any]]
    __api_method__ = "getUpdates"

    offset: int | None = None
    timeout: int | None = None
    allowed_updates: list[str] | None = None


async def poll(bot: Bot, inbox: Inbox, *, allowed_updates: Sequence[str], stop: asyncio.Event) -> None:
    """Receive updates until `stop`. Raises TelegramUnauthorizedError when the token is wrong."""
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
            offset = await _accept_all(inbox, request.result(), offset or 0)
            pause_s = PAUSE_S[0]
        except TelegramUnauthorizedError:
            raise
        except (TelegramAPIError, DatabaseAway) as error:
            wait_s = error.retry_after if isinstance(error, TelegramRetryAfter) else pause_s
            log.warning("poll.failed", error=type(error).__name__, pause_s=wait_s, **_hint(error))
            await asyncio.wait({stopped}, timeout=wait_s)
            pause_s = min(pause_s * 2, PAUSE_S[1])


async def _receive(bot: Bot, offset: int | None, allowed_updates: Sequence[str]) -> list[dict[str, Any]]:
    """`offset` is None until the first updates have come; a webhook of an earlier setup is removed first."""
    if offset is None:
        await bot.delete_webhook()
    method = RawUpdates(offset=offset, timeout=POLL_TIMEOUT_S, allowed_updates=list(allowed_updates))
    return await bot(method, request_timeout=POLL_TIMEOUT_S + 15)


async def _accept_all(inbox: Inbox, updates: list[dict[str, Any]], offset: int) -> int:
    """Returns the offset that acknowledges all of them. Raises DatabaseAway; Telegram then sends all of them again, and
    the inbox skips those it has stored."""
    for update in updates:
        await inbox.accept(update)
        offset = int(update["update_id"]) + 1
    return offset


def _hint(error: Exception) -> dict[str, str]:
    if isinstance(error, TelegramConflictError):
        return {"hint": "another process polls with the same BOT_TOKEN; stop it"}
    return {}


@asynccontextmanager
async def webhook_server(inbox: Inbox, *, secret: str, host: str, port: int) -> AsyncIterator[None]:
    """Serve the webhook. A call without the secret token gets 401. While the database is away a call gets 503, and
    Telegram sends the update again."""

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
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield
    finally:
        await runner.cleanup()
