"""Which documents of a base a text means.

In: a base and a text, as a person or a planner wrote it. Out: documents with scores, best first. It is the search by
words, by document: a name, a number, a day or what the document says. No model is asked.
"""

from domain.ids import BaseId
from rag.ports import DocumentScores, QuestionAnalyzer
from rag.records import DocumentMatch, SearchQuery
from rag.retrieval.spelling import worded


class DocumentSearch:
    """Meets `rag.ports.DocumentFinder`."""

    def __init__(self, scores: DocumentScores, analyzer: QuestionAnalyzer) -> None:
        self._scores = scores
        self._analyzer = analyzer

    async def find_documents(self, base: BaseId, text: str, *, limit: int) -> tuple[DocumentMatch, ...]:
        """Best first; none when no document has a word of the text. Raises the store's DatabaseAway."""
        terms, spellings = worded(text, self._analyzer)
        if not terms:
            return ()
        query = SearchQuery(base_id=base, vector=None, model=None, terms=terms, spellings=spellings, limit=limit)
        return tuple(await self._scores.find_documents(query))
