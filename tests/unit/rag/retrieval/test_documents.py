"""Which documents a text means."""

from rag.records import DocumentMatch, SearchQuery
from rag.retrieval.search import DocumentSearch
from tests.fakes.rag import BASE, LowerWords


class NoDocuments:
    """Keeps what it was asked."""

    def __init__(self) -> None:
        self.queries: list[SearchQuery] = []

    async def find_documents(self, query: SearchQuery) -> list[DocumentMatch]:
        self.queries.append(query)
        return []


async def test_the_words_of_the_text_are_looked_for_once_each() -> None:
    scores = NoDocuments()
    assert await DocumentSearch(scores, LowerWords()).find_documents(BASE, "Договор и договор Boeing", limit=12) == ()
    (query,) = scores.queries
    assert (query.base_id, query.limit) == (BASE, 12)
    assert query.terms == ("договор", "и", "boeing")


async def test_a_text_without_words_asks_nothing() -> None:
    scores = NoDocuments()
    assert await DocumentSearch(scores, LowerWords()).find_documents(BASE, "", limit=12) == ()
    assert scores.queries == []
