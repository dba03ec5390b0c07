"""Which documents a text means."""

from collections.abc import Sequence

from domain.documents import SourceType
from domain.ids import BaseId, DocumentId
from rag.records import DocumentMatch, SearchQuery
from rag.retrieval.search import DOCUMENTS_PAGE, DocumentSearch
from tests.fakes.rag import BASE, LowerWords


class NoDocuments:
    """Keeps what it was asked."""

    def __init__(self) -> None:
        self.queries: list[SearchQuery] = []

    async def find_documents(self, query: SearchQuery) -> list[DocumentMatch]:
        self.queries.append(query)
        return []

    async def documents_saying_first(
        self, base: BaseId, terms: Sequence[str], *, limit: int, offset: int = 0
    ) -> list[DocumentMatch]:
        raise AssertionError("no terms")


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


class Beginnings(NoDocuments):
    """Documents by number, page by page."""

    def __init__(self, openings: Sequence[str]) -> None:
        super().__init__()
        self.matches = [begun(f"{number:04}", opening) for number, opening in enumerate(openings)]

    async def documents_saying_first(
        self, base: BaseId, terms: Sequence[str], *, limit: int, offset: int = 0
    ) -> list[DocumentMatch]:
        assert base == BASE
        return self.matches[offset : offset + limit]


def begun(number: str, opening: str, *, title: str = "scan.pdf") -> DocumentMatch:
    return DocumentMatch(
        id=DocumentId(number), title=title, file_name=title, source_type=SourceType.FILE, published_at=None, pages=None,
        passages=1, score=0.0, opening=opening,
    )  # fmt: skip


async def test_all_documents_of_a_kind_are_told_however_many_there_are() -> None:
    scores = Beginnings(["договор поставки № 1"] * (DOCUMENTS_PAGE + 5))
    assert len(await DocumentSearch(scores, LowerWords()).called(BASE, "договор поставки")) == DOCUMENTS_PAGE + 5
    assert await DocumentSearch(NoDocuments(), LowerWords()).called(BASE, "?") == frozenset()
