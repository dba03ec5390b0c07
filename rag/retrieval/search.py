"""From a question to the passages that may answer it, or to the documents that it means.

In: a base, a question, perhaps a filter. Out: the best passages, in one call of the database. A model that fails costs
quality, never the search: without the embedder there is only the lexical leg, without the reranker the fused order
stays. Documents are found by words alone. The question's words never reach the log.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import lru_cache, partial

import structlog

from domain.ids import BaseId, ChunkId, DocumentId
from rag.metering import searching
from rag.ports import DocumentScores, ModelError, PassageSearch, QueryEmbedder, QuestionAnalyzer, Reranker
from rag.records import Candidate, DocumentMatch, Fit, Passage, RankedPassage, SearchFilter, SearchQuery
from rag.retrieval.closeness import TermsOf, lower_half_named, raise_close, widened_to_names
from rag.retrieval.ranking import collapse, fit_of, fuse, is_noise, merge_neighbours, spread_over_pages
from rag.retrieval.spelling import worded
from rag.words import AskedWords

# Bound for pasted texts: more text does not make the query clearer, and an encoder's context is limited.
MAX_QUERY_CHARS = 4000
DOCUMENTS_PAGE = 900  # per call; both transports refuse 1000 rows
REMEMBERED_VECTORS = 256  # of questions; 1,024 numbers each, some 8 MB in all
REMEMBERED_WORDS = 16_384  # of passages that were compared, with their terms; some 3 MB

log = structlog.get_logger()


@dataclass
class Retrieval:
    """Search as a turn and `baza eval retrieval` use it."""

    search: PassageSearch
    embedder: QueryEmbedder
    analyzer: QuestionAnalyzer
    reranker: Reranker | None
    _: KW_ONLY
    candidates: int  # of each leg, which are fused
    passages: int  # that are returned
    lexical_weight: float  # a leg of weight 0 is skipped
    vector_weight: float
    heard: Callable[[float], None] = lambda seconds: None  # called with the seconds of each `find` that has not failed
    _vectors: dict[str, list[float]] = field(default_factory=dict)  # of the last questions

    def __post_init__(self) -> None:
        self._terms_of = lru_cache(maxsize=REMEMBERED_WORDS)(self.analyzer.terms)

    async def find(self, base: BaseId, question: str, *, only: SearchFilter | None = None) -> tuple[RankedPassage, ...]:
        """The best passages, best first, neighbours merged; none when nothing fits. Raises the store's DatabaseAway."""
        started, text = time.monotonic(), question[:MAX_QUERY_CHARS]
        with searching():
            query, found, ordered = await self._ordered(base, text, only)
            best = merge_neighbours(ordered)[: self.passages]
            similarities: dict[ChunkId, float | None] = {c.passage.chunk_id: c.similarity for c in found}
            rarities = next((c.rarities for c in found if c.rarities), (1.0,) * len(query.terms))
            asked = AskedWords(terms_of=self.analyzer.terms, rarities=dict(zip(query.terms, rarities, strict=True)))

            def fit(passage: Passage) -> Fit:
                held = frozenset(asked.terms_of(passage.with_names)) if asked.rarities else frozenset[str]()
                near = similarities[passage.chunk_id]
                return fit_of(asked.rarities, held, similarity=near, model=query.model, spellings=query.spellings)

            judged = tuple(replace(each, judge=partial(fit, each.passage), asked=asked) for each in best)
        self.heard(time.monotonic() - started)
        return judged

    @property
    def compares_meaning(self) -> bool:
        """Whether passages are compared by vectors, too; else words of another language are not found."""
        return self.vector_weight > 0

    async def rank(self, base: BaseId, question: str) -> tuple[RankedPassage, ...]:
        """Passages in the same order, neither merged with neighbours nor judged: all are `certain`."""
        _, _, ordered = await self._ordered(base, question[:MAX_QUERY_CHARS], None)
        return tuple(ordered[: self.passages])

    async def _ordered(
        self, base: BaseId, text: str, only: SearchFilter | None
    ) -> tuple[SearchQuery, list[Candidate], Sequence[RankedPassage]]:
        """The query, what it found, and that in order: only the first `passages` where there is a reranker."""
        query = await self._query(base, text, only)
        is_empty = query.vector is None and not query.terms
        found = [] if is_empty else [each for each in await self.search.search(query) if not is_noise(each)]
        fused = fuse(found, lexical_weight=self.lexical_weight, vector_weight=self.vector_weight)
        rarities = next((c.rarities for c in found if c.rarities), ())
        if self.reranker is None and rarities:  # a reranker reads the sentences itself
            inherited = {c.passage.chunk_id: c.inherited for c in found}
            asked = dict(zip(query.terms, rarities, strict=True))
            named = widened_to_names(fused, query.terms, inherited, terms_of=self.analyzer.terms)
            fused = raise_close(fused, asked, named, terms_of=self._terms_of)
            fused = lower_half_named(fused, asked, inherited, terms_of=self._terms_of)
        spread = spread_over_pages(collapse(fused))
        if self.reranker is None or len(spread) < 2:
            return query, found, spread
        try:
            order = await self.reranker.rerank(text, [each.passage for each in spread], top_n=self.passages)
        except ModelError as error:
            log.warning("search.not_reranked", reason=type(error).__name__)
            return query, found, spread[: self.passages]
        reranked = [RankedPassage(passage=spread[index].passage, score=relevance) for index, relevance in order]
        return query, found, reranked

    async def _query(self, base: BaseId, text: str, only: SearchFilter | None) -> SearchQuery:
        vector = await self._vector(text) if self.vector_weight > 0 else None
        is_worded = self.lexical_weight > 0 or vector is None
        terms, spellings = worded(text, self.analyzer) if is_worded else ((), ())
        return SearchQuery(
            base_id=base,
            vector=vector,
            model=None if vector is None else self.embedder.model,
            terms=terms,
            limit=self.candidates,
            spellings=spellings,
            only=only,
        )

    async def _vector(self, text: str) -> list[float] | None:
        """None when the embedder fails, or when it knows nothing in the text (a vector of zeros)."""
        vector = self._vectors.pop(text, None)
        if vector is None:
            try:
                vector = await self.embedder.embed_query(text)
            except ModelError as error:
                log.warning("search.lexical_only", model=self.embedder.model, reason=type(error).__name__)
                return None
        self._vectors[text] = vector
        if len(self._vectors) > REMEMBERED_VECTORS:
            del self._vectors[next(iter(self._vectors))]
        return vector if any(vector) else None


