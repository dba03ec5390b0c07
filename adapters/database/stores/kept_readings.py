"""What models have read out of documents, kept until the same is asked of the same words.

In: a base, the hash of a request, replies as JSON. Out: the same again. It knows no shape of a reply.
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
        """In the order in which they were kept; of a base those alone that are kept there."""
        found = await self._transport.call("recall_readings", p_base=base, p_request=request)
        return [_reading(row) for row in found]

    async def keep(self, base: BaseId, request: str, reading: KeptReading) -> None:
        """Nothing is kept of documents that the base does not hold."""
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
