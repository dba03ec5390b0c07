"""`rag_db_query`: search in the base, by words and by meaning.

In: a query. Out: the best passages as facts, and how much of the query they cover. The search itself is
`rag.retrieval`'s.
"""

from collections.abc import Sequence

from pydantic import Field

from rag.execution.facts import Fact, FactKind, FactsPayload
from rag.execution.tools import Tool, ToolArguments, ToolContext
from rag.planning.planner import SEARCH_TOOL
from rag.records import RankedPassage
from rag.retrieval.search import Retrieval
from rag.words import share, stems, union


class SearchArguments(ToolArguments):
    """What to look for."""

    query: str = Field(min_length=1)


class SearchBase(Tool[SearchArguments]):
    """Searches the person's base, all documents at once, and returns the passages that fit best, word for word with
    their documents. It is the way to any content of the base.

    - query: what the passage must be about, worded as the document would word it. Name the document in it when the
      person names one («договор аренды срок оплаты»).
    """

    name = SEARCH_TOOL
    arguments = SearchArguments

    def __init__(self, retrieval: Retrieval) -> None:
        self._retrieval = retrieval

    async def run(self, arguments: SearchArguments, context: ToolContext) -> FactsPayload:
        """Raises DatabaseAway."""
        found = await self._retrieval.find(context.base_id, arguments.query)
        return passages_payload(found, asked=arguments.query)


def passages_payload(found: Sequence[RankedPassage], *, asked: str) -> FactsPayload:
    """Passages as facts. What is covered is the share of the query's words that they hold, titles included."""
    facts = tuple(
        Fact(
            kind=FactKind.PASSAGE,
            text=each.passage.text,
            title=each.passage.title,
            passage=each,
            document=each.passage.document_id,
        )
        for each in found
    )
    held = union(stems(f"{fact.title}\n{fact.text}") for fact in facts)
    return FactsPayload(facts=facts, coverage=share(stems(asked), held))
