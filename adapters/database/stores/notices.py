"""The live messages of batches: which are out of date, and which have been shown.

In: what the bot sent. Out: what it has to show next. It sends nothing itself.
"""

from adapters.database import rows
from adapters.database.transport import Transport
from domain.documents import Notice
from domain.ids import BatchId, MessageId


class NoticeStore:
    """Meets `bot.ports.Notices`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def attach(self, batch: BatchId, message: MessageId) -> None:
        """Remember which message of ours is the live one."""
        await self._transport.call("attach_notice", p_batch=batch, p_message=message)

    async def due(self, *, limit: int, hold_s: int) -> list[Notice]:
        """Batches that have changed since they were shown; each is reserved for this caller for `hold_s` seconds."""
        found = await self._transport.call("due_notices", p_limit=limit, p_hold_s=hold_s)
        return [rows.notice(row) for row in found]

    async def confirm(self, batch: BatchId, *, revision: int) -> None:
        """Record that the batch is shown up to this revision."""
        await self._transport.call("confirm_notice", p_batch=batch, p_revision=revision)
