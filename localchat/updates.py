"""How updates reach the bot: long polling, and webhooks, to which one update at a time is posted until the bot answers
2xx, as Telegram does. In: the store's queue. Out: updates, oldest first."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

import aiohttp

from localchat.call import Call, Method
from localchat.checks import Refused, bad
from localchat.exchange import Exchange, Poll
from localchat.records import Json

POLL_S = 50  # the longest wait
LIMIT = 100
_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")


async def get_updates(call: Call) -> Sequence[Json]:
    """Acknowledge all updates before `offset`, then return the rest or wait for more. Raises Refused while a webhook is
    set, and when a newer poll replaces this one."""
    exchange, params = call.exchange, call.params
    if exchange.values.get("webhook"):
        sentence = "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
        raise Refused(f"Conflict: {sentence}", code=409)
    _remember_allowed(call)
    exchange.updates.acknowledge(params.whole("offset"))
    limit = min(max(params.whole("limit", LIMIT), 1), LIMIT)
    return await _wait(exchange, limit=limit, seconds=min(max(params.whole("timeout"), 0), POLL_S))


def _remember_allowed(call: Call) -> None:
    """Store `allowed_updates`. The list stays in force until another is given; an empty one means the default kinds."""
    allowed = call.params.json("allowed_updates")
    if isinstance(allowed, list):
        call.exchange.values.put("allowed_updates", allowed)


async def _wait(exchange: Exchange, *, limit: int, seconds: int) -> Sequence[Json]:
    if exchange.poll:
        exchange.poll.replaced.set()
    poll = Poll(replaced=asyncio.Event())
    exchange.poll = poll
    try:
        return await _poll(exchange, poll, limit=limit, seconds=seconds)
    finally:
        if exchange.poll is poll:
            exchange.poll = None


async def _poll(exchange: Exchange, poll: Poll, *, limit: int, seconds: int) -> Sequence[Json]:
    deadline = asyncio.get_running_loop().time() + seconds
    with exchange.hub.poller() as woken:
        while not (found := exchange.updates.pending(limit=limit)) and not exchange.hub.closed:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                break
            await _first(woken, poll.replaced, seconds=left)
            woken.clear()
            if poll.replaced.is_set():
                sentence = "terminated by other getUpdates request; make sure that only one bot instance is running"
                raise Refused(f"Conflict: {sentence}", code=409)
    return found


async def _first(*events: asyncio.Event, seconds: float) -> None:
    """Wait until one of the events is set, or the time is over."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
            with suppress(asyncio.CancelledError):
                await wait


async def set_webhook(call: Call) -> bool:
    """Post updates to this address from now on; an empty address means polling again."""
    url, secret = call.params.text("url") or "", call.params.text("secret_token")
    if url and not re.match(r"https?://[^/\s]+", url):
        raise bad("bad webhook: Invalid URL")
    if secret is not None and not _SECRET.fullmatch(secret):
        raise bad("secret token contains unallowed characters")
    _remember_allowed(call)
    call.exchange.values.put("webhook", {"url": url, "secret": secret} if url else None)
    call.exchange.hub.wake_pollers()
    return True


async def delete_webhook(call: Call) -> bool:
    """Back to polling."""
    call.exchange.values.put("webhook", None)
    return True


METHODS: dict[str, Method] = {
    "getUpdates": get_updates,
    "setWebhook": set_webhook,
    "deleteWebhook": delete_webhook,
}


RETRY_S = 1.0
TIMEOUT = aiohttp.ClientTimeout(total=30)


async def run_courier(exchange: Exchange) -> None:
    """Deliver updates until cancelled or the server stops."""
    async with aiohttp.ClientSession(timeout=TIMEOUT) as session:
        with exchange.hub.poller() as woken:
            while not exchange.hub.closed:
                await _carry_next(exchange, session, woken)


async def _carry_next(exchange: Exchange, session: aiohttp.ClientSession, woken: asyncio.Event) -> None:
    """Deliver one update, or wait for one."""
    webhook, pending = exchange.values.get("webhook"), exchange.updates.pending(limit=1)
    if not isinstance(webhook, dict) or not pending:
        await woken.wait()
        woken.clear()
    elif await _deliver(session, webhook, pending[0]):
        exchange.updates.acknowledge(int(str(pending[0]["update_id"])) + 1)
    else:
        await asyncio.sleep(RETRY_S)


async def _deliver(session: aiohttp.ClientSession, webhook: Mapping[str, str | None], update: Json) -> bool:
    secret = webhook.get("secret")
    headers = {"X-Telegram-Bot-Api-Secret-Token": secret} if secret else {}
    try:
        async with session.post(str(webhook["url"]), json=update, headers=headers) as answer:
            return answer.ok
    except (aiohttp.ClientError, TimeoutError):
        return False
