"""The inbox of updates: what was acknowledged to Telegram and not handled yet.

In: updates as JSON. Out: those that this process is to handle, under a lease. It does not look into them.
"""

from collections.abc import Collection, Mapping
from typing import Any

from adapters.database import rows
from adapters.database.answers import PAGE_ROWS
from adapters.database.payloads import json_text
from adapters.database.transport import Transport


class InboxStore:
    """Meets `bot.ports.InboxKeeper`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def receive(
        self, bot_id: int, update_id: int, payload: Mapping[str, Any], *, chat_id: int, holder: str, lease_s: float
    ) -> bool:
        """Keep it; whether this holder is to handle it."""
        found = await self._transport.call(
            "receive_update",
            p_bot=bot_id,
            p_update=update_id,
            p_chat=chat_id,
            p_payload=json_text(payload),
            p_holder=holder,
            p_lease_s=lease_s,
        )
        return bool(found[0]["is_ours"])

    async def hold(
        self, bot_id: int, holder: str, held: Collection[int], *, lease_s: float, takes_more: bool
    ) -> Mapping[int, Mapping[str, Any] | None]:
        """Renew what is held, and take what nobody holds: the number of each, oldest first, with the body of what is
        new."""
        found = await self._transport.call(
            "hold_updates",
            p_bot=bot_id,
            p_holder=holder,
            p_held=list(held),
            p_lease_s=lease_s,
            p_more=max(PAGE_ROWS - len(held), 0) if takes_more else 0,
        )
        return {
            rows.integer(row, "update_id"): payload if isinstance(payload := row["payload"], dict) else None
            for row in found
        }

    async def begin(self, bot_id: int, update_id: int, holder: str) -> int | None:
        """Count a start of handling it; returns how many, this one included. None: it is another's by now."""
        found = await self._transport.call("begin_update", p_bot=bot_id, p_update=update_id, p_holder=holder)
        return rows.integer(found[0], "attempts") if found else None

    async def finish(self, bot_id: int, update_id: int) -> None:
        """Mark it as handled and drop its body."""
        await self._transport.call("finish_update", p_bot=bot_id, p_update=update_id)

    async def release(self, bot_id: int, holder: str) -> None:
        """Give back what this holder has not handled."""
        await self._transport.call("release_updates", p_bot=bot_id, p_holder=holder)
