"""`search_each_document`: which documents of the base match a query, and the best place in each.

In: a query. Out: how many of the searched documents have a `certain` passage, and an excerpt of each such passage. It
serves questions about all documents where no model can read them; it counts documents only.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from pydantic import Field

from domain.documents import DocumentCard
from domain.ending import end
from prompts.wordings import Wordings, language_of
from rag.answering.citations import quote
from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.tools import Tool, ToolArguments, ToolContext
from rag.extraction.documents import PassageFinder, card_name, in_order_of_worth, ready_documents
from rag.planning.plain_planner import Breadth
from rag.planning.plan import SURVEY
from rag.ports import DocumentCatalogue
from rag.records import RankedPassage, SearchFilter
from rag.words import akin, share, stems, union

MOST_DOCUMENTS = 60  # that are searched one by one, some milliseconds each; the likeliest, then the newest
AT_ONCE = 4  # concurrent searches, so that a turn does not take all connections
EXCERPT_CHARS = 200  # per document: a line or two


class SurveyArguments(ToolArguments):
    """What to look for in every document."""

    query: str = Field(min_length=1)


@dataclass(frozen=True, kw_only=True)
class _Hit:
    """A document in which something was found."""

    name: str
    best: RankedPassage
    held: float  # share of the question's words that the best passage holds

    @classmethod
    def of(cls, card: DocumentCard, best: RankedPassage, query: str) -> Self:
        text = f"{best.passage.title}\n{best.passage.text}"
        return cls(name=card_name(card), best=best, held=share(stems(query), stems(text)))


class SurveyBase(Tool[SurveyArguments]):
    """Searches the documents of the base one by one, and returns the best place in each.

    - query: what the passage must be about.
    """

    name = SURVEY
    is_offered = False
    arguments = SurveyArguments

    def __init__(
        self, catalogue: DocumentCatalogue, finder: PassageFinder, wordings: Mapping[str, Wordings], breadth: Breadth
    ) -> None:
        self._breadth = breadth
        self._catalogue = catalogue
        self._finder = finder
        self._wordings = wordings

    async def run(self, arguments: SurveyArguments, context: ToolContext) -> FactsPayload:
        """Empty when no document has a `certain` passage. Raises DatabaseAway."""
        query = self._breadth.subject(arguments.query)
        cards = await ready_documents(self._catalogue, context.base_id, only=context.only)
        first = await self._finder.find(context.base_id, query)
        searched = in_order_of_worth(cards, first)[:MOST_DOCUMENTS]
        places = asyncio.Semaphore(AT_ONCE)

        async def best_of(card: DocumentCard) -> RankedPassage | None:
            async with places:
                only = SearchFilter(documents=(card.id,))
                found = await self._finder.find(context.base_id, query, only=only)
            return next((each for each in found if each.certain), None)

        tasks = [asyncio.create_task(best_of(card)) for card in searched]
        try:
            bests = await asyncio.gather(*tasks)
        finally:
            await end(*tasks)
        hits = [_Hit.of(card, best, query) for card, best in zip(searched, bests, strict=True) if best]
        return self._payload(hits, query, searched=len(searched), total=len(cards))

    def _payload(self, hits: Sequence[_Hit], query: str, *, searched: int, total: int) -> FactsPayload:
        """Documents that hold most of the question's words first: the others may be about a single word of it."""
        if not hits:
            return FactsPayload()
        words, most = self._wordings[language_of(query)], max(hit.held for hit in hits)
        wording = words.survey if searched == total else words.survey_of
        said = wording.format(found=len(hits), searched=searched, total=total)
        best = sum(hit.held == most for hit in hits)
        told = f"{said}, {words.survey_best.format(best=best)}" if best < len(hits) else said
        count = Fact(kind=FactKind.VALUE, text=f"{told}. {words.survey_remark}", title=said)
        ordered = sorted(hits, key=lambda hit: -hit.held)
        return FactsPayload(facts=(count, *(_fact(hit, query) for hit in ordered)), coverage=1.0)


def _fact(hit: _Hit, query: str) -> Fact:
    text = hit.best.passage.text
    excerpt = quote(text, about=" ".join(union(akin(stems(query), stems(text)).values())), limit=EXCERPT_CHARS)
    return Fact(
        kind=FactKind.STATEMENT,
        text=f"{hit.name}: {excerpt}",
        title=hit.name,
        passage=hit.best,
        document=hit.best.passage.document_id,
    )
