"""How updates reach the bot: long polling. In: the store's queue. Out: updates, oldest first. It has no webhooks: the
bot that it stands in for runs in the same process."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from localchat.call import Call, Method
from localchat.checks import Refused
from localchat.exchange import Exchange, Poll
from localchat.records import Json

POLL_S = 50  # the longest wait
LIMIT = 100


async def get_updates(call: Call) -> Sequence[Json]:
    """Acknowledge all updates before `offset`, then return the rest or wait for more. The kinds of `allowed_updates`
    stay in force until others are given; an empty list means the default ones. Raises Refused when a newer poll
    replaces this one."""
    exchange, params = call.exchange, call.params
    if isinstance(allowed := params.json("allowed_updates"), list):
        exchange.values.put("allowed_updates", allowed)
    exchange.updates.acknowledge(params.whole("offset"))
    limit = min(max(params.whole("limit", LIMIT), 1), LIMIT)
    return await _wait(exchange, limit=limit, seconds=min(max(params.whole("timeout"), 0), POLL_S))


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


async def delete_webhook(_: Call) -> bool:
    """There is none to delete, as a bot that begins to poll makes sure."""
    return True


METHODS: dict[str, Method] = {"getUpdates": get_updates, "deleteWebhook": delete_webhook}
