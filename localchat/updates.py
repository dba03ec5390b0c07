"""How updates reach the bot: long polling. In: the store's queue. Out: updates, oldest first. It has no webhooks: the
bot that it stands in for runs in the same process."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from localchat.call import Call, Method
from localchat.checks import Refused
from localchat.records import Json

POLL_S = 50  # the longest wait
LIMIT = 100


async def get_updates(call: Call) -> Sequence[Json]:
    """Acknowledge all updates before `offset`, then return the rest or wait for more. The kinds of `allowed_updates`
    stay in force until others are given; an empty list means the default ones. Raises Refused when a newer poll
    replaces this one."""
    exchange = call.exchange
    if call.allowed_updates is not None:
        exchange.values.put("allowed_updates", call.allowed_updates)
    exchange.updates.acknowledge(call.offset)
    hub, woken = exchange.hub, asyncio.Event()
    hub.wake_bot()
    hub.poll = woken
    seconds = min(max(call.timeout, 0), POLL_S)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while seconds and hub.poll is woken and not hub.closed and not exchange.updates.pending(limit=1):
                await woken.wait()
                woken.clear()
    if hub.poll is not woken:
        sentence = "terminated by other getUpdates request; make sure that only one bot instance is running"
        raise Refused(f"Conflict: {sentence}", code=409)
    return exchange.updates.pending(limit=min(max(call.limit, 1), LIMIT))


async def delete_webhook(_: Call) -> bool:
    """There is none to delete, as a bot that begins to poll makes sure."""
    return True


METHODS: dict[str, Method] = {"getUpdates": get_updates, "deleteWebhook": delete_webhook}
