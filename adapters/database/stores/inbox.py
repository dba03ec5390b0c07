"""The inbox of updates: what was acknowledged to Telegram and not handled yet.

In: updates as JSON. Out: those that a process which died left behind. It does not look into them.
"""

from collections.abc import Mapping
from typing import Any

from adapters.database import rows
from adapters.database.answers import PAGE_ROWS
from adapters.database.payloads import json_text
from adapters.database.transport import Transport


class InboxStore:
    """Meets `bot.ports.InboxKeeper`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def receive(self, bot_id: int, update_id: int, payload: Mapping[str, Any]) -> bool:
        """Keep it; False when it is here already."""
        found = await self._transport.call(
            "receive_update", p_bot=bot_id, p_update=update_id, p_payload=json_text(payload)
        )
        return bool(found[0]["is_new"])

    async def finish(self, bot_id: int, update_id: int) -> None:
        """Mark it as handled and drop its body."""
        await self._transport.call("finish_update", p_bot=bot_id, p_update=update_id)

    async def unfinished(self, bot_id: int) -> list[Mapping[str, Any]]:
        """What an earlier process left, oldest first."""
        updates: list[Mapping[str, Any]] = []
        after = -1
        while True:
            page = await self._transport.call("unfinished_updates", p_bot=bot_id, p_after=after, p_limit=PAGE_ROWS)
            updates.extend(payload for row in page if isinstance(payload := row["payload"], dict))
            if len(page) < PAGE_ROWS:
                return updates
            after = rows.integer(page[-1], "update_id")

    async def begin_again(self, bot_id: int, update_id: int) -> int:
        """Count a new start of handling it; returns how many, this one included."""
        found = await self._transport.call("begin_update_again", p_bot=bot_id, p_update=update_id)
        return rows.integer(found[0], "attempts")