@dataclass(frozen=True)
class DocumentSearch:
    """Finds the documents that a text means: by their names, parties, numbers and days, by what they say."""

    scores: DocumentScores
    analyzer: QuestionAnalyzer

    async def find_documents(self, base: BaseId, text: str, *, limit: int) -> tuple[DocumentMatch, ...]:
        """Best first; none when no document has a word of the text. Raises the store's DatabaseAway."""
        terms, spellings = worded(text, self.analyzer)
        if not terms:
            return ()
        query = SearchQuery(base_id=base, vector=None, model=None, terms=terms, spellings=spellings, limit=limit)
        return tuple(await self.scores.find_documents(query))

    async def called(self, base: BaseId, kind: str) -> frozenset[DocumentId]:
        """All documents that are called so, or that begin so; none for a kind without words. Raises DatabaseAway."""
        terms = tuple(dict.fromkeys(self.analyzer.terms(kind)))
        found = list[DocumentMatch]()
        while terms:
            page = await self.scores.documents_saying_first(base, terms, limit=DOCUMENTS_PAGE, offset=len(found))
            found += page
            if len(page) < DOCUMENTS_PAGE:
                break
        return frozenset(each.id for each in found if is_called(each, kind, terms_of=self.analyzer.terms))


def is_called(document: DocumentMatch, kind: str, *, terms_of: TermsOf) -> bool:
    """Whether it is a document of that kind («договор поставки»): its name or title says so, or a line of its beginning
    starts so, perhaps behind one word ("MASTER SERVICES AGREEMENT"). One that only speaks of such a document
    («Основание: договор …», «Приложение к договору …») is none."""
    said, length = tuple(terms_of(kind)), len(kind.split())
    begun = (line.split()[: length + 1] for line in document.opening.split("\n"))
    starts = (words for line in begun for words in (line[:length], line[1:] if all(map(str.isalpha, line[:1])) else []))
    return any(tuple(terms_of(" ".join(words))) == said for words in starts) or any(
        said in zip(*(terms[at:] for at in range(len(said))), strict=False)
        for terms in (tuple(terms_of(name)) for name in (document.file_name, document.title))
    )
