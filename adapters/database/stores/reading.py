"""Documents read through, passage by passage.

In: a base and a document. Out: its passages in order. It finds nothing: that is `search`.
"""

from adapters.database import rows
from adapters.database.transport import Transport
from domain.ids import BaseId, DocumentId
from rag.records import Passage


class ReadingStore:
    """Meets `rag.ports.DocumentPassages`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def read(self, base: BaseId, document: DocumentId, *, after: int, limit: int) -> list[Passage]:
        """Up to `limit` (below 1000) passages with an ordinal over `after`; none when the base does not hold it."""
        found = await self._transport.call(
            "read_passages", p_base=base, p_document=document, p_after=after, p_limit=limit
        )
        return [rows.passage(row) for row in found]
