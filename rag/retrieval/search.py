"""From a question to the passages that may answer it, or to the documents that it means.

In: a base, a question, perhaps a filter. Out: the best passages, in one call of the database. A model that fails costs
quality, never the search: without the embedder there is only the lexical leg, without the reranker the fused order
stays. Documents are found by words alone. The question's words never reach the log.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache, partial

import structlog

from domain.ids import BaseId, ChunkId, DocumentId
from rag.metering import searching
from rag.ports import DocumentScores, ModelError, PassageSearch, QueryEmbedder, QuestionAnalyzer, Reranker
from rag.records import Candidate, DocumentMatch, Fit, Passage, RankedPassage, SearchFilter, SearchQuery
from rag.retrieval.closeness import raise_close
from rag.retrieval.naming import is_called, lower_half_named, widened_to_names
from rag.retrieval.ranking import collapse, fit_of, fuse, is_noise, merge_neighbours, spread_over_pages
from rag.retrieval.spelling import worded
from rag.words import AskedWords

# Bound for pasted texts: more text does not make the query clearer, and an encoder's context is limited.
MAX_QUERY_CHARS = 4000
DOCUMENTS_PAGE = 900  # per call; both transports refuse 1000 rows
REMEMBERED_VECTORS = 256  # of questions; 1,024 numbers each, some 8 MB in all
REMEMBERED_WORDS = 16_384  # of passages that were compared, with their terms; some 3 MB

log = structlog.get_logger()


class Retrieval:
    """Search as a turn and `baza eval retrieval` use it."""

    def __init__(
        self,
        search: PassageSearch,
        embedder: QueryEmbedder,
        analyzer: QuestionAnalyzer,
        reranker: Reranker | None,
        *,
        candidates: int,
        passages: int,
        lexical_weight: float,
        vector_weight: float,
        heard: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        """`candidates` of each leg are fused, `passages` are returned. A leg of weight 0 is skipped. `heard` is called
        with the seconds of each `find` that has not failed."""
        self._search = search
        self._embedder = embedder
        self._analyzer = analyzer
        self._terms_of = lru_cache(maxsize=REMEMBERED_WORDS)(analyzer.terms)
        self._reranker = reranker
        self._candidates = candidates
        self._passages = passages
        self._lexical_weight = lexical_weight
        self._vector_weight = vector_weight
        self._heard = heard
        self._vectors: OrderedDict[str, list[float]] = OrderedDict()

    async def find(self, base: BaseId, question: str, *, only: SearchFilter | None = None) -> tuple[RankedPassage, ...]:
        """The best passages, best first, neighbours merged; none when nothing fits. Raises the store's DatabaseAway."""
        started, text = time.monotonic(), question[:MAX_QUERY_CHARS]
        with searching():
            query = await self._query(base, text, only)
            found = await self._found(query)
            fused = self._fused(query, found)
            ordered = await self._best(text, fused) if self._reranker else fused
            judged = self._judged(merge_neighbours(ordered)[: self._passages], found, query)
        self._heard(time.monotonic() - started)
        return judged

    @property
    def compares_meaning(self) -> bool:
        """Whether passages are compared by vectors, too; else words of another language are not found."""
        return self._vector_weight > 0

    def without_reranker(self) -> "Retrieval":
        """The same search in the fused order: for many searches at once, none of which is worth a call of a model."""
        plain = copy(self)
        plain._reranker = None
        return plain

    async def rank(self, base: BaseId, question: str) -> tuple[RankedPassage, ...]:
        """Passages in the same order, neither merged with neighbours nor judged: all are `certain`."""
        text = question[:MAX_QUERY_CHARS]
        query = await self._query(base, text, None)
        return await self._best(text, self._fused(query, await self._found(query)))

    async def _found(self, query: SearchQuery) -> list[Candidate]:
        is_empty = query.vector is None and not query.terms
        return [] if is_empty else [each for each in await self._search.search(query) if not is_noise(each)]

    def _fused(self, query: SearchQuery, found: Sequence[Candidate]) -> list[RankedPassage]:
        fused = fuse(found, lexical_weight=self._lexical_weight, vector_weight=self._vector_weight)
        rarities = next((c.rarities for c in found if c.rarities), ())
        if self._reranker is None and rarities:  # a reranker reads the sentences itself
            inherited = {c.passage.chunk_id: c.inherited for c in found}
            asked = dict(zip(query.terms, rarities, strict=True))
            named = widened_to_names(fused, query.terms, inherited, terms_of=self._analyzer.terms)
            fused = raise_close(fused, asked, named, terms_of=self._terms_of)
            fused = lower_half_named(fused, asked, inherited, terms_of=self._terms_of)
        return spread_over_pages(collapse(fused))

    async def _query(self, base: BaseId, text: str, only: SearchFilter | None) -> SearchQuery:
        vector = await self._vector(text) if self._vector_weight > 0 else None
        is_worded = self._lexical_weight > 0 or vector is None
        terms, spellings = worded(text, self._analyzer) if is_worded else ((), ())
        return SearchQuery(
            base_id=base,
            vector=vector,
            model=None if vector is None else self._embedder.model,
            terms=terms,
            limit=self._candidates,
            spellings=spellings,
            only=only,
        )

    async def _vector(self, text: str) -> list[float] | None:
        """None when the embedder fails, or when it knows nothing in the text (a vector of zeros)."""
        if text not in self._vectors:
            try:
                self._vectors[text] = await self._embedder.embed_query(text)
            except ModelError as error:
                log.warning("search.lexical_only", model=self._embedder.model, reason=type(error).__name__)
                return None
        self._vectors.move_to_end(text)
        if len(self._vectors) > REMEMBERED_VECTORS:
            self._vectors.popitem(last=False)
        return self._vectors.get(text) if any(self._vectors.get(text, ())) else None

    async def _best(self, text: str, ranked: Sequence[RankedPassage]) -> tuple[RankedPassage, ...]:
        """The first `passages`, in the reranker's order when there is one."""
        if self._reranker is None or len(ranked) < 2:
            return tuple(ranked[: self._passages])
        passages = [each.passage for each in ranked]
        try:
            order = await self._reranker.rerank(text, passages, top_n=self._passages)
        except ModelError as error:
            log.warning("search.not_reranked", reason=type(error).__name__)
            return tuple(ranked[: self._passages])
        return tuple(RankedPassage(passage=passages[index], score=relevance) for index, relevance in order)

    def _judged(
        self, best: Sequence[RankedPassage], found: Sequence[Candidate], query: SearchQuery
    ) -> tuple[RankedPassage, ...]:
        """The same passages, each with the function that computes its `fit`, and the words of the question."""
        similarities: dict[ChunkId, float | None] = {c.passage.chunk_id: c.similarity for c in found}
        rarities = next((c.rarities for c in found if c.rarities), (1.0,) * len(query.terms))
        asked = AskedWords(terms_of=self._analyzer.terms, rarities=dict(zip(query.terms, rarities, strict=True)))

        def fit(passage: Passage) -> Fit:
            held = frozenset(asked.terms_of(passage.with_names)) if asked.rarities else frozenset[str]()
            near = similarities[passage.chunk_id]
            return fit_of(asked.rarities, held, similarity=near, model=query.model, spellings=query.spellings)

        return tuple(replace(each, judge=partial(fit, each.passage), asked=asked) for each in best)


class DocumentSearch:
    """Finds the documents that a text means: by their names, parties, numbers and days, by what they say."""

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

    async def called(self, base: BaseId, kind: str) -> frozenset[DocumentId]:
        """All documents that are called so, or that begin so; none for a kind without words. Raises DatabaseAway."""
        terms = tuple(dict.fromkeys(self._analyzer.terms(kind)))
        found = list[DocumentMatch]()
        while terms:
            page = await self._scores.documents_saying_first(base, terms, limit=DOCUMENTS_PAGE, offset=len(found))
            found += page
            if len(page) < DOCUMENTS_PAGE:
                break
        return frozenset(each.id for each in found if is_called(each, kind, terms_of=self._analyzer.terms))
