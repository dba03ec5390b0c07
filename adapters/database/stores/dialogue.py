"""What was said in dialogues.

In: exchanges. Out: the last of them. Trimming and archiving happen in the database, in one transaction.
"""

from adapters.database import rows
from adapters.database.payloads import storable
from adapters.database.transport import Transport
from domain.ids import BaseId, SessionId, UserId
from rag.records import Exchange


class DialogueStore:
    """Meets `rag.ports.DialogueStore`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def window(self, user: UserId, session: SessionId, *, pairs: int) -> list[Exchange]:
        """The last exchanges of the dialogue, oldest first."""
        found = await self._transport.call("dialogue_window", p_user=user, p_session=session, p_pairs=pairs)
        return [rows.exchange(row) for row in found]

    async def append(self, user: UserId, session: SessionId, *, base: BaseId, exchange: Exchange, keep: int) -> None:
        """Add an exchange, keep the last `keep` messages, and move what leaves to the archive."""
        await self._transport.call(
            "insert_and_trim_pairs",
            p_user=user,
            p_session=session,
            p_base=base,
            p_question=storable(exchange.question),
            p_answer=storable(exchange.answer),
            p_keep=keep,
        )
