"""`read_document`: the text of one document, from its beginning.

In: a document's name. Out: its passages in order, as many as a prompt may hold. Among documents of similar names it
chooses by the words of the name; it searches no texts.
"""

from collections.abc import Sequence

from pydantic import Field

from domain.documents import DocumentCard, known_as
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.tools import Tool, ToolArguments, ToolContext
from rag.extraction.documents import ready_documents
from rag.ports import DocumentCatalogue, DocumentPassages
from rag.records import RankedPassage
from rag.words import share, stems

PASSAGES = 24  # about 8,000 tokens of passages of usual size: as much as a prompt of one answer takes


class ReadArguments(ToolArguments):
    """Which document, and where to begin."""

    document: str = Field(min_length=1, max_length=300)
    part: int = Field(1, ge=1, le=1000)


class ReadDocument(Tool[ReadArguments]):
    """reads one document: as a whole from its beginning (part: 1, 2 …) to retell it; or, with about (a question), the
    sections of a long one (over 10 pages) that its contents show to matter. document.
    """

    name = "read_document"
    arguments = ReadArguments

    def __init__(self, catalogue: DocumentCatalogue, passages: DocumentPassages) -> None:
        self._catalogue = catalogue
        self._passages = passages

    async def run(self, arguments: ReadArguments, context: ToolContext) -> FactsPayload:
        """The document's passages. Raises DatabaseAway."""
        card = _best(arguments.document, await ready_documents(self._catalogue, context.base_id))
        if card is None:
            return FactsPayload()
        after = (arguments.part - 1) * PASSAGES - 1
        read = await self._passages.read(context.base_id, card.id, after=after, limit=PASSAGES)
        facts = tuple(
            Fact(
                kind=FactKind.PASSAGE,
                text=passage.text,
                title=passage.name,
                passage=RankedPassage(passage=passage, score=1.0),
                document=card.id,
            )
            for passage in read
        )
        return FactsPayload(facts=facts, coverage=1.0 if facts else 0.0)


def _best(wanted: str, cards: Sequence[DocumentCard]) -> DocumentCard | None:
    """The document whose name shares most words with `wanted`, the newest of equals; None when no name shares any."""
    asked = stems(wanted)
    scored = [(share(asked, stems(_names(card))), -place, card) for place, card in enumerate(cards)]
    best = max(scored, default=None, key=lambda each: each[:2])
    return best[2] if best and best[0] > 0 else None


def _names(card: DocumentCard) -> str:
    return " ".join(
        (known_as(card.source_type, card.title, card.source_identifier), card.title, card.source_identifier)
    )
