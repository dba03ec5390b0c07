"""The parsed text of documents, read back.

In: a base and a document of it. Out: its blocks in reading order, page by page over any transport.
"""

from adapters.database import rows
from adapters.database.answers import PAGE_ROWS
from adapters.database.transport import Transport
from domain.ids import BaseId, DocumentId
from ingestion.records import Block


class TextStore:
    """Meets `ingestion.ports.DocumentText`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def blocks(self, base: BaseId, document: DocumentId) -> list[Block]:
        """All blocks in order; empty when the base holds no such document."""
        blocks: list[Block] = []
        while True:
            page = await self._transport.call(
                "read_blocks", p_base=base, p_document=document, p_after=len(blocks) - 1, p_limit=PAGE_ROWS
            )
            blocks.extend(map(rows.block, page))
            if len(page) < PAGE_ROWS:
                return blocks
