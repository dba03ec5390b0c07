"""Posts updates to the bot's webhook one at a time, as Telegram does, and repeats each until the bot answers 2xx.

In: the queue of updates. Out: HTTP posts with the secret in `X-Telegram-Bot-Api-Secret-Token`.
"""

import asyncio
from collections.abc import Mapping

import aiohttp

from bot.localchat.exchange import Exchange
from bot.localchat.records import Json

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
