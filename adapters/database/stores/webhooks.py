"""Webhooks and what they are still to be told.

In: a base and an address. Out: webhooks, and messages that are due. Sending them is the work of `adapters.webhooks`.
"""

import json
from dataclasses import dataclass

from adapters.database import rows
from adapters.database.transport import Transport
from domain.documents import Webhook
from domain.ids import BaseId


@dataclass(frozen=True, kw_only=True)
class DueMessage:
    """What is to be sent now; nobody else sends it for a while."""

    id: str
    url: str
    secret: str
    body: str  # JSON
    attempt: int  # 1 the first time


class WebhookStore:
    """Meets `api.services.Webhooks`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def add(self, base: BaseId, *, url: str, secret: str, most: int) -> Webhook | None:
        """None when the base has `most` webhooks already."""
        found = await self._transport.call("add_webhook", p_base=base, p_url=url, p_secret=secret, p_most=most)
        return rows.record(Webhook, found[0], url=url, problem=None) if found else None

    async def all(self, base: BaseId) -> list[Webhook]:
        """Those of a base, the oldest first."""
        return rows.records(Webhook, await self._transport.call("list_webhooks", p_base=base))

    async def remove(self, base: BaseId, webhook: str) -> bool:
        """False when the base has no such webhook."""
        return bool(await self._transport.call("remove_webhook", p_base=base, p_webhook=webhook))

    async def due(self, *, limit: int, hold_s: float) -> list[DueMessage]:
        """Messages to be sent now, reserved for `hold_s`."""
        return [
            rows.record(
                DueMessage,
                row,
                body=json.dumps(row["body"], ensure_ascii=False, sort_keys=True),
                attempt=row["attempts"],
            )
            for row in await self._transport.call("due_webhook_messages", p_limit=limit, p_hold_s=hold_s)
        ]

    async def note(self, message: str, *, problem: str | None, again_s: float | None) -> None:
        """How a try ended; `again_s` None: it is over, told (`problem` None) or given up."""
        await self._transport.call("note_webhook", p_message=message, p_problem=problem, p_again_s=again_s)
