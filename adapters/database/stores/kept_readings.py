"""A cache of what models have read out of documents, used when the same is asked of the same words.

In: a base, the hash of a request, replies as JSON. Out: the same again. It does not know what a reply contains.
"""

from adapters.database import rows
from adapters.database.transport import Row, Transport
from domain.ids import BaseId, DocumentId
from rag.records import KeptReading


class KeptReadingStore:
    """Meets `rag.ports.ReadingMemory`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def recall(self, base: BaseId, request: str) -> list[KeptReading]:
        """The replies that this base has kept, oldest first."""
        found = await self._transport.call("recall_readings", p_base=base, p_request=request)
        return [_reading(row) for row in found]

    async def keep(self, base: BaseId, request: str, reading: KeptReading) -> None:
        """Keep a reply, unless the base does not hold all its documents."""
        await self._transport.call(
            "keep_reading",
            p_base=base,
            p_request=request,
            p_key=reading.key,
            p_documents=[str(document) for document in reading.documents],
            p_content=reading.content,
        )


def _reading(row: Row) -> KeptReading:
    return KeptReading(
        key=rows.text(row, "key"),
        documents=tuple(DocumentId(str(document)) for document in rows.items(row, "documents")),
        content=rows.text(row, "content"),
    )
