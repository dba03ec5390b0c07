"""Tells webhooks what has happened, signed as https://www.standardwebhooks.com has it.

In: messages that are due, from the database. Out: POST requests, through the crawler's guard, so that no address leads
inside. A message is over once it was answered with 2xx; otherwise it comes again, later each time, for three days. It
may come twice (`webhook-id` tells); those of one document come in order, others as they may.
"""

import asyncio
import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress

import httpx
import structlog

from adapters.database.stores.intake import DueMessage, WebhookStore
from domain.errors import DatabaseTrouble
from ingestion.errors import IngestionError
from ingestion.fetch.guard import AddressGuard, GuardedTransport

AGAIN_S = (5, 60, 300, 1800, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600)
ANSWER_S = 15.0
AT_ONCE = 10
HOLD_S = 45.0  # until another process takes over what a killed one was sending
LOOK_EVERY_S = 2.0
_PREFIX = "whsec_"

log = structlog.get_logger()


def new_secret() -> str:
    """Shown once, to whoever sets the webhook."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def signature(secret: str, *, message: str, timestamp: int, body: str) -> str:
    """The header `webhook-signature`: `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64."""
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    signed = hmac.digest(key, f"{message}.{timestamp}.{body}".encode(), hashlib.sha256)
    return "v1," + base64.b64encode(signed).decode()


async def tell_webhooks(
    store: WebhookStore, guard: AddressGuard, stop: asyncio.Event, *, every_s: float = LOOK_EVERY_S
) -> None:
    """Send what is due now and every `every_s` seconds until `stop`. After an error the next look tries again."""
    async with GuardedTransport(guard) as transport, httpx.AsyncClient(transport=transport, timeout=ANSWER_S) as client:
        while not stop.is_set():
            due: Sequence[DueMessage] = ()
            try:
                due = await store.due(limit=AT_ONCE, hold_s=HOLD_S)
            except DatabaseTrouble as trouble:
                log.warning("webhooks_failed", reason=trouble.reason)
            await asyncio.gather(*(_tell(store, client, message) for message in due))
            if len(due) == AT_ONCE:
                continue  # there may be more
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), every_s)


async def _tell(store: WebhookStore, client: httpx.AsyncClient, message: DueMessage) -> None:
    """What cannot be recorded is told again once it is not held any more."""
    problem = await _post(client, message)
    again_s = AGAIN_S[message.attempt - 1] if problem and message.attempt <= len(AGAIN_S) else None
    if problem:
        log.info("webhook_not_told", message=message.id, attempt=message.attempt, problem=problem)
    try:
        await store.note(message.id, problem=problem, again_s=again_s)
    except DatabaseTrouble as trouble:
        log.warning("webhook_not_noted", message=message.id, reason=trouble.reason)


async def _post(client: httpx.AsyncClient, message: DueMessage) -> str | None:
    """Why the message was not taken; None: it was. The answer's body is not read."""
    now = int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Baza",
        "webhook-id": message.id,
        "webhook-timestamp": str(now),
        "webhook-signature": signature(message.secret, message=message.id, timestamp=now, body=message.body),
    }
    try:
        async with (
            asyncio.timeout(ANSWER_S),
            client.stream("POST", message.url, content=message.body.encode(), headers=headers) as response,
        ):
            return None if response.is_success else f"HTTP {response.status_code}"
    except IngestionError as error:  # of the guard
        return error.code.value
    except (httpx.HTTPError, OSError) as error:
        return type(error).__name__
