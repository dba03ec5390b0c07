"""Reads a document's passages to the end.

In: a base, a document. Out: its passages page by page, in order. It splits no passage.
"""

from collections.abc import AsyncIterator

from domain.ids import BaseId, DocumentId
from rag.ports import DocumentPassages
from rag.records import Passage

PAGE = 400  # passages per call; both transports refuse 1000 rows


async def pages_of(
    passages: DocumentPassages, base: BaseId, document: DocumentId
) -> AsyncIterator[tuple[Passage, ...]]:
    """Raises DatabaseAway."""
    after = -1
    while page := await passages.read(base, document, after=after, limit=PAGE):
        yield tuple(page)
        if len(page) < PAGE:
            return
        after = page[-1].ordinal
