"""The parsed text of documents, read back.

In: a base and a document of it. Out: its blocks in reading order, page by page over any transport. A long document is
compressed as its pages come, and read back batch by batch: no reader has it whole in memory.
"""

from collections.abc import Sequence
from math import inf

from adapters.database import rows
from adapters.database.answers import PAGE_ROWS
from adapters.database.transport import Transport
from domain.ids import BaseId, DocumentId
from ingestion.parsers.codec import BLOCKS
from ingestion.records import Block
from ingestion.spool import Spool


class TextStore:
    """Meets `ingestion.ports.DocumentText`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def blocks(self, base: BaseId, document: DocumentId, *, most_chars: float = inf) -> Sequence[Block]:
        """All blocks in order, or those that begin within `most_chars`; empty when the base holds no such document."""
        spool = Spool(None, BLOCKS)
        after, chars = -1, 0
        while True:
            page = await self._transport.call(
                "read_blocks", p_base=base, p_document=document, p_after=after, p_limit=PAGE_ROWS
            )
            for block in map(rows.block, page):
                if chars < most_chars:
                    spool.append(block, size=len(block.text))
                chars += len(block.text)
            after += len(page)
            if len(page) < PAGE_ROWS or chars >= most_chars:
                return spool.finish()
